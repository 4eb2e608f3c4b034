"""`tf.version` and the constants that programs print about the TensorFlow they run on.

The face is TensorFlow 1.15's, and so are the numbers of graph formats.
"""

from __future__ import annotations

from ..export import export

VERSION = "1.15.0"

for _name, _value in {
    "GIT_VERSION": f"v{VERSION}",
    "COMPILER_VERSION": "none: dynrnn runs on PyTorch",
    "GRAPH_DEF_VERSION": 134,
    "GRAPH_DEF_VERSION_MIN_CONSUMER": 0,
    "GRAPH_DEF_VERSION_MIN_PRODUCER": 0,
}.items():
    export(_name, f"version.{_name}")(_value)
export("__version__", "VERSION", "version.VERSION")(VERSION)
