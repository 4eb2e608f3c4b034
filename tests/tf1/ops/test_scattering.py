"""scatter_* and count_up_to (the numbers are TensorFlow's)."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def sess(fresh_graph):
    with tf.Session() as sess:
        yield sess


def variable(value, sess):
    v = tf.Variable(value, name="v")
    sess.run(v.initializer)
    return v


ROWS = {
    "scatter_update": [[2, 3], [2, 3], [4, 5]],
    "scatter_add": [[2, 4], [2, 3], [8, 10]],
    "scatter_sub": [[-2, -2], [2, 3], [0, 0]],
    "scatter_mul": [[0, 3], [2, 3], [16, 25]],
    "scatter_div": [[0, 1 / 3], [2, 3], [1, 1]],
    "scatter_min": [[0, 1], [2, 3], [4, 5]],
    "scatter_max": [[2, 3], [2, 3], [4, 5]],
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_replaced(name, sess):
    v = variable(np.arange(6, dtype=np.float32).reshape(3, 2), sess)
    result = getattr(tf, name)(v, [0, 2], [[2.0, 3.0], [4.0, 5.0]])
    assert result.dtype.is_ref
    assert result.shape.as_list() == [3, 2]
    np.testing.assert_array_equal(sess.run(result), np.float32(ROWS[name]))
    np.testing.assert_array_equal(sess.run(v), np.float32(ROWS[name]))


def test_the_name_is_the_types():
    v = tf.Variable([1.0, 2.0])
    assert tf.scatter_add(v, [0], [1.0]).name == "ScatterAdd:0"
    assert tf.scatter_nd_update(v, [[0]], [1.0]).name == "ScatterNdUpdate:0"
    assert tf.scatter_sub(v, [0], [1.0], name="mine").name == "mine:0"


def test_several_updates_of_one_row_come_one_after_the_other(sess):
    v = variable([6.0, 1.0], sess)
    assert sess.run(tf.scatter_add(v, [0, 0], [1.0, 2.0])).tolist() == [9.0, 1.0]
    assert sess.run(tf.scatter_sub(v, [0, 0], [1.0, 2.0])).tolist() == [6.0, 1.0]
    assert sess.run(tf.scatter_mul(v, [0, 0], [2.0, 3.0])).tolist() == [36.0, 1.0]
    assert sess.run(tf.scatter_div(v, [0, 0], [2.0, 3.0])).tolist() == [6.0, 1.0]
    assert sess.run(tf.scatter_update(v, [0, 0, 0], [5.0, 4.0, 3.0])).tolist() == [3.0, 1.0]


def test_one_number_may_serve_all_rows(sess):
    v = variable([[1.0, 2.0], [3.0, 4.0]], sess)
    assert sess.run(tf.scatter_mul(v, [0, 1], 2.0)).tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_indices_may_have_any_rank(sess):
    v = variable(np.zeros((3, 2), np.float32), sess)
    assert sess.run(tf.scatter_add(v, 1, [1.0, 2.0])).tolist() == [[0, 0], [1, 2], [0, 0]]
    counts = tf.scatter_add(v, [[0, 1], [1, 2]], np.ones((2, 2, 2), np.float32))
    assert sess.run(counts).tolist() == [[1, 1], [3, 4], [1, 1]]
    none = tf.scatter_update(v, np.zeros([0], np.int64), np.zeros([0, 2], np.float32))
    assert sess.run(none).tolist() == [[1, 1], [3, 4], [1, 1]]


def test_integers_are_cut_off_towards_zero(sess):
    v = variable([7, -7], sess)
    assert sess.run(tf.scatter_div(v, [0, 1], [4, 4])).tolist() == [1, -1]


def test_strings_and_bools_can_be_replaced(sess):
    s = variable(["a", "b"], sess)
    assert sess.run(tf.scatter_update(s, [1, 1], ["y", "z"])).tolist() == [b"a", b"z"]
    assert sess.run(tf.scatter_update(s, [0, 1], "q")).tolist() == [b"q", b"q"]
    assert sess.run(tf.scatter_update(variable([True, False], sess), [1], [True])).tolist() == [True, True]


def test_elements_and_slices_are_named_by_vectors(sess):
    v = variable([[1.0, 2.0], [3.0, 4.0]], sess)
    assert sess.run(tf.scatter_nd_update(v, [[1]], [[5.0, 6.0]])).tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert sess.run(tf.scatter_nd_add(v, [[0, 1], [1, 0]], [10.0, 20.0])).tolist() == [[1.0, 12.0], [25.0, 6.0]]
    assert sess.run(tf.scatter_nd_sub(v, [[0, 1], [0, 1]], [1.0, 2.0])).tolist() == [[1.0, 9.0], [25.0, 6.0]]
    assert sess.run(tf.scatter_nd_update(v, [0, 0], 7.0)).tolist() == [[7.0, 9.0], [25.0, 6.0]]


def test_an_array_that_was_read_stays_as_it_was(sess):
    v = variable([1.0, 2.0], sess)
    before = sess.run(v)
    sess.run(tf.scatter_update(v, [0], [9.0]))
    assert before.tolist() == [1.0, 2.0]


def test_an_assignment_that_is_updated_comes_first(sess):
    v = variable([1.0, 2.0], sess)
    assert sess.run(tf.scatter_add(v.assign([5.0, 5.0]), [0], [1.0])).tolist() == [6.0, 5.0]


def test_no_gradient_passes():
    v = tf.Variable([1.0, 2.0])
    assert tf.gradients(tf.scatter_add(v, [0], [1.0]), v) == [None]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda v: tf.scatter_update(v, [0, 1], [[1.0, 2.0]]), ValueError, "Dimension 0 in both shapes must be equal"),
        (lambda v: tf.scatter_update(v, [0, 1], [1.0, 2.0]), ValueError, "Shapes must be equal rank, but are 1 and 2"),
        (lambda v: tf.scatter_update(v, [0.5], [[1.0, 2.0]]), TypeError, "parameter 'indices' has DataType float32"),
        (lambda v: tf.scatter_add(v, [0], tf.constant([[1, 2]])), TypeError, "'updates' of 'ScatterAdd' Op has type"),
        (lambda v: tf.scatter_add(v + 1.0, [0], [[1.0, 2.0]]), TypeError, "'ScatterAdd' Op requires that input 'ref'"),
        (lambda v: tf.scatter_nd_add(v, [[0, 0, 0]], [1.0]), ValueError, "n at most the variable's rank 2"),
        (lambda v: tf.scatter_nd_add(v, [[0]], [1.0]), ValueError, "Shapes must be equal rank, but are 1 and 2"),
        (lambda v: tf.count_up_to(v, 3), TypeError, "DataType float32_ref not in list of allowed values: int32"),
    ],
)
def test_what_cannot_fit_is_refused_while_building(call, error, match, fresh_graph):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(error, match=match):
        call(v)
    assert not [op.name for op in fresh_graph.get_operations() if "catter" in op.name or "ndices" in op.name]


def test_numbers_are_asked_for():
    with pytest.raises(TypeError, match="'ref' has DataType bool not in list of allowed values"):
        tf.scatter_add(tf.Variable([True]), [0], [True])


@pytest.mark.parametrize("index", [3, -1])
def test_an_index_out_of_range_is_named(index, sess):
    v = variable([[1.0], [2.0], [3.0]], sess)
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[1\] = {index} is not in \[0, 3\)"):
        sess.run(tf.scatter_update(v, [0, index], [[5.0], [5.0]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[0\] = \[{index}, 0\] does not index into"):
        sess.run(tf.scatter_nd_update(v, [[index, 0]], [5.0]))
    assert sess.run(v).tolist() == [[1.0], [2.0], [3.0]]


def test_updates_of_another_size_are_refused_in_run(sess):
    v = variable([[1.0, 2.0], [3.0, 4.0]], sess)
    updates = tf.placeholder(tf.float32)
    for shape in ([1, 3], [2, 1]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"updates must have shape \[1, 2\].*, got \["):
            sess.run(tf.scatter_add(v, [0], updates), {updates: np.zeros(shape)})


def test_a_variable_without_elements_can_be_updated(sess):
    v = variable(np.zeros([3, 0], np.float32), sess)
    assert sess.run(tf.scatter_add(v, [1], np.zeros([1, 0], np.float32))).shape == (3, 0)


def test_a_variable_without_a_value_is_named(sess):
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        sess.run(tf.scatter_add(tf.Variable([1.0], name="v"), [0], [1.0]))


def test_counting_gives_the_value_before_and_ends(sess):
    v = variable(0, sess)
    count = tf.count_up_to(v, 3)
    assert (count.name, count.dtype, count.shape.as_list()) == ("CountUpTo:0", tf.int32, [])
    assert [sess.run(count) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 3"):
        sess.run(count)
    assert sess.run(v) == 3


def test_only_a_scalar_counts():
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        tf.count_up_to(tf.Variable([1]), 3)


ONE = {
    "update": lambda row, update: update,
    "add": lambda row, update: row + update,
    "sub": lambda row, update: row - update,
    "mul": lambda row, update: row * update,
    "div": lambda row, update: row / update,
    "min": np.minimum,
    "max": np.maximum,
}


@pytest.mark.parametrize("name", ONE)
def test_many_updates_are_those_of_a_loop(name, sess):
    random = np.random.default_rng(5)
    rows = random.uniform(1, 2, (6, 3)).astype(np.float32)
    where = random.integers(0, 6, 40)
    updates = random.uniform(1, 2, (40, 3)).astype(np.float32)
    v = variable(rows, sess)
    got = sess.run(getattr(tf, f"scatter_{name}")(v, where, updates))
    for place, update in zip(where, updates, strict=True):
        rows[place] = ONE[name](rows[place], update)
    np.testing.assert_allclose(got, rows, rtol=1e-6 if name in ("add", "sub", "mul") else 0)  # they may be regrouped
