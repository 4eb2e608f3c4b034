"""Matrices: aliases, static shapes, singular and other unfit matrices."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def value(fetches):
    return tf.Session().run(fetches)


def test_singular_matrices_fail_in_the_run():
    zero = tf.zeros([2, 2])
    for failing, message in [
        (tf.matrix_inverse(zero), "Input is not invertible"),
        (tf.matrix_solve(zero, tf.ones([2, 1])), "Input matrix is not invertible"),
        (tf.cholesky(-tf.eye(2)), "Cholesky decomposition was not successful"),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            value(failing)


def test_matrices_that_are_not_square_are_refused():
    for function in (tf.matrix_inverse, tf.matrix_determinant, tf.cholesky, tf.linalg.slogdet):
        with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
            function(tf.ones([2, 3]))
    with pytest.raises(ValueError, match="at least rank 2"):
        tf.qr(tf.ones([3]))


def test_names_of_both_namespaces_are_the_same_functions():
    assert tf.linalg.inv is tf.matrix_inverse
    assert tf.linalg.det is tf.matrix_determinant
    assert tf.linalg.solve is tf.matrix_solve


def test_factors_multiply_to_the_matrix():
    x = np.arange(6.0).reshape(3, 2) + np.eye(3, 2)
    q, r = tf.qr(x)
    s, u, v = tf.svd(x)
    np.testing.assert_allclose(value(tf.matmul(q, r)), x, atol=1e-12)
    np.testing.assert_allclose(value(tf.matmul(u * s, v, transpose_b=True)), x, atol=1e-12)
    assert [t.shape.as_list() for t in (*tf.qr(x, True), *tf.svd(x, True))] == [[3, 3], [3, 2], [2], [3, 3], [2, 2]]


def test_triangles_are_solved_on_their_side():
    x, rhs = np.array([[2.0, 1.0], [4.0, 3.0]]), np.array([[2.0], [5.0]])
    np.testing.assert_allclose(value(tf.matrix_triangular_solve(x, rhs)), np.linalg.solve(np.tril(x), rhs))
    np.testing.assert_allclose(value(tf.matrix_triangular_solve(x, rhs, lower=False)), np.linalg.solve(np.triu(x), rhs))
