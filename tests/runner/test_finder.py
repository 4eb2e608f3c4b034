import importlib
import re
import sys
from types import ModuleType

import pytest

import dynrnn
from dynrnn.runner import finder, modules


def namespace(name, **names):
    module = ModuleType(name)
    vars(module).update(names)
    return module


@pytest.fixture
def face(monkeypatch):
    """A small stand-in for the TF1 face, behind the finder."""
    cells = namespace("tensorflow.nn.rnn_cell", LSTMCell="an LSTM", _linear="linear")
    nn = namespace("tensorflow.nn", rnn_cell=cells, dynamic_rnn="the loop")
    rnn = namespace("tensorflow.contrib.rnn", MultiRNNCell="layers")
    top = namespace("dynrnn.tf1", __version__="1.15.0", nn=nn, concat="concat", session=namespace("dynrnn.tf1.session"))
    top.__path__ = ["nowhere"]
    top.contrib = namespace("tensorflow.contrib", rnn=rnn)
    monkeypatch.setitem(sys.modules, "dynrnn.tf1", top)
    monkeypatch.setattr(dynrnn, "tf1", top, raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorflow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    modules.known_paths.cache_clear()
    finder.install_face()
    yield top
    modules.known_paths.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorflow"]:
        del sys.modules[name]


def test_tensorflow_is_the_face(face):
    import tensorflow as tf
    import tensorflow.compat.v1 as v1

    assert tf is face and v1 is face
    assert face.__name__ == "dynrnn.tf1" and face.__path__ == ["nowhere"]


def test_namespaces_are_the_faces_own(face):
    import tensorflow.contrib.rnn
    from tensorflow.contrib import rnn
    from tensorflow.nn import rnn_cell

    assert tensorflow.contrib.rnn is rnn is face.contrib.rnn
    assert rnn_cell is face.nn.rnn_cell


def test_paths_into_the_inside(face):
    from tensorflow.contrib.rnn.python.ops import core_rnn_cell
    from tensorflow.contrib.rnn.python.ops.core_rnn_cell import MultiRNNCell, _linear
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import array_ops, rnn_cell_impl
    from tensorflow.python.ops.rnn import dynamic_rnn

    assert dynamic_rnn == "the loop" and array_ops.concat == "concat" and ops.concat == "concat"
    assert (MultiRNNCell, _linear, core_rnn_cell.LSTMCell) == ("layers", "linear", "an LSTM")
    assert rnn_cell_impl._linear == "linear"


def test_inside_does_not_change_the_face(face):
    before = {name: value for name, value in vars(face).items() if not name.startswith("__")}
    importlib.import_module("tensorflow.python.framework.ops")
    importlib.import_module("tensorflow.python.ops.nn")
    after = {name: value for name, value in vars(face).items() if not name.startswith("__")}
    assert after.pop("python").__name__ == "tensorflow.python"
    assert after == before


def test_star_import_of_an_inside_module(face):
    names = {}
    exec("from tensorflow.python.ops.rnn_cell import *", names)
    assert names["LSTMCell"] == "an LSTM" and "_linear" not in names


@pytest.mark.parametrize(
    ("statement", "wrong", "right"),
    [
        ("import tensorflow.contrib.rn", "tensorflow.contrib.rn", "tensorflow.contrib.rnn"),
        ("from tensorflow.contrib import rn", "tensorflow.contrib.rn", "tensorflow.contrib.rnn"),
        (
            "from tensorflow.nn.rnn_cell import LSTMCel",
            "tensorflow.nn.rnn_cell.LSTMCel",
            "tensorflow.nn.rnn_cell.LSTMCell",
        ),
        ("from tensorflow.python.ops.rnn import loop", "tensorflow.python.ops.rnn.loop", "tensorflow.python.ops.rnn"),
    ],
)
def test_missing_path_names_the_nearest(face, statement, wrong, right):
    with pytest.raises(ModuleNotFoundError, match=re.escape(f"{wrong!r}; the closest are {right}")):
        exec(statement)


def test_row_whose_target_is_missing_is_not_there(face):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("tensorflow.contrib.seq2seq")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("tensorflow.contrib.seq2seq.python.ops")


def test_modules_that_make_the_face_up_are_not_importable(face):
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("tensorflow.session")


def test_missing_name_of_the_inside_names_the_nearest(face):
    from tensorflow.python.ops import rnn

    with pytest.raises(
        AttributeError, match=r"'tensorflow\.python\.ops\.rnn' has no attribute 'dynamic_rn'.*dynamic_rnn"
    ):
        _ = rnn.dynamic_rn


def test_other_names_are_left_alone(face):
    assert finder.FaceFinder().find_spec("tensorflow_hub", None) is None
    assert finder.FaceFinder().find_spec("numpy", None) is None
