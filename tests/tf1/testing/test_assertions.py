import collections

import numpy as np
import pytest

import dynrnn.tf1 as tf

NAN = float("nan")
Pair = collections.namedtuple("Pair", ["a", "b"])


@pytest.fixture
def case():
    case = tf.test.TestCase()
    case.setUp()
    yield case
    case.tearDown()
    case.doCleanups()


def const(value):
    return tf.constant(value)


# assertion, arguments that pass (made when the graph is there)
PASSING = {
    "equal tensor": ("assertAllEqual", lambda: (const([1, 2]), [1, 2])),
    "equal numbers": ("assertAllEqual", lambda: (3, 3)),
    "equal empty": ("assertAllEqual", lambda: ([], [])),
    "equal bools": ("assertAllEqual", lambda: ([True], [1])),
    "equal nan": ("assertAllEqual", lambda: ([NAN, 1.0], [NAN, 1.0])),
    "equal text": ("assertAllEqual", lambda: (const(["a", "b"]), ["a", "b"])),
    "equal bytes": ("assertAllEqual", lambda: (const("a"), b"a")),
    "equal list of tensors": ("assertAllEqual", lambda: ([const(1), const(2)], [1, 2])),
    "not equal": ("assertNotAllEqual", lambda: (const([1, 2]), [1, 3])),
    "not equal shapes": ("assertNotAllEqual", lambda: ([1], [1, 1])),
    "close": ("assertAllClose", lambda: (const([1.0, NAN]), [1.000001, NAN])),
    "close in nests": (
        "assertAllClose",
        lambda: ({"a": const(1.0), "b": [1.0, const([2.0, 3.0])]}, {"a": 1.0, "b": [1.0, [2.0, 3.0]]}),
    ),
    "close in tuples": ("assertAllClose", lambda: ((const(1.0), [const(2.0)]), (1.0, [2.0]))),
    "close in namedtuples": ("assertAllClose", lambda: (Pair(const(1.0), [1.0, 2.0]), Pair(1.0, [1.0, 2.0]))),
    "close to infinity": ("assertAllClose", lambda: ([float("inf")], [float("inf")])),
    "close halves": ("assertAllCloseAccordingToType", lambda: (np.float16([1]), np.float16([1.002]))),
    "close bfloat16": ("assertAllCloseAccordingToType", lambda: (tf.cast([1.0], tf.bfloat16), [1.0078125])),
    "not close": ("assertNotAllClose", lambda: (const([1.0]), [1.1])),
    "greater": ("assertAllGreater", lambda: (const([1.0, 2.0]), 0)),
    "greater equal": ("assertAllGreaterEqual", lambda: (const([1.0, 2.0]), 1)),
    "less": ("assertAllLess", lambda: (const([1.0, 2.0]), 3)),
    "less equal": ("assertAllLessEqual", lambda: (const([1.0, 2.0]), 2)),
    "in range": ("assertAllInRange", lambda: (const([1.0, 2.0]), 1, 2)),
    "in open range": ("assertAllInRange", lambda: (const([1.0, 2.0]), 0, 3, True, True)),
    "in set": ("assertAllInSet", lambda: ([1, 2], {1, 2, 3})),
    "near": ("assertNear", lambda: (1.0, 1.005, 0.01)),
    "arrays near": ("assertArrayNear", lambda: ([1.0, 2.0], [1.005, 2.0], 0.01)),
    "arrays near by norm": ("assertNDArrayNear", lambda: (np.array([1.0]), np.array([1.005]), 0.01)),
    "shape": ("assertShapeEqual", lambda: (np.zeros((2, 3)), tf.zeros([2, 3]))),
    "dtype": ("assertDTypeEqual", lambda: (const(1.0), np.float32)),
    "tensorflow dtype": ("assertDTypeEqual", lambda: (const(1), tf.int32)),
    "device": ("assertDeviceEqual", lambda: (None, "")),
    "starts": ("assertStartsWith", lambda: ("abc", "ab")),
    "ends": ("assertEndsWith", lambda: ("abc", "bc")),
    "items": ("assertItemsEqual", lambda: ([1, 2, 2], [2, 1, 2])),
    "elements": ("assertSameElements", lambda: ([1, 2, 2], [2, 1])),
    "length": ("assertLen", lambda: ("ab", 2)),
    "empty": ("assertEmpty", lambda: ([],)),
    "not empty": ("assertNotEmpty", lambda: ([1],)),
    "between": ("assertBetween", lambda: (1, 1, 2)),
}

# assertion, arguments that fail, what the failure says
FAILING = {
    "equal": ("assertAllEqual", lambda: (const([[1, 2]]), [[1, 3]]), r"Arrays are not equal, at:\n  \[0, 1\]: 2 3"),
    "equal shapes": ("assertAllEqual", lambda: ([1, 2], [[1, 2]]), r"Shape mismatch: expected \(2,\), got \(1, 2\)"),
    "equal text": ("assertAllEqual", lambda: (const(["a"]), ["b"]), r"\[0\]: b'a' b'b'"),
    "equal of many": ("assertAllEqual", lambda: (np.zeros(15), np.ones(15)), "and 5 more"),
    "not equal": ("assertNotAllEqual", lambda: ([1], [1]), "equal at all elements"),
    "close": ("assertAllClose", lambda: ([1.0], [1.00001]), r"Not equal to tolerance .*:\n  \[0\]: 1.0 1.00001"),
    "close halves": ("assertAllClose", lambda: (np.float16(1), np.float16(1.002)), "Not equal to tolerance"),
    "close keys": ("assertAllClose", lambda: ({"a": 1}, {"b": 1}), r"mismatched keys: \['a'\] and \['b'\]"),
    "close mapping": ("assertAllClose", lambda: ({"a": 1}, [1]), "mismatched keys: .* no mapping but list"),
    "close shapes": ("assertAllClose", lambda: ([1, 2], [1, 2, 3]), "Shape mismatch"),
    "close lengths": ("assertAllClose", lambda: ([1, [2, 3]], [1, [2, 3], 4]), "mismatched lengths: 2 and 3"),
    "close in nests": ("assertAllClose", lambda: ({"a": [1, [2.0, 3.0]]}, {"a": [1, [2.0, 4.0]]}), r"at \['a'\]\[1\]"),
    "close floats": ("assertAllCloseAccordingToType", lambda: (np.float32([1]), [1.000005]), "tolerance"),
    "not close": ("assertNotAllClose", lambda: ([1.0], [1.0]), "close at all elements"),
    "greater": ("assertAllGreater", lambda: (const([1.0, 2.0]), 1), r"1 of the 2 .* not greater than 1:\n  \[0\]: 1.0"),
    "greater equal": ("assertAllGreaterEqual", lambda: ([0], 1), "less than 1"),
    "less": ("assertAllLess", lambda: ([1], 1), "not less than 1"),
    "less than nan": ("assertAllLess", lambda: ([NAN], 1), "not less than 1"),
    "less equal": ("assertAllLessEqual", lambda: ([2], 1), "greater than 1"),
    "in range": (
        "assertAllInRange",
        lambda: ([1.0, 2.0], 1, 2, False, True),
        r"outside the range \[1, 2\).*\n  \[1\]: 2.0",
    ),
    "in range of nan": ("assertAllInRange", lambda: ([NAN], 1, 2), "outside"),
    "in set": ("assertAllInSet", lambda: ([1, 5], {1, 2, 3}), "not in the set"),
    "near": ("assertNear", lambda: (1.0, 1.1, 0.01), r"1.0 != 1.1 \+/- 0.01"),
    "arrays near": ("assertArrayNear", lambda: ([1.0], [1.1], 0.01), "difference"),
    "arrays near lengths": ("assertArrayNear", lambda: ([1.0], [1.1, 2], 0.01), "1 != 2"),
    "arrays near by norm": ("assertNDArrayNear", lambda: ([1.0], [1.1], 0.01), "the norm"),
    "shape": ("assertShapeEqual", lambda: (np.zeros((2, 3)), tf.zeros([2, 4])), "Tuples differ"),
    "shape unknown": ("assertShapeEqual", lambda: (np.zeros(2), tf.placeholder("float", [None])), "Tuples differ"),
    "dtype": ("assertDTypeEqual", lambda: (const(1.0), tf.int32), "float32"),
    "device": ("assertDeviceEqual", lambda: ("/cpu:0", "/cpu:1"), "cpu"),
    "starts": ("assertStartsWith", lambda: ("abc", "b"), "'abc' does not start with 'b'"),
    "ends": ("assertEndsWith", lambda: ("abc", "b"), "'abc' does not end with 'b'"),
    "items": ("assertItemsEqual", lambda: ([1, 2], [2, 1, 2]), "counts"),
    "elements": ("assertSameElements", lambda: ([1], [2]), "in the first set"),
    "length": ("assertLen", lambda: ("ab", 3), "has length of 2, expected 3"),
    "empty": ("assertEmpty", lambda: ([1],), "expected 0"),
    "not empty": ("assertNotEmpty", lambda: ([],), "length of 0"),
    "between": ("assertBetween", lambda: (3, 1, 2), "3 unexpectedly not between 1 and 2"),
}


@pytest.mark.parametrize("name", PASSING)
def test_assertion_holds(case, name):
    assertion, arguments = PASSING[name]
    getattr(case, assertion)(*arguments())


@pytest.mark.parametrize("name", FAILING)
def test_assertion_fails_and_says_why(case, name):
    assertion, arguments, text = FAILING[name]
    with pytest.raises(AssertionError, match=f"(?s){text}"):
        getattr(case, assertion)(*arguments())


def test_failures_say_what_the_test_says(case):
    with pytest.raises(AssertionError, match="the reason"):
        case.assertAllEqual([1], [2], msg="the reason")
    with pytest.raises(AssertionError, match="the reason"):
        case.assertAllClose([1], [2], msg="the reason")


def test_shapes_are_of_an_array_and_a_tensor(case):
    with pytest.raises(TypeError, match="tf_tensor must be a Tensor, got int"):
        case.assertShapeEqual(np.zeros(2), 3)
    with pytest.raises(TypeError, match="np_array must be a Numpy ndarray"):
        case.assertShapeEqual([1], tf.zeros([1]))
