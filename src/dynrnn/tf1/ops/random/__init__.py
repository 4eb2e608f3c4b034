"""Random operations, and where their numbers come from."""
