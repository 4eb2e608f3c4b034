"""Control flow of the TF1 face: branches, loops, arrays of tensors, and the functions that are built on them."""
