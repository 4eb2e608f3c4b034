"""Arithmetic: elementwise functions, comparisons, products of matrices, casts; and the operators of tensors."""

from __future__ import annotations

import torch

from ...graph import rules
from ...graph.op import ANY, FLOATS, INEXACT, NUMBERS, REALS, Op
from .declare import binary, unary

# public name: (op type, torch function, dtypes, differentiable)
UNARY = {
    "tanh": ("Tanh", torch.tanh, INEXACT),
    "sigmoid": ("Sigmoid", torch.sigmoid, INEXACT),
    "exp": ("Exp", torch.exp, INEXACT),
    "negative": ("Neg", torch.neg, NUMBERS),
}
BINARY = {
    "add": ("Add", torch.add, NUMBERS),
    "multiply": ("Mul", torch.mul, NUMBERS),
}
_A = [unary(Op(t, "x:T -> T", f, rules.same, {"T": k}), n, n) for n, (t, f, k) in UNARY.items()]
_B = [binary(Op(t, "x:T y:T -> T", f, rules.broadcast, {"T": k}), n, n) for n, (t, f, k) in BINARY.items()]
