import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


def hole(*dims):
    return tf.placeholder(tf.float32, dims)


def test_gather_infers_the_static_shape():
    found = tf.gather(hole(None, 4), [[0, 1]])
    assert (found.name, found.shape.as_list(), found.op.type) == ("GatherV2:0", [1, 2, 4], "GatherV2")
    assert found.op.get_attr("axis") == 0
    assert tf.gather(hole(None, 4), [[0, 1]], axis=-1).shape.as_list() == [None, 1, 2]
    assert tf.gather(hole(None, 4), 0).shape.as_list() == [4]
    assert tf.gather(hole(None, 4, 5), np.zeros((3, 2), int), batch_dims=1).shape.as_list() == [3, 2, 5]
    assert tf.gather(tf.placeholder(tf.float32), [1]).shape.ndims is None


@pytest.mark.parametrize(
    ("indices", "axis", "words"),
    [
        ([0, 5], 0, r"indices\[1\] = 5 is not in \[0, 2\)"),
        ([0, -1], 0, r"indices\[1\] = -1 is not in \[0, 2\)"),
        ([[0, 1], [2, 7]], 2, r"indices\[1,1\] = 7 is not in \[0, 4\)"),
        (9, 1, r"indices = 9 is not in \[0, 3\)"),
    ],
)
def test_gather_names_the_index_that_is_out_of_range(indices, axis, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words), tf.Session() as sess:
        sess.run(tf.gather(X, indices, axis=axis))


def test_gather_refuses_what_never_fits():
    with pytest.raises(TypeError, match="float32 not in list of allowed values: int32, int64"):
        tf.gather(hole(3), [1.0])
    with pytest.raises(ValueError, match="at least rank 1 but is rank 0"):
        tf.gather(1.0, [1])
    with pytest.raises(ValueError, match="batch_dims must be at most axis"):
        tf.gather(X, [[0]], axis=0, batch_dims=1)


def test_gather_of_a_variable_has_slices_for_a_gradient():
    table = tf.get_variable("table", initializer=X[0])
    grad = tf.gradients(tf.reduce_sum(tf.gather(table, [2, 0, 2])), table)[0]
    assert isinstance(grad, tf.IndexedSlices)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        value = sess.run(grad)
    assert (value.indices.tolist(), value.values.tolist()) == ([2, 0, 2], np.ones((3, 4)).tolist())


def test_batch_gather_gathers_in_each_row():
    with tf.Session() as sess:
        assert sess.run(tf.batch_gather([[1, 2], [3, 4]], [[1, 1, 0], [0, 1, 1]])).tolist() == [[2, 2, 1], [3, 4, 4]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="= 2 is not in"):
            sess.run(tf.batch_gather([[1, 2], [3, 4]], [[1], [2]]))


def test_gather_nd_names_the_vector_that_is_out_of_range():
    assert tf.gather_nd(hole(None, 4, 5), np.zeros((3, 2), int)).shape.as_list() == [3, 5]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught, tf.Session() as sess:
        sess.run(tf.gather_nd(X, [[0, 1], [2, 1]]))
    assert "indices[1] = [2, 1] does not index into param shape [2, 3" in str(caught.value)
    with pytest.raises(ValueError, match=r"must be <= params\.rank"):
        tf.gather_nd(X, [[0, 1, 0, 0]])


def test_scatter_nd_adds_up():
    with tf.Session() as sess:
        assert sess.run(tf.scatter_nd([[0], [2], [0]], [1.0, 2.0, 3.0], [4])).tolist() == [4, 0, 2, 0]
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[5\] does not index into shape \[4\]"
        ):
            sess.run(tf.scatter_nd([[0], [5]], [1.0, 2.0], [4]))
    with pytest.raises(ValueError, match="must match"):
        tf.scatter_nd([[0], [5]], [1.0, 2.0, 3.0], [4])
    assert tf.scatter_nd([[0]], hole(1, 3), tf.shape(hole(None, 3))).shape.as_list() == [None, 3]
