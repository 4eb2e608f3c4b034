"""Arithmetic: elementwise functions, products, reductions, comparisons, and the operators of tensors."""
