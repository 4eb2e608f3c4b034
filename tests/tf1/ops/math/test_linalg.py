"""Products: transposes, batches, ranks, static shapes, refusals."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


A = np.arange(6.0, dtype=np.float32).reshape(2, 3)


def test_transposes_and_adjoints():
    for options in ({"transpose_a": True}, {"adjoint_a": True}):
        np.testing.assert_array_equal(value(tf.matmul(A, A, **options)), A.T @ A)
    z = np.array([[1 + 2j, 3j]], np.complex64)
    np.testing.assert_array_equal(value(tf.matmul(z, z, adjoint_b=True)), z @ z.conj().T)
    with pytest.raises(ValueError, match="Only one of transpose_a and adjoint_a"):
        tf.matmul(A, A, transpose_a=True, adjoint_a=True)


def test_batches_have_their_own_type_and_broadcast():
    batch = np.stack([A, A + 1])
    product = tf.matmul(batch, A.T)
    assert (product.op.type, product.op.name) == ("BatchMatMulV2", "MatMul")
    np.testing.assert_array_equal(value(product), batch @ A.T)


def test_hints_of_sparsity_change_nothing():
    np.testing.assert_array_equal(value(tf.matmul(A, A.T, a_is_sparse=True, b_is_sparse=True)), A @ A.T)


def test_integers_multiply():
    assert value(tf.matmul([[1, 2]], [[3], [4]])).tolist() == [[11]]


def test_sizes_and_ranks_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 2"):
        tf.matmul(A, A)
    with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1"):
        tf.matmul(A[0], A.T)
    with pytest.raises(TypeError, match="does not match type float32"):
        tf.matmul(tf.constant(A), tf.constant(A.T.astype(float)))


def test_nothing_times_nothing_is_zero():
    assert value(tf.matmul(tf.zeros([2, 0]), tf.zeros([0, 3]))).tolist() == [[0] * 3] * 2


def test_unknown_sizes_stay_unknown():
    x = tf.placeholder(tf.float32, [None, 3])
    assert tf.matmul(x, tf.ones([3, 4])).shape.as_list() == [None, 4]
    assert tf.tensordot(x, tf.ones([3, 4, 5]), 1).shape.as_list() == [None, 4, 5]
    assert tf.einsum("bi,ij->jb", x, tf.ones([3, 4])).shape.as_list() == [4, None]
    assert tf.einsum("...i,ij", tf.placeholder(tf.float32), tf.ones([3, 4])).shape.ndims is None


@pytest.mark.parametrize("axes", [2, [[0, 1], [0, 1]], [[1, 0], [1, 0]]])
def test_tensordot_sums_over_pairs_of_axes(axes):
    np.testing.assert_array_equal(value(tf.tensordot(A, A, axes)), np.sum(A * A))


def test_tensordot_without_axes_is_the_outer_product():
    np.testing.assert_array_equal(value(tf.tensordot(A[0], A[1], 0)), np.outer(A[0], A[1]))


@pytest.mark.parametrize("axes", [3, [[0, 1], [0]], [0], [[0], [1]], -1])
def test_axes_that_do_not_fit_are_refused(axes):
    with pytest.raises(ValueError, match=r"axes|Dimensions must be equal"):
        tf.tensordot(A, A, axes)


@pytest.mark.parametrize("equation", ["ij->i", "ij,jk->iz", "i1,jk", "ij,ij,ij", "ijk,jk", "ij,jk"])
def test_equations_that_do_not_fit_are_refused(equation):
    with pytest.raises(ValueError, match=r"einsum|Indices|Incorrect number|Output labels|Dimensions must be equal"):
        tf.einsum(equation, A, A)


def test_equations_without_an_arrow_keep_single_letters_in_order():
    np.testing.assert_array_equal(value(tf.einsum("ji,jk", A, A)), A.T @ A)


def test_cross_and_trace():
    np.testing.assert_array_equal(value(tf.cross(A[0], A[1])), np.cross(A[0], A[1]))
    assert value(tf.trace([[1.0, 2.0], [3.0, 4.0]])) == 5
    with pytest.raises(ValueError, match="3-element vectors"):
        tf.cross(A.T, A.T)


def test_vectors_are_refused_in_a_run():
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="must be matrices"):
        sess.run(tf.matmul(x, x), {x: [1.0, 2.0]})
