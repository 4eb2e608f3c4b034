"""Python values as tensors: dtypes, shapes and refusals, with what TensorFlow makes of the same values."""

import numpy as np
import pytest
import torch

import dynrnn.tf1 as tf
from dynrnn.tf1.ops.convert import make_array


def run(tensor):
    with tf.Session() as sess:
        return sess.run(tensor)


# value: dtype, shape, what a run gives
CONSTANTS = [
    (1, "int32", [], 1),
    (1.5, "float32", [], 1.5),
    (True, "bool", [], True),
    (1j, "complex128", [], 1j),
    ("é", "string", [], "é".encode()),
    (b"\xff", "string", [], b"\xff"),
    ([1, 2.5], "float32", [2], [1, 2.5]),
    ([True, 1], "int32", [2], [1, 1]),
    ([True, 1.5], "float32", [2], [1, 1.5]),
    ([1, 2j], "complex128", [2], [1, 2j]),
    ([], "float32", [0], []),
    ([[]], "float32", [1, 0], [[]]),
    ([[["a"]]], "string", [1, 1, 1], [[[b"a"]]]),
    ([(1, 2), [3, 4]], "int32", [2, 2], [[1, 2], [3, 4]]),
    (2**31, "int64", [], 2**31),
    (-(2**31), "int32", [], -(2**31)),
    ([1, 2**40], "int64", [2], [1, 2**40]),
    (2**63, "uint64", [], 2**63),
    (1e39, "float32", [], np.inf),
    (np.float64(1), "float64", [], 1),
    (np.int64(3), "int64", [], 3),
    (np.float16(1), "float16", [], 1),
    ([np.float64(1)], "float32", [1], [1]),
    ([np.float64(1), 2.0], "float32", [2], [1, 2]),
    ([np.int64(1)], "int32", [1], [1]),
    ([np.int8(1)], "int8", [1], [1]),
    ([np.bool_(True)], "bool", [1], [True]),
    (np.zeros((2, 0)), "float64", [2, 0], [[], []]),
    (np.arange(3), "int64", [3], [0, 1, 2]),
    (np.array([1.5], ">f8"), "float64", [1], [1.5]),
    (np.array(["a", "bc"]), "string", [2], [b"a", b"bc"]),
    (np.array([b"a"]), "string", [1], [b"a"]),
    (torch.tensor([1.5]), "float32", [1], [1.5]),
    (range(3), "int32", [3], [0, 1, 2]),
    ([np.array([1.0, 2.0]), np.array([3.0, 4.0])], "float32", [2, 2], [[1, 2], [3, 4]]),
    (tf.TensorShape([2, 3]), "int32", [2], [2, 3]),
    ([tf.Dimension(2), 4], "int32", [2], [2, 4]),
]


@pytest.mark.parametrize(("value", "dtype", "shape", "expected"), CONSTANTS, ids=lambda item: repr(item)[:30])
def test_a_constant_has_the_dtype_and_shape_of_its_value(value, dtype, shape, expected):
    tensor = tf.constant(value)
    assert (tensor.dtype.name, tensor.shape.as_list(), tensor.op.type) == (dtype, shape, "Const")
    found = run(tensor)
    assert (found.tolist() if isinstance(found, (np.ndarray, np.generic)) else found) == expected


TYPED = [
    (1, "float32", 1.0),
    (True, "float32", 1.0),
    (True, "int32", 1),
    ([1, 2], "float64", [1, 2]),
    (300, "uint8", 44),
    (-1, "uint8", 255),
    ([2**40], "int32", [0]),
    (np.array([1.7]), "int32", [1]),
    (np.array([300]), "uint8", [44]),
    (np.float64(1.5), "int32", 1),
    (np.bool_(True), "int32", 1),
    (np.array([0, 2]), "bool", [False, True]),
    ([np.int64(3)], "float32", [3]),
    (1, "complex64", 1),
    (1.5, "bfloat16", 1.5),
    (70000.0, "float16", np.inf),
    (["a", b"b"], "string", [b"a", b"b"]),
    ([], "int32", []),
]


@pytest.mark.parametrize(("value", "dtype", "expected"), TYPED, ids=lambda item: repr(item)[:30])
def test_a_constant_takes_the_dtype_that_is_asked_for(value, dtype, expected):
    tensor = tf.constant(value, dtype)
    assert tensor.dtype.name == dtype and run(tensor).tolist() == expected


@pytest.mark.parametrize(
    ("value", "dtype", "item", "kind"),
    [
        (1.5, "int32", "1.5", "float"),
        (1, "bool", "1", "int"),
        ("a", "float32", "'a'", "str"),
        (1, "string", "1", "int"),
        ([1, 2.5], "int32", "2.5", "float"),
        (1j, "float32", "1j", "complex"),
        ([np.float64(3)], "int32", ".*3.0.*", "float64"),
        ([np.bool_(True)], "int32", ".*True.*", "bool"),
    ],
    ids=lambda item: repr(item)[:30],
)
def test_a_value_of_another_kind_is_refused_with_its_first_item(value, dtype, item, kind):
    with pytest.raises(TypeError, match=f"Expected {dtype}, got {item} of type '{kind}' instead"):
        tf.constant(value, dtype)


@pytest.mark.parametrize(
    "value", [["a", 1], [None], {1: 2}, {1, 2}, object(), [1.0, None], 2**64], ids=lambda item: repr(item)[:20]
)
def test_what_is_no_value_is_a_type_error(value):
    with pytest.raises(TypeError, match="Failed to convert object of type"):
        tf.constant(value)


@pytest.mark.parametrize(
    "value", [[[1], [2, 3]], (1, [2]), [[1, 2], 3], [[], [1]], [np.zeros(2), np.zeros(3)]], ids=repr
)
def test_ragged_lists_are_refused(value):
    with pytest.raises(ValueError, match="Argument must be a dense tensor"):
        tf.constant(value)


def test_none_tensors_and_objects_are_refused():
    with pytest.raises(ValueError, match="None values not supported"):
        tf.constant(None)
    with pytest.raises(TypeError, match="must not hold tensors"):
        tf.constant([tf.constant(1.0)])
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 1"):
        tf.constant(np.array([1, "a"], object))


@pytest.mark.parametrize(
    ("value", "shape", "expected"),
    [(1, [2, 2], [[1, 1], [1, 1]]), ([1, 2], [2, 2], [[1, 2], [2, 2]]), ([1, 2, 3, 4], [2, 2], [[1, 2], [3, 4]]),
     ([1], [], 1), ([], [2], [0, 0]), ([[1, 2], [3, 4]], [4], [1, 2, 3, 4]), (np.zeros((2, 3)), [3, 2], [[0, 0]] * 3)],
    ids=repr,
)  # fmt: skip
def test_a_shape_is_filled_with_the_last_item(value, shape, expected):
    assert run(tf.constant(value, shape=shape)).tolist() == expected


def test_a_shape_must_be_known_and_hold_the_value():
    with pytest.raises(ValueError, match=r"Too many elements provided. Needed at most 1, but received 2"):
        tf.constant([1, 2], shape=[])
    with pytest.raises(ValueError, match="must be fully known"):
        tf.constant(1, shape=[None])
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(1, 2\), got \(2,\)"):
        tf.constant([1, 2], shape=[1, 2], verify_shape=True)


def test_tensors_and_variables_convert_to_themselves():
    x, v = tf.constant(1.0), tf.Variable(2.0)
    assert tf.convert_to_tensor(x) is x and tf.convert_to_tensor(x, tf.float32) is x
    assert tf.convert_to_tensor(v) is v.value()
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32 for Tensor with dtype float32"):
        tf.convert_to_tensor(x, tf.int32)


def test_lists_with_tensors_are_stacked_under_tensorflows_names(fresh_graph):
    x = tf.constant(2.0, name="x")
    stacked = tf.convert_to_tensor([[x, 1], [np.float64(3), x]])
    assert stacked.shape.as_list() == [2, 2] and run(stacked).tolist() == [[2, 1], [3, 2]]
    names = [node.name for node in fresh_graph.nodes]
    assert names == ["x", "packed/0/1", "packed/0", "packed/1/0", "packed/1", "packed"]
    assert tf.convert_to_tensor((x, tf.Variable(1.0)), name="foo").name == "foo:0"


def test_lists_of_unlike_tensors_are_refused():
    x, i = tf.constant(2.0), tf.constant(3)
    for dtype in (None, tf.float32):
        with pytest.raises(
            TypeError, match="Cannot convert a list containing a tensor of dtype <dtype: 'int32'> to <dtype: 'float32'>"
        ):
            tf.convert_to_tensor([x, i], dtype)
    with pytest.raises(TypeError, match=r"Expected int32, got 1.5"):
        tf.convert_to_tensor([i, 1.5])
    with pytest.raises(ValueError, match="Shapes must be equal"):
        tf.convert_to_tensor([[x, x], [x]])
    with pytest.raises(ValueError, match="None values not supported"):
        tf.convert_to_tensor([x, None])


def test_a_preferred_dtype_is_taken_where_it_fits():
    assert tf.convert_to_tensor(1, preferred_dtype=tf.float32).dtype == tf.float32
    assert tf.convert_to_tensor(1.5, preferred_dtype=tf.int32).dtype == tf.float32
    assert tf.convert_to_tensor(tf.constant(1), preferred_dtype=tf.float32).dtype == tf.int32


def test_unknown_sizes_are_no_values():
    with pytest.raises(ValueError, match="partially known TensorShape"):
        tf.convert_to_tensor(tf.TensorShape([2, None]))
    with pytest.raises(ValueError, match="unknown Dimension"):
        tf.convert_to_tensor([tf.Dimension(None), 2])


def test_slices_convert_to_the_tensor_they_stand_for():
    dense = tf.convert_to_tensor(
        tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([2, 2]), tf.constant([3, 1]))
    )
    assert run(dense).tolist() == [[0], [0], [3]]


def test_a_large_list_is_converted_at_once():
    rows = np.arange(20000.0).reshape(100, 200).tolist()
    np.testing.assert_array_equal(make_array(rows, None), np.float32(rows))
