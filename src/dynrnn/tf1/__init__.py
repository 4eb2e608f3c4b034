"""TensorFlow 1's API for recurrent networks, on PyTorch: `import dynrnn.tf1 as tf`.

Example:
    >>> import dynrnn.tf1 as tf
    >>> x = tf.placeholder(tf.float32, [None, 3, 2])
    >>> outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, sequence_length=[3, 1], dtype=tf.float32)
    >>> outputs.shape.as_list(), state.shape.as_list()
    ([None, 3, 4], [None, 4])
"""

import sys as _sys
from typing import Any

from . import api as _api

_names = _api.build()
for _name in list(globals()):  # the modules that make the face up are not names of the face
    if not _name.startswith("_") and _name != "Any":
        del globals()[_name]
globals().update(_names)
__version__: str = _names["__version__"]
_names["compat"].v1 = _sys.modules[__name__]  # `tf.compat.v1.placeholder` is `tf.placeholder`


def __getattr__(name: str) -> Any:
    raise AttributeError(_api.missing("tensorflow", name, globals()))
