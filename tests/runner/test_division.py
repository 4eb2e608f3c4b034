import numpy as np
import pytest

from dynrnn.runner.division import divide, divide_in_place
from dynrnn.runner.python2 import BUILTINS, compile_python2


class OldNumber:
    """Has Python 2's division only, and an in-place one that shows."""

    def __div__(self, other):
        return "div", other

    def __rdiv__(self, other):
        return "rdiv", other


class OldTensor(OldNumber):
    def __truediv__(self, other):
        return "truediv", other

    def __idiv__(self, other):
        return "idiv", other


class Undecided:
    def __div__(self, other):
        return NotImplemented

    def __truediv__(self, other):
        return "truediv"


def execute(source, **names):
    """Run a Python 2 module; the last line makes sure that it is not Python 3."""
    names = {"__builtins__": BUILTINS, "__name__": "module", **names}
    exec(compile_python2(source + "\nprint `0`", "module.py"), names)
    return names


@pytest.mark.parametrize("function", [divide, divide_in_place])
@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (7, 2, 3),
        (-7, 2, -4),
        (True, 2, 0),
        (7.0, 2, 3.5),
        (7, 2.0, 3.5),
        (7j, 2, 3.5j),
        (np.int64(7), 2, 3),
        (7, np.uint8(2), 3),
        (np.float32(7), 2, 3.5),
        (np.bool_(True), 2, 0),
    ],
)
def test_scalars(function, left, right, expected):
    result = function(left, right)
    assert result == expected
    assert isinstance(result, (float, complex, np.floating)) == isinstance(expected, (float, complex))


def test_arrays_of_integers_give_the_floor():
    whole = np.array([7, -7])
    np.testing.assert_array_equal(divide(whole, 2), [3, -4])
    np.testing.assert_array_equal(divide(20, whole), [2, -3])
    np.testing.assert_array_equal(divide(whole, 2.0), [3.5, -3.5])
    np.testing.assert_array_equal(divide(whole.astype("f4"), whole), [1, 1])
    assert divide(whole, np.array([2, 2])).dtype == whole.dtype


def test_arrays_are_divided_in_place():
    for start, expected in ([7, 8], [3, 4]), ([7.0, 8.0], [3.5, 4.0]):
        array = np.array(start)
        assert divide_in_place(array, 2) is array
        np.testing.assert_array_equal(array, expected)


def test_classes_of_python2_are_asked_first():
    assert divide(OldTensor(), 2) == ("div", 2)
    assert divide(2, OldTensor()) == ("rdiv", 2)
    assert divide_in_place(OldTensor(), 2) == ("idiv", 2)
    assert divide_in_place(OldNumber(), 2) == ("div", 2)
    assert divide_in_place(2, OldNumber()) == ("rdiv", 2)
    assert divide(Undecided(), 2) == "truediv"


def test_every_division_of_a_module_is_python2s():
    names = execute("a = 7 / 2 / 2.0\ndef f(x, y=9 / 4): return [n / y for n in x]\nb = f([5])\nc = (lambda: -7 / 2)()")
    assert (names["a"], names["b"], names["c"]) == (1.5, [2], -4)


def test_true_division_of_the_future():
    assert execute("from __future__ import division\na = 7 / 2\na /= 2")["a"] == 1.75


def test_division_in_place_of_every_target():
    names = execute(
        "class A(object):\n"
        "    whole = 9\n"
        "    def __init__(self):\n"
        "        self.__hidden = 9\n"
        "    def halve(self):\n"
        "        self.__hidden /= 2\n"
        "        self.whole /= 2\n"
        "        return self.__hidden, self.whole\n"
        "halves = A().halve()\n"
        "d = {'k': 7}\nd['k'] /= 2\n"
        "x = 7\ndef f():\n    global x\n    x /= 2\nf()\n"
        "m[0] /= 2\nm[1:, 0] /= 2\nm[..., 1] /= 3\n",
        m=np.full([3, 2], 7),
    )
    assert names["halves"] == (4, 4)
    assert (names["d"], names["x"]) == ({"k": 3}, 3)
    np.testing.assert_array_equal(names["m"], [[3, 1], [3, 2], [3, 2]])


def test_operands_are_evaluated_once_and_in_order():
    calls = []

    def note(name, value):
        calls.append(name)
        return value

    row = [8]
    execute("note('row', row)[note('key', 0)] /= note('value', 2)", note=note, row=row)
    assert (row, calls) == ([4], ["row", "key", "value"])
