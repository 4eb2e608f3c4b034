import numpy as np
import pytest

import dynrnn.tf1 as tf


def hole(*dims):
    return tf.placeholder(tf.float32, dims)


def size():
    return tf.placeholder(tf.int32, [])


def test_zeros_and_ones_of_known_shapes_are_constants():
    assert [t.op.type for t in (tf.zeros([2, 3]), tf.ones(()), tf.zeros(3))] == ["Const"] * 3
    assert (tf.zeros([2, 3], name="z").name, tf.zeros([200, 300]).op.type) == ("z:0", "Fill")


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (lambda x: [tf.shape(x)[0], 4], [None, 4]),
        (lambda x: tf.stack([tf.shape(x)[0], 4]), [None, 4]),
        (lambda x: tf.shape(x), [None, 2]),
        (lambda x: tf.TensorShape([1]), [1]),
        (lambda x: [tf.Dimension(3), 1], [3, 1]),
        (lambda x: np.array([2, 1]), [2, 1]),
        (lambda x: 3, [3]),
        (lambda x: tf.constant(3), [3]),
        (lambda x: tf.size(x), [None]),
        (lambda x: [], []),
    ],
)
def test_zeros_takes_a_shape_in_every_form(shape, expected):
    x = hole(None, 2)
    for make, name in ((tf.zeros, "zeros:0"), (tf.ones, "ones:0")):
        made = make(shape(x))
        assert (made.shape.as_list(), made.name) == (expected, name)
        with tf.Session() as sess:
            value = sess.run(made, {x: np.zeros((5, 2))})
        assert made.shape.is_compatible_with(value.shape) and (value == (name == "ones:0")).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int64", "uint8", "bool", "complex64"])
def test_zeros_and_ones_have_any_dtype(dtype):
    n = size()
    with tf.Session() as sess:
        for make in (tf.zeros, tf.ones):
            known, later = sess.run([make([2], dtype), make([n], dtype)], {n: 2})
            assert known.dtype == later.dtype == tf.as_dtype(dtype).as_numpy_dtype
            assert np.array_equal(known, later)


def test_strings_are_zero_too():
    with tf.Session() as sess:
        assert sess.run(tf.zeros([1], tf.string)).tolist() == [b""]
    with pytest.raises(TypeError, match="Expected string, got 1"):
        tf.ones([1], tf.string)


def test_fill():
    assert (tf.fill([2, 3], 9.0).name, tf.fill([size(), 4], True).shape.as_list()) == ("Fill:0", [None, 4])
    assert tf.fill(tf.placeholder(tf.int32, [2]), 1.0).shape.as_list() == [None, None]
    with pytest.raises(ValueError, match="Invalid value in tensor used for shape: -3"):
        tf.fill([2, -3], 9.0)
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        tf.fill([2], [9.0])


def test_like():
    assert (tf.zeros_like(hole(3, 2)).op.type, tf.zeros_like(hole(None, 2)).op.type) == ("Const", "ZerosLike")
    assert tf.zeros_like([1.0, 2.0]).name == "zeros_like_2:0"
    assert (tf.ones_like(hole(None, 2), dtype=tf.int64).dtype, tf.ones_like(hole(None, 2)).dtype) == (
        tf.int64,
        tf.float32,
    )
    assert tf.gradients(tf.zeros_like(x := hole(None)), x) == [None]


@pytest.mark.parametrize(
    ("arguments", "expected", "dtype"),
    [
        ((5,), [0, 1, 2, 3, 4], "int32"),
        ((1, 5, 2), [1, 3], "int32"),
        ((5, 0, -2), [5, 3, 1], "int32"),
        ((0, 1, 0.25), [0, 0.25, 0.5, 0.75], "float32"),
        ((1.0, 5.0), [1, 2, 3, 4], "float32"),
        ((0, 1, 0.1), np.float32([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.90000004]).tolist(), "float32"),
        ((np.int64(3),), [0, 1, 2], "int64"),
        ((np.float64(2), 3), [2], "float64"),
        ((4, 4), [], "int32"),
    ],
)
def test_range(arguments, expected, dtype):
    made = tf.range(*arguments)
    assert (made.name, made.dtype, made.shape.as_list()) == ("range:0", dtype, [len(expected)])
    with tf.Session() as sess:
        assert sess.run(made).tolist() == expected


def test_range_of_tensors_takes_the_widest_type():
    n = tf.placeholder(tf.int64, [])
    assert (tf.range(n).dtype, tf.range(n, 10.0).dtype, tf.range(n, dtype=tf.int32).dtype) == (
        tf.int64,
        tf.float32,
        tf.int32,
    )
    assert tf.range(tf.shape(hole(None, 7))[1]).shape.as_list() == [7]
    with tf.Session() as sess:
        assert sess.run(tf.range(n, 10.0, 4), {n: 1}).tolist() == [1, 5, 9]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0, 5, 0), "Requires delta != 0"), ((5, 0), "start <= limit"), ((0, 5, -1), "start >= limit")],
)
def test_range_refuses_a_step_that_leads_away(arguments, words):
    with pytest.raises(ValueError, match=words):
        tf.range(*arguments)
    n = size()
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.Session() as sess:
        sess.run(tf.range(n, *arguments[1:]), {n: arguments[0]})


def test_linspace_ends_exactly():
    made = tf.lin_space(0.0, 0.7, 8)
    assert (made.name, made.shape.as_list()) == ("LinSpace:0", [8])
    with tf.Session() as sess:
        value = sess.run(made)
        assert sess.run(tf.linspace(3.0, 7.0, 1)).tolist() == [3]
    assert value[-1] == np.float32(0.7) and value[0] == 0
    with pytest.raises(ValueError, match="Requires num > 0: 0"):
        tf.linspace(0.0, 1.0, 0)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_meshgrid_is_numpys(indexing):
    vectors = [np.arange(3), np.arange(4), np.arange(2)]
    made = tf.meshgrid(*vectors, indexing=indexing)
    expected = np.meshgrid(*vectors, indexing=indexing)
    with tf.Session() as sess:
        for tensor, value, wanted in zip(made, sess.run(made), expected, strict=True):
            assert np.array_equal(value, wanted) and tensor.shape.as_list() == list(wanted.shape)
    with pytest.raises(ValueError, match="either 'xy' or 'ij'"):
        tf.meshgrid([1], indexing="no")


def test_zeros_of_a_part_of_a_shape():
    x = hole(None, 7, 3)
    assert tf.zeros(tf.slice(tf.shape(x), [1], [-1])).shape.as_list() == [7, 3]
    assert tf.zeros(tf.gather(tf.shape(x), [2, 0])).shape.as_list() == [3, None]
    assert tf.zeros([tf.gather(tf.shape(x), 1)]).shape.as_list() == [7]
    assert tf.zeros(tf.concat([tf.shape(x)[:1], [4]], 0)).shape.as_list() == [None, 4]
    assert tf.zeros(tf.shape(x)[::-1]).shape.as_list() == [3, 7, None]
