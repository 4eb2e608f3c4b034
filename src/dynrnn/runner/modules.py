"""Where TensorFlow's import paths lead: the table of paths, and the modules that stand for them.

A path whose names the face has not got is not there. What the names do is in `dynrnn.tf1`; the import system's side is
in `finder`.
"""

import functools
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from dynrnn.errors import nearest

_PLACES = (
    "app", "app.flags", "bitwise", "compat", "contrib", "contrib.crf", "contrib.cudnn_rnn", "contrib.data",
    "contrib.distributions", "contrib.estimator", "contrib.framework", "contrib.layers", "contrib.learn",
    "contrib.legacy_seq2seq", "contrib.lookup", "contrib.losses", "contrib.metrics", "contrib.rnn",
    "contrib.seq2seq", "contrib.slim", "contrib.summary", "contrib.tensorboard", "contrib.tensorboard.plugins",
    "contrib.tensorboard.plugins.projector", "contrib.training", "data", "debugging", "distributions", "dtypes",
    "errors", "estimator", "examples", "examples.tutorials", "examples.tutorials.mnist",
    "examples.tutorials.mnist.input_data", "feature_column", "flags", "gfile", "graph_util", "image",
    "initializers", "io", "io.gfile", "keras", "layers", "linalg", "logging", "losses", "manip", "math", "metrics",
    "nest", "nn", "nn.rnn_cell", "python_io", "random", "resource_loader", "saved_model", "sets", "sparse",
    "spectral", "strings", "summary", "sysconfig", "test", "train", "user_ops", "version",
)  # fmt: skip

# Import paths of the face's own namespaces, by their dotted place in the face ("" is its top).
NAMESPACES = {"tensorflow": "", "tensorflow.compat.v1": ""} | {f"tensorflow.{place}": place for place in _PLACES}

# Import paths into TensorFlow's inside, with the places in the face that hold the names of each, the likeliest first.
# `_inside` is for names that stand nowhere else.
INSIDE: dict[str, tuple[str, ...]] = {
    "tensorflow.contrib.framework.python.ops": ("contrib.framework",),
    "tensorflow.contrib.layers.python.layers": ("contrib.layers",),
    "tensorflow.contrib.layers.python.layers.initializers": ("contrib.layers",),
    "tensorflow.contrib.layers.python.layers.layers": ("contrib.layers",),
    "tensorflow.contrib.layers.python.layers.regularizers": ("contrib.layers",),
    "tensorflow.contrib.layers.python.layers.utils": ("contrib.layers.utils",),
    "tensorflow.contrib.legacy_seq2seq.python.ops.seq2seq": ("contrib.legacy_seq2seq",),
    "tensorflow.contrib.rnn.core_rnn_cell": ("contrib.rnn", "nn.rnn_cell"),
    "tensorflow.contrib.rnn.python.ops.core_rnn": ("contrib.rnn", "nn"),
    "tensorflow.contrib.rnn.python.ops.core_rnn_cell": ("contrib.rnn", "nn.rnn_cell"),
    "tensorflow.contrib.rnn.python.ops.core_rnn_cell_impl": ("contrib.rnn", "nn.rnn_cell"),
    "tensorflow.contrib.rnn.python.ops.fused_rnn_cell": ("contrib.rnn",),
    "tensorflow.contrib.rnn.python.ops.gru_ops": ("contrib.rnn",),
    "tensorflow.contrib.rnn.python.ops.lstm_ops": ("contrib.rnn",),
    "tensorflow.contrib.rnn.python.ops.rnn": ("contrib.rnn", "nn"),
    "tensorflow.contrib.rnn.python.ops.rnn_cell": ("contrib.rnn", "nn.rnn_cell"),
    "tensorflow.contrib.rnn.rnn_cell": ("contrib.rnn", "nn.rnn_cell"),
    "tensorflow.contrib.seq2seq.python.ops.attention_wrapper": ("contrib.seq2seq",),
    "tensorflow.contrib.seq2seq.python.ops.basic_decoder": ("contrib.seq2seq",),
    "tensorflow.contrib.seq2seq.python.ops.beam_search_decoder": ("contrib.seq2seq",),
    "tensorflow.contrib.seq2seq.python.ops.beam_search_ops": ("contrib.seq2seq",),
    "tensorflow.contrib.seq2seq.python.ops.decoder": ("contrib.seq2seq",),
    "tensorflow.contrib.seq2seq.python.ops.helper": ("contrib.seq2seq",),
    "tensorflow.contrib.seq2seq.python.ops.loss": ("contrib.seq2seq",),
    "tensorflow.core.framework.summary_pb2": ("",),
    "tensorflow.core.protobuf.config_pb2": ("", "_inside.config_pb2"),
    "tensorflow.core.protobuf.rewriter_config_pb2": ("_inside.rewriter_config_pb2",),
    "tensorflow.core.util.event_pb2": ("",),
    "tensorflow.models.rnn.rnn": ("nn",),
    "tensorflow.models.rnn.rnn_cell": ("nn.rnn_cell",),
    "tensorflow.python.client.device_lib": ("_inside.device_lib",),
    "tensorflow.python.client.session": ("",),
    "tensorflow.python.framework.constant_op": ("",),
    "tensorflow.python.framework.dtypes": ("", "dtypes"),
    "tensorflow.python.framework.errors": ("errors",),
    "tensorflow.python.framework.errors_impl": ("errors",),
    "tensorflow.python.framework.ops": ("",),
    "tensorflow.python.framework.random_seed": ("",),
    "tensorflow.python.framework.tensor_shape": ("",),
    "tensorflow.python.framework.tensor_util": ("",),
    "tensorflow.python.layers.base": ("layers",),
    "tensorflow.python.layers.convolutional": ("layers",),
    "tensorflow.python.layers.core": ("layers",),
    "tensorflow.python.layers.layers": ("layers",),
    "tensorflow.python.layers.normalization": ("layers",),
    "tensorflow.python.lib.io.file_io": ("_inside.file_io",),
    "tensorflow.python.ops.array_ops": ("",),
    "tensorflow.python.ops.check_ops": ("", "debugging"),
    "tensorflow.python.ops.clip_ops": ("",),
    "tensorflow.python.ops.control_flow_ops": ("",),
    "tensorflow.python.ops.ctc_ops": ("nn",),
    "tensorflow.python.ops.custom_gradient": ("",),
    "tensorflow.python.ops.embedding_ops": ("nn",),
    "tensorflow.python.ops.functional_ops": ("",),
    "tensorflow.python.ops.gen_array_ops": ("",),
    "tensorflow.python.ops.gen_math_ops": ("",),
    "tensorflow.python.ops.gen_nn_ops": ("nn", ""),
    "tensorflow.python.ops.gradient_checker": ("test",),
    "tensorflow.python.ops.gradients": ("",),
    "tensorflow.python.ops.gradients_impl": ("",),
    "tensorflow.python.ops.init_ops": ("", "initializers"),
    "tensorflow.python.ops.io_ops": ("",),
    "tensorflow.python.ops.linalg_ops": ("", "linalg"),
    "tensorflow.python.ops.logging_ops": ("",),
    "tensorflow.python.ops.losses.losses": ("losses",),
    "tensorflow.python.ops.math_ops": ("", "math"),
    "tensorflow.python.ops.nn": ("nn", ""),
    "tensorflow.python.ops.nn_impl": ("nn", ""),
    "tensorflow.python.ops.nn_ops": ("nn", ""),
    "tensorflow.python.ops.partitioned_variables": ("",),
    "tensorflow.python.ops.random_ops": ("",),
    "tensorflow.python.ops.rnn": ("nn",),
    "tensorflow.python.ops.rnn_cell": ("nn.rnn_cell", "contrib.rnn"),
    "tensorflow.python.ops.rnn_cell_impl": ("nn.rnn_cell", "contrib.rnn"),
    "tensorflow.python.ops.script_ops": ("",),
    "tensorflow.python.ops.seq2seq": ("contrib.legacy_seq2seq",),
    "tensorflow.python.ops.sparse_ops": ("", "sparse"),
    "tensorflow.python.ops.state_ops": ("",),
    "tensorflow.python.ops.string_ops": ("", "strings"),
    "tensorflow.python.ops.tensor_array_ops": ("",),
    "tensorflow.python.ops.variable_scope": ("",),
    "tensorflow.python.ops.variables": ("",),
    "tensorflow.python.platform.app": ("app",),
    "tensorflow.python.platform.flags": ("flags",),
    "tensorflow.python.platform.gfile": ("gfile",),
    "tensorflow.python.platform.googletest": ("test",),
    "tensorflow.python.platform.resource_loader": ("resource_loader",),
    "tensorflow.python.platform.test": ("test",),
    "tensorflow.python.platform.tf_logging": ("logging",),
    "tensorflow.python.summary.summary": ("summary",),
    "tensorflow.python.summary.summary_iterator": ("train",),
    "tensorflow.python.summary.writer.writer": ("summary",),
    "tensorflow.python.summary.writer.writer_cache": ("summary",),
    "tensorflow.python.training.adam": ("train",),
    "tensorflow.python.training.moving_averages": ("train",),
    "tensorflow.python.training.optimizer": ("train",),
    "tensorflow.python.training.saver": ("train",),
    "tensorflow.python.training.training": ("train",),
    "tensorflow.python.util.nest": ("contrib.framework.nest", "nest"),
}


class InsideModule(ModuleType):
    """A module of TensorFlow's inside: it has the names of some of the face's namespaces, or submodules only."""

    def __init__(self, name: str, namespaces: Sequence[ModuleType]):
        super().__init__(name, f"TensorFlow's path {name}: names of dynrnn.tf1.")
        self._namespaces = namespaces

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [public for public in dir(self) if not public.startswith("_")]
        if not name.startswith("__"):  # such a name asks about this module, not about the face's
            for namespace in self._namespaces:
                if hasattr(namespace, name):
                    return getattr(namespace, name)
            below = find_module(f"{self.__name__}.{name}")  # `tf.python.ops.rnn`, which no import has asked for
            if below is not None:
                return below
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{hint(nearest(name, dir(self)))}")

    def __dir__(self) -> list[str]:
        return sorted({name for namespace in self._namespaces for name in dir(namespace)})


def find_module(path: str) -> ModuleType | None:
    """Find the module that TensorFlow's import path stands for, None where the face has nothing for it.

    Example:
        >>> find_module("tensorflow.no_such_thing") is None
        True
    """
    if path in NAMESPACES and (own := _namespace(NAMESPACES[path])) is not None:
        return own
    namespaces = [found for place in INSIDE.get(path, ()) if (found := _namespace(place)) is not None]
    if namespaces or any(known.startswith(path + ".") for known in known_paths()):
        return InsideModule(path, namespaces)
    return None


@functools.cache
def known_paths() -> tuple[str, ...]:
    """All import paths that lead somewhere in the face as it is."""
    rows = [(path, (place,)) for path, place in NAMESPACES.items()] + list(INSIDE.items())
    return tuple(path for path, places in rows if any(_namespace(place) is not None for place in places))


def hint(names: Sequence[str]) -> str:
    """The end of an error text: the closest names, if there are any."""
    return f"; the closest are {', '.join(names)}" if names else ""


def _namespace(place: str) -> ModuleType | None:
    from dynrnn import tf1  # takes a second or two: only when a program asks for TensorFlow

    found: Any = tf1
    for name in filter(None, place.split(".")):
        found = getattr(found, name, None)
    return found if isinstance(found, ModuleType) else None
