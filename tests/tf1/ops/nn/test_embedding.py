"""Looking up embeddings: in one table, in parts, with a largest norm; gradients and errors."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


def run(fetches: object, feeds: dict | None = None) -> object:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)


def test_rows_take_the_place_of_ids():
    table = np.arange(12.0).reshape(4, 3)
    ids = tf.placeholder(tf.int32, [None, 2])
    found = tf.nn.embedding_lookup(table, ids)
    assert found.shape.as_list() == [None, 2, 3]
    np.testing.assert_array_equal(run(found, {ids: [[3, 0]]}), table[[[3, 0]]])


def test_the_gradient_to_a_variable_is_sparse_and_adds_up_equal_ids():
    table = tf.get_variable("table", [5, 2])
    found = tf.nn.embedding_lookup(table, [1, 3, 1])
    grad = tf.gradients(found, table)[0]
    assert isinstance(grad, tf.IndexedSlices)
    slices, dense = run([grad, tf.convert_to_tensor(grad)])
    assert slices.indices.tolist() == [1, 3, 1] and slices.values.tolist() == [[1, 1]] * 3
    assert dense.tolist() == [[0, 0], [2, 2], [0, 0], [1, 1], [0, 0]]


PARTS = [[[0.0], [1.0], [2.0]], [[3.0], [4.0]], [[5.0], [6.0]]]


@pytest.mark.parametrize(
    ("strategy", "ids", "expected"),
    [("mod", [0, 1, 2, 3, 4, 6], [0, 3, 5, 1, 4, 2]), ("div", [0, 1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6])],
)
def test_parts_are_chosen_as_tensorflow_does(strategy: str, ids: list[int], expected: list[float]):
    found = tf.nn.embedding_lookup([tf.constant(part) for part in PARTS], ids, strategy)
    assert found.shape.as_list() == [len(ids), 1]
    assert run(found).reshape(-1).tolist() == expected


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_order_and_shape_of_ids_are_kept(dtype: str):
    ids = np.random.RandomState(0).randint(0, 7, size=(3, 4, 2)).astype(dtype)
    found = tf.nn.embedding_lookup([tf.constant(part) for part in PARTS], ids, "div")
    assert found.shape.as_list() == [3, 4, 2, 1]
    np.testing.assert_array_equal(run(found)[..., 0], ids)


def test_no_ids_give_no_rows():
    assert run(tf.nn.embedding_lookup([tf.constant(part) for part in PARTS], np.zeros([0], np.int32))).shape == (0, 1)


def test_the_gradient_reaches_every_part():
    parts = [tf.constant(part) for part in PARTS]
    found = tf.nn.embedding_lookup(parts, [6, 0, 3, 3], "div")
    weights = tf.constant([[1.0], [2.0], [3.0], [4.0]])
    grads = [tf.convert_to_tensor(grad) for grad in tf.gradients(found * weights, parts)]
    assert [grad.reshape(-1).tolist() for grad in run(grads)] == [[2, 0, 0], [7, 0], [0, 1]]


def test_a_partitioned_variable_is_looked_up_by_its_parts():
    table = tf.get_variable("table", [7, 2], partitioner=tf.fixed_size_partitioner(3))
    found = tf.nn.embedding_lookup(table, [6, 0, 3, 3], "div")
    grads = tf.gradients(found, list(table))
    assert all(isinstance(grad, tf.IndexedSlices) for grad in grads)
    value, whole, slices = run([found, tf.convert_to_tensor(table), grads])
    np.testing.assert_array_equal(value, whole[[6, 0, 3, 3]])
    assert [grad.indices.tolist() for grad in slices] == [[0], [0, 0], [1]]


def test_rows_are_scaled_down_to_the_largest_norm():
    table = tf.constant([[3.0, 4.0], [0.0, 0.0], [0.3, 0.4]])
    found = tf.nn.embedding_lookup(table, [[0, 1, 2]], max_norm=1.0)
    value, grad = run([found, tf.convert_to_tensor(tf.gradients(found, table)[0])])
    np.testing.assert_allclose(value, np.float32([[[0.6, 0.8], [0, 0], [0.3, 0.4]]]), rtol=1e-6)
    assert np.isfinite(grad).all()


def test_names_start_as_in_tensorflow():
    table = tf.constant([[3.0, 4.0]])
    assert tf.nn.embedding_lookup(table, [0]).op.name == "embedding_lookup"
    assert tf.nn.embedding_lookup(table, [0], name="words").op.name == "words"


ERRORS = {
    "no params": (lambda: tf.nn.embedding_lookup([], [0]), ValueError, "at least one"),
    "none": (lambda: tf.nn.embedding_lookup(None, [0]), ValueError, "None"),
    "strategy": (lambda: tf.nn.embedding_lookup(PARTS, [0], "foo"), ValueError, "Unrecognized partition strategy"),
    "unknown sizes": (
        lambda: tf.nn.embedding_lookup([tf.placeholder(tf.float32)] * 2, [0], "div"),
        ValueError,
        "must be known",
    ),
    "float ids": (lambda: tf.nn.embedding_lookup(tf.zeros([3, 2]), [1.5]), TypeError, "float32"),
}


@pytest.mark.parametrize(("call", "error", "words"), ERRORS.values(), ids=ERRORS)
def test_bad_arguments_are_refused(call: object, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("wrong", [-1, 7])
@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_an_id_that_is_no_row_is_an_error_in_a_run(wrong: int, strategy: str):
    tables = (tf.zeros([7, 1]), [tf.constant(part) for part in PARTS])
    for table in tables:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not in|is in none"):
            run(tf.nn.embedding_lookup(table, [0, wrong], strategy))
