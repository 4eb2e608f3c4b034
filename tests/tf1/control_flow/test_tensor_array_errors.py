"""What a TensorArray refuses: while building, and in a run with TensorFlow's class of error and key words."""

from typing import Any

import numpy as np
import pytest

import dynrnn.tf1 as tf

VECTOR = np.float32([1, 2, 3])


def array(size: Any = 3, **options: Any) -> Any:
    return tf.TensorArray(tf.float32, size, **options)


def unlike(*values: Any) -> Any:
    made = array(len(values), infer_shape=False)
    for index, value in enumerate(values):
        made = made.write(index, value)
    return made


def read_twice(made: Any) -> Any:
    with tf.control_dependencies([made.read(0)]):
        return made.identity().read(0)


def write_after_read(made: Any) -> Any:
    with tf.control_dependencies([made.read(0)]):
        return made.identity().write(0, 1.0).flow


def fed(value: Any) -> Any:
    """A tensor whose shape is not known while the graph is built."""
    return tf.placeholder_with_default(np.float32(value), None)


FAILS_IN_RUN = {
    "write of another dtype": (lambda: array().write(0, "text").flow, "dtype is float32 but Op .* write dtype string"),
    "write of an integer": (lambda: array().write(0, tf.constant(1)).flow, "float32 but Op is trying .* int32"),
    "unstack of another dtype": (lambda: array().unstack(tf.constant([1])).flow, "float32 but Op .* dtype int32"),
    "write to a negative index": (lambda: array().write(-1, 1.0).flow, "write to index -1 but .* not resizeable"),
    "write past the end": (lambda: array().write(3, 1.0).flow, "write to index 3 but array is not resizeable .* 3"),
    "dynamic, negative index": (lambda: array(dynamic_size=True).write(-1, 1.0).flow, "write to index -1"),
    "read of a negative index": (lambda: array().write(0, 1.0).read(-1), "read from index -1 but array size is: 3"),
    "read past the end": (lambda: array().write(0, 1.0).read(3), "read from index 3 but array size is: 3"),
    "dynamic, read past the end": (lambda: array(dynamic_size=True).write(0, 1.0).read(3), "index 3 but array size"),
    "gather past the end": (lambda: array().unstack(VECTOR).gather([0, 5]), "read from index 5"),
    "second write": (lambda: array().write(0, 1.0).write(0, 1.0).flow, "index 0 because it has already been written"),
    "scatter to one index twice": (lambda: array().scatter([0, 0], [1.0, 2.0]).flow, "already been written"),
    "second read": (lambda: read_twice(array().write(0, 1.0)), "index 0 twice .* clear_after_read = false"),
    "gather of one index twice": (lambda: array().unstack(VECTOR).gather([0, 0]), "clear_after_read = false"),
    "write after read": (lambda: write_after_read(array().write(0, 1.0)), "index 0 because it has already been read"),
    "concat of scalars": (lambda: array().unstack(VECTOR).concat(), "Concat saw a scalar shape at index 0"),
    "concat of one scalar": (lambda: unlike([1.0], 1.0).concat(), "scalar shape at index 1"),
    "concat of unlike tails": (lambda: unlike([[1.0]], [[1.0, 2.0]]).concat(), r"dimension 0\) shape: \[2\]"),
    "stack of unlike shapes": (lambda: unlike([1.0], [1.0, 2.0]).stack(), r"inconsistent shapes.* has shape: \[2\]"),
    "split, wrong sum": (lambda: array().split(VECTOR, [1, 1, 2]).flow, "sum of lengths is 4"),
    "split, wrong count": (lambda: array().split(VECTOR, [1, 2]).flow, r"\(3 vs. 2\), .* dynamically resizeable"),
    "split, dynamic and fewer": (lambda: array(dynamic_size=True).split(VECTOR, [1, 2]).flow, r"\(3 vs. 2\)"),
    "split, negative length": (lambda: array().split(VECTOR, [-1, 2, 2]).flow, "lengths of at least 0"),
    "split of a scalar": (lambda: array().split(fed(1.0), [1, 0, 0]).flow, "at least a vector"),
    "scatter past the end": (lambda: array().scatter([5], [1.0]).flow, r"Max scatter index .* \(5 vs. 3\)"),
    "scatter to a negative index": (lambda: array().scatter([-1], [1.0]).flow, "write to index -1"),
    "scatter, wrong count": (lambda: array().scatter([0], fed([1.0, 2.0])).flow, r"1 vs. \[2\]"),
    "unstack of too many": (lambda: array().unstack([1.0, 2.0, 3.0, 4.0]).flow, "Max scatter index"),
    "read of nothing": (lambda: array().read(1), "Could not read .* index 1.* not fully defined: <unknown>"),
    "read of nothing, shapes differ": (lambda: array(infer_shape=False).write(0, fed([1.0])).read(1), "<unknown>"),
    "read of nothing, partly known": (lambda: array(element_shape=[2, None]).read(1), r"fully defined: \[2,\?\]"),
    "stack of nothing": (lambda: array().stack(), "Could not read .* index 0"),
    "element_shape in the run": (
        lambda: array(element_shape=[2]).write(0, fed([1.0])).flow,
        r"value shape is \[1\] .* \[2\]",
    ),
    "first shape in the run": (
        lambda: array().write(1, fed([1.0])).write(0, fed([1.0, 2.0])).flow,
        r"value shape is \[2\] .*inferred element shape: \[1\] \(consider setting infer_shape=False",
    ),
    "flow of no array": (
        lambda: tf.TensorArray(tf.float32, handle=tf.constant(0.0), flow=tf.constant(0.0)).read(0),
        "flow must come from a TensorArray",
    ),
}


@pytest.mark.parametrize("what", FAILS_IN_RUN)
def test_a_run_fails_with_tensorflows_words(what):
    build, words = FAILS_IN_RUN[what]
    fetch = build()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(fetch)


@pytest.mark.parametrize("shape", [None, [None, 2]], ids=str)
def test_an_empty_array_of_unknown_element_shape_cannot_be_stacked(shape):
    stacked = array(0, element_shape=shape).stack()
    with tf.Session() as session, pytest.raises(tf.errors.UnimplementedError, match=r"size zero, .* not fully defined"):
        session.run(stacked)


def test_an_empty_array_of_unknown_element_shape_cannot_be_joined():
    joined = array(0).concat()
    with tf.Session() as session, pytest.raises(tf.errors.OpError, match="element_shape_except0 <unknown>"):
        session.run(joined)


def test_an_error_names_the_node_and_the_array():
    written = array(name="mine").write(9, 1.0, name="here")
    with tf.Session() as session, pytest.raises(tf.errors.OpError, match="TensorArray mine: ") as caught:
        session.run(written.flow)
    assert caught.value.op.name == "here/here"
    written = array(tensor_array_name="called").write(9, 1.0)
    with tf.Session() as session, pytest.raises(tf.errors.OpError, match="TensorArray called: "):
        session.run(written.flow)


REFUSED = {
    "no size": (lambda: tf.TensorArray(tf.float32), ValueError, "size must be declared"),
    "handle and size": (lambda: array(handle=array().handle), ValueError, "both a handle and size"),
    "a handle that is none": (lambda: array(None, handle=3), TypeError, "handle must be a tensor, got 3"),
    "handle without flow": (lambda: array(None, handle=array().handle), ValueError, "flow must not be None"),
    "size of another type": (lambda: array("three"), TypeError, "Expected int32"),
    "size of another dtype": (lambda: array(tf.constant(3, tf.int64)), TypeError, "int64 .* int32"),
    "size that is no scalar": (lambda: array([1]), ValueError, "must be rank 0 but is rank 1"),
    "index of another type": (lambda: array().write(0.5, 1.0), TypeError, "Expected int32"),
    "index of another dtype": (lambda: array().read(tf.constant(0, tf.int64)), TypeError, "int64 .* int32"),
    "index that is no scalar": (lambda: array().write([0], 1.0), ValueError, "must be rank 0 but is rank 1"),
    "indices that are no vector": (lambda: array().unstack(VECTOR).gather(0), ValueError, "rank 1 but is rank 0"),
    "lengths that are no vector": (lambda: array().split(VECTOR, 3), ValueError, "rank 1 but is rank 0"),
    "scatter of a scalar": (lambda: array().scatter([0], 1.0), ValueError, "at least rank 1 but is rank 0"),
    "unstack of a scalar": (lambda: array().unstack(1.0), ValueError, "out of bounds"),
    "scatter of another count": (lambda: array().scatter([0, 1], [1.0]), ValueError, "equal, but are 1 and 2"),
    "split of another dtype": (lambda: array().split(tf.constant([1]), [1]), ValueError, "dtype float32 .* int32"),
    "an array as a value": (lambda: array().write(0, array()), TypeError, "TensorArray"),
    "an array as a tensor": (lambda: tf.convert_to_tensor(array()), TypeError, "TensorArray"),
    "source that is no string": (lambda: array().grad(3), TypeError, "source must be a string"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_right_is_refused_while_building(what):
    build, kind, words = REFUSED[what]
    with pytest.raises(kind, match=words):
        build()


@pytest.mark.parametrize("name", ["dynamic_size", "clear_after_read", "tensor_array_name", "element_shape"])
def test_an_array_that_exists_takes_no_more_options(name):
    made = array()
    value = {"tensor_array_name": "x", "element_shape": [1]}.get(name, True)
    with pytest.raises(ValueError, match=f"both a handle and {name}"):
        tf.TensorArray(tf.float32, handle=made.handle, flow=made.flow, **{name: value})
