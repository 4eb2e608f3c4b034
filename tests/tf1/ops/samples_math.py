"""Samples of the math tables."""

import numpy as np
from tf1.ops.samples import Sample

from dynrnn.tf1.export import NAMES as tf  # noqa: N811  (names as a program writes them)

X = np.array([[0.5, -1.25, 2.0], [0.1, 3.0, -0.7]])

SAMPLES = [
    Sample("Tanh", lambda x: tf["tanh"](x), (X,), np.tanh),
    Sample("Mul", lambda x, y: tf["multiply"](x, y), (X, X[0]), np.multiply),
]
