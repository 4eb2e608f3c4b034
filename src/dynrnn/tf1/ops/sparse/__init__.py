"""What is computed with sparse tensors: to and from dense ones, rearranged, reduced, looked up."""
