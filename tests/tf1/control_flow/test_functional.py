"""`tf.map_fn`, `tf.scan`, `tf.foldl`, `tf.foldr`."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def ints(*values):
    return tf.constant(values)


# map_fn


def test_map_fn_applies_a_function_to_each_row(session):
    assert session.run(tf.map_fn(lambda x: x * 2, ints(1, 2, 3))).tolist() == [2, 4, 6]
    result = tf.map_fn(tf.reduce_sum, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert session.run(result).tolist() == [3, 7] and result.shape.as_list() == [2] and result.dtype is tf.float64


def test_map_fn_takes_and_gives_nests(session):
    pair = ints(1, 2), ints(3, 4)
    both = tf.map_fn(lambda x: (x[0] + x[1], x[0]), pair)
    assert [row.tolist() for row in session.run(both)] == [[4, 6], [1, 2]]
    assert session.run(tf.map_fn(lambda x: x[0] + x[1], pair, dtype=tf.int32)).tolist() == [4, 6]
    split = tf.map_fn(lambda x: (x, tf.cast(x, tf.float32) / 2.0), ints(1, 2), dtype=(tf.int32, tf.float32))
    assert [row.tolist() for row in session.run(split)] == [[1, 2], [0.5, 1]]
    named = tf.map_fn(lambda d: {"s": d["a"] + d["b"]}, {"a": pair[0], "b": pair[1]}, dtype={"s": tf.int32})
    assert session.run(named)["s"].tolist() == [4, 6]


def test_map_fn_of_no_rows(session):
    assert session.run(tf.map_fn(lambda x: x * 2.0, tf.zeros([0, 3]))).shape == (0, 3)
    x = tf.placeholder(tf.float32, [None, 3])
    assert session.run(tf.map_fn(tf.reduce_sum, x), {x: np.zeros([0, 3])}).shape == (0,)


def test_map_fn_keeps_what_is_known_of_shapes(session):
    x = tf.placeholder(tf.float32, [None, 3])
    assert tf.map_fn(lambda row: row[:2], x).shape.as_list() == [None, 2]
    assert tf.map_fn(lambda row: row, tf.placeholder(tf.float32, [4, None])).shape.as_list() == [4, None]
    unknown = tf.placeholder(tf.float32)
    result = tf.map_fn(lambda row: row * 2.0, unknown)
    assert result.shape.ndims is None and session.run(result, {unknown: [1.0, 2.0]}).tolist() == [2, 4]


def test_map_fn_shares_the_variables_of_its_scope(session):
    def scale(x):
        return x * tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))

    with tf.variable_scope("net"):
        result = tf.map_fn(scale, tf.constant([1.0, 2.0]))
    session.run(tf.global_variables_initializer())
    assert session.run(result).tolist() == [3, 6]
    assert [v.name for v in tf.global_variables()] == ["net/w:0"]


def test_map_fn_in_map_fn_with_a_variable(session):
    v = tf.Variable(3.0)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    result = tf.map_fn(lambda row: tf.map_fn(lambda e: e * e * v, row), x)
    session.run(v.initializer)
    values, gradients = session.run([result, tf.gradients(result, [x, v])])
    assert values.tolist() == [[3, 12], [27, 48]]
    assert gradients[0].tolist() == [[6, 12], [18, 24]] and gradients[1] == 30


def test_map_fn_names_and_options():
    assert tf.map_fn(lambda x: x, ints(1)).op.name.startswith("map/")
    assert tf.map_fn(lambda x: x, ints(1), name="each", parallel_iterations=1).op.name.startswith("each/")
    x = tf.constant([1.0])
    assert tf.gradients(tf.map_fn(lambda e: e * 2.0, x, back_prop=False), x) == [None]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((1, [1]), TypeError, "fn must be callable"),
        ((abs, 1), ValueError, "at least one axis"),
        ((lambda x: x[0], ([1, 2], [1, 2, 3]), tf.int32), ValueError, "same first size, got 2 and 3"),
        ((lambda x: (x, x), [1, 2], tf.int32), ValueError, "same nested structure"),
    ],
)
def test_map_fn_refuses(arguments, error, text):
    elems = (
        [tf.constant(item) for item in arguments[1]] if isinstance(arguments[1], tuple) else tf.constant(arguments[1])
    )
    with pytest.raises(error, match=text):
        tf.map_fn(arguments[0], elems, *arguments[2:])


def test_map_fn_results_of_another_dtype_or_of_unlike_shapes_fail_in_a_run(session):
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype"):
        session.run(tf.map_fn(lambda x: tf.cast(x, tf.float32), ints(1, 2)))
    unlike = tf.map_fn(lambda x: tf.ones(tf.reshape(x, [1])), ints(1, 2), dtype=tf.float32, infer_shape=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="inconsistent shapes"):
        session.run(unlike)


# scan


def test_scan_gives_all_values_on_the_way(session):
    x = ints(1, 2, 3)
    add = lambda a, e: a + e  # noqa: E731
    found = [tf.scan(add, x), tf.scan(add, x, 10), tf.scan(add, x, reverse=True), tf.scan(add, x, 10, reverse=True)]
    assert [row.tolist() for row in session.run(found)] == [[1, 3, 6], [11, 13, 16], [6, 5, 3], [16, 15, 13]]
    assert found[0].shape.as_list() == [3]


def test_scan_takes_and_gives_nests(session):
    result = tf.scan(lambda a, x: (a[0] + x, a[1] * x), ints(1, 2, 3), initializer=(0, 1))
    assert [row.tolist() for row in session.run(result)] == [[1, 3, 6], [1, 2, 6]]
    pair = ints(1, 2), tf.constant([3.0, 4.0])
    result = tf.scan(lambda a, x: (a[0] + x[0], a[1] + x[1]), pair)
    assert [row.tolist() for row in session.run(result)] == [[1, 3], [3, 7]]
    result = tf.scan(lambda a, x: a + x[0] * x[1], (ints(1, 2), ints(3, 4)), initializer=0)
    assert session.run(result).tolist() == [3, 11]


def test_scan_of_no_rows(session):
    none = tf.zeros([0], tf.int32)
    assert session.run(tf.scan(lambda a, x: a + x, none, initializer=5)).shape == (0,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="array size is: 0"):
        session.run(tf.scan(lambda a, x: a + x, none))


def test_scan_of_an_unknown_number_of_rows(session):
    x = tf.placeholder(tf.float32, [None, 2])
    result = tf.scan(lambda a, row: a + row, x)
    assert result.shape.as_list() == [None, 2]
    assert session.run(result, {x: [[1, 2], [3, 4]]}).tolist() == [[1, 2], [4, 6]]


def test_gradients_of_scan(session):
    x, v = tf.constant([1.0, 2.0, 3.0]), tf.Variable(3.0)
    result = tf.scan(lambda a, e: a * e * v, x)
    session.run(v.initializer)
    by_row, by_v = session.run(tf.gradients(result, [x, v]))
    assert by_row.tolist() == [61, 30, 18] and by_v == 38


def test_scan_results_must_keep_the_structure():
    with pytest.raises(ValueError, match="same nested structure"):
        tf.scan(lambda a, x: (a, x), ints(1, 2))
    with pytest.raises(TypeError, match="fn must be callable"):
        tf.scan(1, ints(1, 2))


# foldl, foldr


def test_folds_walk_from_either_end(session):
    x = ints(1, 2, 3)
    minus = lambda a, e: a * 2 - e  # noqa: E731
    folds = [fold(minus, x, *start) for fold in (tf.foldl, tf.foldr) for start in ((), (10,))]
    expected = []
    for rows in ([1, 2, 3], [3, 2, 1]):
        for start in (None, 10):
            rest = list(rows)
            value = rest.pop(0) if start is None else start
            for row in rest:
                value = value * 2 - row
            expected.append(value)
    assert session.run(folds) == expected


def test_folds_take_nests_and_no_rows(session):
    assert session.run(tf.foldl(lambda a, x: (a[0] + x, a[1] * x), ints(1, 2, 3), initializer=(0, 1))) == (6, 6)
    assert session.run(tf.foldr(lambda a, x: a + x, tf.zeros([0]), initializer=1.5)) == 1.5
    with pytest.raises(tf.errors.InvalidArgumentError, match="array size is: 0"):
        session.run(tf.foldl(lambda a, x: a + x, tf.zeros([0])))
    assert tf.foldl(lambda a, x: a + x, tf.placeholder(tf.float32, [None, 3])).shape.as_list() == [3]


def test_gradients_of_folds(session):
    x = tf.constant([2.0, 3.0, 4.0])
    product = tf.foldl(lambda a, e: a * e, x)
    assert session.run(tf.gradients(product, x)[0]).tolist() == [12, 8, 6]
    assert tf.gradients(tf.foldr(lambda a, e: a * e, x, back_prop=False), x) == [None]
