"""TensorFlow names in sources: through imports, aliases and scopes."""

import ast
import textwrap

import pytest

from dynrnn.runner.names import read_names


def uses(source, public=lambda module: ()):
    """`line name` of every use that is not an import; several names are joined by a bar."""
    found = read_names(ast.parse(textwrap.dedent(source)), public).uses
    return [f"{use.line} {'|'.join(name.removeprefix('tensorflow.') for name in use.names)}" for use in found]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import tensorflow as tf\ntf.nn.softmax(1)", "2 nn.softmax"),
        ("import tensorflow\ntensorflow.nn.softmax(1)", "2 nn.softmax"),
        ("import tensorflow.contrib.rnn\ntensorflow.contrib.rnn.GRUCell(1)", "2 contrib.rnn.GRUCell"),
        ("import tensorflow.contrib.rnn as r\nr.GRUCell(1)", "2 contrib.rnn.GRUCell"),
        ("from tensorflow.contrib import rnn\nrnn.GRUCell(1)", "2 contrib.rnn.GRUCell"),
        ("from tensorflow.contrib import rnn as r\nr.GRUCell(1)", "2 contrib.rnn.GRUCell"),
        ("from tensorflow.python.ops import rnn_cell\nrnn_cell.GRUCell(1)", "2 python.ops.rnn_cell.GRUCell"),
        ("import tensorflow as tf\ncell = tf.nn.rnn_cell\ncell.GRUCell(1)", "3 nn.rnn_cell.GRUCell"),
        ("import tensorflow as tf\nnn = tf.nn\nc = nn.rnn_cell\nc.GRUCell", "4 nn.rnn_cell.GRUCell"),
        ("import tensorflow as tf\ntf.nn.softmax(tf.zeros(3)).shape.ndims", "2 zeros"),
        ("import tensorflow as tf\nclass Cell(tf.nn.rnn_cell.RNNCell):\n    pass", "2 nn.rnn_cell.RNNCell"),
        ("import tensorflow as tf\n@tf.function\ndef f(x=tf.int32): pass", "3 int32"),
        ("import tensorflow as tf\ndef f():\n    return tf.zeros(3)", "3 zeros"),
        ("import tensorflow as tf\nf = lambda x: tf.square(x)", "2 square"),
        ("import tensorflow as tf\n[tf.square(x) for x in y]", "2 square"),
        ("def f():\n    import tensorflow as tf\n    tf.zeros(3)", "3 zeros"),
        ("def f():\n    tf.zeros(3)\nimport tensorflow as tf", "2 zeros"),
        ("import tensorflow as tf\nx: tf.Tensor = 1", "2 Tensor"),
        ("import tensorflow as tf\nwith tf.Session() as s:\n    s.run(1)", "2 Session"),
        ("class A:\n    import tensorflow as tf\n    x = tf.zeros(1)", "3 zeros"),
    ],
)
def test_names_are_followed_from_their_import(source, expected):
    assert expected in uses(source)


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf\ndef f(tf):\n    return tf.other",
        "import tensorflow as tf\ndef f():\n    tf = object()\n    return tf.other",
        "import tensorflow as tf\ndef f():\n    for tf in []:\n        tf.other",
        "import tensorflow as tf\n[tf.other for tf in []]",
        "import tensorflow as tf\nf = lambda tf: tf.other",
        "import tensorflow as tf\ntf.other = 3",
        "import tensorflow as tf\ndef tf(): pass\ntf.other",
        "from model import tf\ntf.other",
        "from .tensorflow import other\nother.other",
        "class A:\n    import tensorflow as tf\n    def f(self):\n        tf.other",
        "import tensorflow as tf\n'tf.other'",
    ],
)
def test_a_name_that_is_something_else_is_left_alone(source):
    assert not [use for use in uses(source) if "other" in use]


def test_an_import_is_a_use_of_what_it_names():
    source = """
        import tensorflow as tf, numpy
        import tensorflow.contrib.rnn
        from tensorflow.nn import softmax, relu as r
        from tensorflow.python.ops import *
    """
    assert uses(source) == [
        "2 tensorflow", "3 contrib.rnn", "4 nn.relu", "4 nn.softmax", "5 python.ops",
    ]  # fmt: skip


def test_a_star_import_brings_the_names_of_the_module():
    public = {"tensorflow.contrib": ["rnn"]}.__getitem__
    assert "2 contrib.rnn.GRUCell" in uses("from tensorflow.contrib import *\nrnn.GRUCell, seq2seq.x", public)


def test_a_name_with_several_imports_may_be_any_of_them():
    source = """
        try:
            from tensorflow.contrib import rnn
        except ImportError:
            rnn = None
        if not rnn:
            from tensorflow.nn import rnn_cell as rnn
        rnn.GRUCell
    """
    assert "8 contrib.rnn.GRUCell|nn.rnn_cell.GRUCell" in uses(source)


@pytest.mark.parametrize(
    ("handler", "guarded"),
    [
        ("except ImportError", True),
        ("except (KeyError, AttributeError)", True),
        ("except", True),
        ("except Exception", True),
        ("except KeyError", False),
        ("except ImportError as e:\n    raise\nexcept KeyError", False),
    ],
)
def test_what_a_program_tries_is_guarded(handler, guarded):
    tree = ast.parse(f"import tensorflow as tf\ntry:\n    tf.other\n{handler}:\n    tf.zeros")
    assert {use.names[0].rpartition(".")[2]: use.guarded for use in read_names(tree).uses} == {
        "tensorflow": False, "other": guarded, "zeros": False,
    }  # fmt: skip


def test_global_names_are_those_of_the_module():
    source = "import tensorflow as tf\ndef f():\n    global tf\n    tf = 3\ndef g():\n    tf.zeros"
    assert "6 zeros" in uses(source)


def test_imports_of_other_modules_are_told():
    source = "import model, os.path as p\nfrom utils.data import load\nfrom . import near\nfrom ..far import x"
    assert read_names(ast.parse(source)).imports == [
        (0, "model", ()), (0, "os.path", ()), (0, "utils.data", ("load",)), (1, "", ("near",)), (2, "far", ("x",)),
    ]  # fmt: skip
