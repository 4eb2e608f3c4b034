"""The sample of constants, which every other operation is fed with."""

import numpy as np
from tf1.ops.samples import Sample

from dynrnn.tf1.ops.convert import constant

SAMPLES = [Sample("Const", lambda: constant([1.5, 2.0]), (), np.array([1.5, 2.0], np.float32))]
