"""What is known of a TensorArray's shapes while the graph is built."""

from typing import Any

import numpy as np
import pytest

import dynrnn.tf1 as tf


def array(size: Any = 3, **options: Any) -> Any:
    return tf.TensorArray(tf.float32, size, **options)


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def unknown(*shape: int | None) -> Any:
    return tf.placeholder(tf.float32, shape)


def dims(thing: Any) -> Any:
    shape = thing if isinstance(thing, tf.TensorShape) else thing.get_shape()
    return None if shape.ndims is None else shape.as_list()


def test_the_first_write_tells_the_shape():
    made = array()
    assert dims(made.element_shape) is None
    written = made.write(0, ones(2))
    assert dims(written.element_shape) == [2]
    assert dims(written.read(1)) == [2]
    assert dims(written.stack()) == [3, 2]
    assert dims(written.gather(tf.placeholder(tf.int32, [None]))) == [None, 2]
    assert dims(written.concat()) == [6]


@pytest.mark.parametrize("size", [{"dynamic_size": True}, {}], ids=["dynamic", "fed"])
def test_the_number_of_entries_may_be_unknown(size):
    made = array(0, **size) if size else array(tf.placeholder(tf.int32, []))
    written = made.write(0, ones(2, 4))
    assert dims(written.stack()) == [None, 2, 4]
    assert dims(written.concat()) == [None, 4]


@pytest.mark.parametrize(
    ("options", "value", "words"),
    [
        ({}, ones(3), r"saw \(3,\) but expected \(2,\)"),
        ({}, ones(), r"saw \(\) but expected \(2,\)"),
    ],
    ids=["size", "rank"],
)
def test_a_write_of_another_shape_is_refused(options, value, words):
    written = array(**options).write(0, ones(2))
    with pytest.raises(ValueError, match=f"Inconsistent shapes: {words}"):
        written.write(1, value)
    assert dims(written.element_shape) == [2]


@pytest.mark.parametrize("infer_shape", [True, False])
def test_a_write_against_the_element_shape_is_refused(infer_shape):
    made = array(element_shape=[None, 3], infer_shape=infer_shape)
    for write in (
        lambda: made.write(0, ones(3)),
        lambda: made.unstack(ones(3, 2, 4)),
        lambda: made.scatter([0], ones(1, 4)),
        lambda: made.split(ones(6, 4), [2, 2, 2]),
    ):
        with pytest.raises(ValueError, match="Inconsistent shapes"):
            write()
    assert dims(made.element_shape) == [None, 3]


def test_partly_known_shapes_are_merged():
    written = array().write(0, unknown(None, 2)).write(1, unknown(3, None))
    assert dims(written.read(2)) == [3, 2]
    assert dims(written.stack()) == [3, 3, 2]
    assert dims(written.concat()) == [9, 2]
    with pytest.raises(ValueError, match="Inconsistent"):
        written.write(2, unknown(4, None))


def test_the_element_shape_sharpens_with_writes():
    made = array(element_shape=[None, None, 3])
    assert dims(made.read(0)) == [None, None, 3]
    written = made.write(0, ones(1, 2, 3))
    assert dims(written.element_shape) == [1, 2, 3]
    assert dims(written.read(0)) == [1, 2, 3]


def test_without_inference_only_the_element_shape_is_known():
    written = array(infer_shape=False, element_shape=[None, None, 3]).write(0, ones(1, 2, 3))
    assert dims(written.read(0)) == [None, None, 3]
    assert dims(written.stack()) == [3, None, None, 3]
    assert dims(written.concat()) == [None, None, 3]
    bare = array(infer_shape=False).write(0, ones(2)).write(1, ones(3))
    assert [dims(found) for found in (bare.read(0), bare.stack(), bare.concat(), bare.gather([0]))] == [None] * 4


def test_unknown_stays_unknown():
    written = array().write(0, tf.placeholder(tf.float32))
    assert [dims(found) for found in (written.read(0), written.stack(), written.concat())] == [None] * 3


def test_unstack_and_scatter_tell_the_shape_of_rows():
    for made in (array().unstack(ones(3, 2, 4)), array().scatter([1], ones(1, 2, 4))):
        assert dims(made.read(0)) == [2, 4]
        with pytest.raises(ValueError, match="Inconsistent"):
            made.write(0, ones(2))
    assert dims(array().unstack(tf.placeholder(tf.float32)).read(0)) is None
    assert dims(array().unstack(unknown(None, None, 4)).read(0)) == [None, 4]


def test_equal_lengths_of_pieces_tell_their_shape():
    made = array().split(ones(6, 4), [2, 2, 2])
    assert dims(made.read(0)) == [2, 4]
    with pytest.raises(ValueError, match="Inconsistent"):
        made.write(0, ones(3, 4))


@pytest.mark.parametrize("lengths", [[1, 2, 3], None], ids=["unlike", "fed"])
def test_other_lengths_of_pieces_tell_nothing(lengths):
    made = array().split(ones(6, 4), tf.placeholder(tf.int32, [3]) if lengths is None else lengths)
    assert dims(made.read(0)) is None


def test_a_refused_call_takes_back_what_it_told():
    made = array()
    with pytest.raises(ValueError, match="rank 0 but is rank 1"):
        made.write([0], ones(2))
    assert dims(made.element_shape) is None
    made.write(0, ones(3))


def test_the_shape_is_known_after_a_loop():
    _, written = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, ones(2))), (0, array()))
    assert dims(written.element_shape) == [2]
    assert dims(written.stack()) == [3, 2]


def test_the_shape_is_known_after_branches():
    made = array()
    chosen = tf.cond(tf.constant(True), lambda: made.write(0, ones(2)), lambda: made.write(1, ones(2)))
    assert dims(chosen.read(0)) == [2]
