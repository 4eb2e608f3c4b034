import pytest

from dynrnn.runner import check
from dynrnn.runner.check import alternatives, find, lines


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def names(rows):
    return sorted(name.removeprefix("tensorflow.") for name in rows)


PROGRAM = """
import tensorflow as tf
from tensorflow.python.ops import rnn_cell
import model

cell = rnn_cell.GRUCell(8)
outputs, _ = tf.nn.dynamic_rnn(cell, model.inputs, dtype=tf.float32)
tf.nn.dynamic_rn(cell)
tf.pack([1, 2])
"""


def test_a_program_is_read_with_the_modules_that_it_imports(write):
    write("program.py", PROGRAM)
    write("model.py", "import tensorflow as tf\nimport parts.layers\ninputs = tf.zeros([1])")
    write("parts/__init__.py", "from . import near\n")
    write("parts/layers.py", "from tensorflow.nn import relu\nfrom .far import *\n")
    write("parts/near.py", "import tensorflow as tf\ntf.ones([1])")
    write("parts/far.py", "import tensorflow as tf\ntf.nothing_like_it([1])")
    write("unused.py", "import tensorflow as tf\ntf.unused")
    report = check.check("program.py")
    assert report.files == [
        "program.py", "model.py", "parts/__init__.py", "parts/layers.py", "parts/near.py", "parts/far.py",
    ]  # fmt: skip
    assert names(report.supported) == [
        "float32", "nn.dynamic_rnn", "nn.relu", "ones", "pack", "python.ops.rnn_cell.GRUCell", "zeros",
    ]  # fmt: skip
    assert report.missing == {
        "tensorflow.nn.dynamic_rn": [("program.py", 8)],
        "tensorflow.nothing_like_it": [("parts/far.py", 2)],
    }
    assert report.status == 1


def test_the_report_names_lines_and_alternatives(write):
    write("program.py", PROGRAM)
    found = list(lines(check.check("program.py")))
    start, _, second = found[9].partition(", ")
    assert [*found[:9], start, *found[10:]] == [  # the second of the closest names changes as names are added
        "supported:",
        "  tf.float32                      program.py:7",
        "  tf.nn.dynamic_rnn               program.py:7",
        "  tf.python.ops.rnn_cell.GRUCell  program.py:6",
        "",
        "supported under an old spelling:",
        "  tf.pack  program.py:9  now tf.stack",
        "",
        "missing:",
        "  tf.nn.dynamic_rn  program.py:8  closest: tf.nn.dynamic_rnn",
        "",
        "5 TensorFlow names in 1 file: 4 supported, 1 missing",
    ]
    assert second.startswith("tf.nn.")


def test_many_places_are_cut_short(write):
    write("program.py", "import tensorflow as tf\n" + "tf.zeros(1)\n" * 6)
    assert list(lines(check.check("program.py")))[1:] == [
        "  tf.zeros  program.py:2, 3, 4, 5, ...",
        "",
        "1 TensorFlow name in 1 file: 1 supported, 0 missing",
    ]


def test_all_there_is_status_0_and_missing_is_1(write, capsys):
    write("good.py", "import tensorflow as tf\ntf.zeros(1)")
    write("bad.py", "import tensorflow as tf\ntf.zeroes(1)")
    assert (check.check_program("good.py"), check.check_program("bad.py")) == (0, 1)
    assert check.check_program("good.py", ["bad.py"]) == 1
    assert capsys.readouterr().out.count("closest: tf.zeros") == 2


def test_a_file_that_cannot_be_read_is_status_2(write, capsys):
    write("program.py", "import tensorflow as tf\nimport broken\ntf.zeros(1)")
    write("broken.py", "this is (no Python")
    assert check.check_program("program.py") == check.check_program("nowhere.py") == 2
    out, err = capsys.readouterr()
    assert "1 TensorFlow name in 1 file" in out
    assert "cannot read 'broken.py': neither Python 3 nor Python 2" in err
    assert "cannot read 'nowhere.py': No such file" in err


def test_python_2_is_read_with_its_own_lines(write):
    write("program.py", "import tensorflow as tf\nprint 'a'\n\nfor k, v in {}.iteritems():\n    print tf.zeroes\n")
    assert check.check("program.py").missing == {"tensorflow.zeroes": [("program.py", 5)]}


def test_what_a_program_can_do_without_is_not_missing(write):
    write("program.py", "try:\n    from tensorflow.contrib import nothing\nexcept ImportError:\n    nothing = None\n")
    report = check.check("program.py")
    assert (names(report.guarded), report.missing, report.status) == (["contrib.nothing"], {}, 0)
    assert "missing, but the program tries it and can do without:" in list(lines(report))


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("tensorflow", "tensorflow"),
        ("tensorflow.nn.rnn_cell.LSTMCell", "tensorflow.nn.rnn_cell.LSTMCell"),
        ("tensorflow.python.ops.rnn.dynamic_rnn", "tensorflow.python.ops.rnn.dynamic_rnn"),
        ("tensorflow.newaxis", "tensorflow.newaxis"),
        ("tensorflow.float32.as_numpy_dtype", "tensorflow.float32"),
        ("tensorflow.GraphKeys.TRAINABLE_VARIABLES", "tensorflow.GraphKeys.TRAINABLE_VARIABLES"),
        ("tensorflow.GraphKeys.NOTHING", None),
        ("tensorflow.nothing.at_all", None),
        ("tensorflow.contrib.nothing", None),
    ],
)
def test_find_tells_what_is_there(path, found):
    assert getattr(find(path), "name", None) == found


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("tensorflow.nn.rnn_cell.LSTMCel", "tensorflow.nn.rnn_cell.LSTMCell"),
        ("tensorflow.contrib.nothing.softmax", "tensorflow.nn.softmax"),
        ("tensorflow.GraphKeys.TRAINABLE_VARIABELS", "tensorflow.GraphKeys.TRAINABLE_VARIABLES"),
    ],
)
def test_alternatives_are_the_same_word_elsewhere_or_words_alike(path, nearest):
    assert nearest in alternatives(path)


def test_nothing_is_run(write, tmp_path):
    write("program.py", "import tensorflow as tf\nopen('ran', 'w')\ntf.zeros(1)")
    check.check("program.py")
    assert not (tmp_path / "ran").exists()
