"""Gradients through TensorArrays: by every way in and out, and the arrays that `grad` makes."""

from typing import Any

import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.float64([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def array(size: Any = 3, dtype: Any = tf.float64, **options: Any) -> Any:
    return tf.TensorArray(dtype, size, **options)


def evaluate(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def written(x: Any) -> Any:
    return array().write(0, x[0]).write(1, x[1]).write(2, x[2])


WAYS_IN = {
    "write": written,
    "unstack": lambda x: array().unstack(x),
    "scatter": lambda x: array().scatter([2, 1, 0], tf.reverse(x, [0])),
    "split": lambda x: array().split(tf.reshape(x, [-1]), [2, 2, 2]),
    "dynamic": lambda x: array(0, dynamic_size=True).write(2, x[2]).write(0, x[0]).write(1, x[1]),
    "identity": lambda x: array().unstack(x).identity(),
}
WAYS_OUT = {
    "read": lambda made: tf.stack([made.read(0), made.read(1), made.read(2)]),
    "stack": lambda made: made.stack(),
    "gather": lambda made: tf.reverse(made.gather([2, 1, 0]), [0]),
    "concat": lambda made: tf.reshape(made.concat(), [3, 2]),
}


@pytest.mark.parametrize("out", WAYS_OUT)
@pytest.mark.parametrize("into", WAYS_IN)
def test_gradients_pass_from_every_way_out_to_every_way_in(into, out):
    x = tf.constant(X)
    y = WAYS_OUT[out](WAYS_IN[into](x))
    weights = np.float64([[1, -2], [3, 5], [-7, 11]])
    (first,) = tf.gradients(tf.reduce_sum(y**3 * weights), x)
    (second,) = tf.gradients(first, x)
    value, first, second = evaluate([y, first, second])
    np.testing.assert_array_equal(value, X)
    np.testing.assert_allclose(first, 3 * X**2 * weights, rtol=1e-14)  # pow may round its last bit otherwise
    np.testing.assert_allclose(second, 6 * X * weights, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_gradients_of_several_reads_add_up(dtype):
    x = tf.constant([[4.0, 5.0]], dtype)
    made = array(1, getattr(tf, dtype), clear_after_read=False).write(0, x)
    (gradient,) = tf.gradients([made.read(0), made.read(0)], [x], grad_ys=[[[2.0, 3.0]], [[1.0, 1.5]]])
    np.testing.assert_array_equal(evaluate(gradient), np.array([[3.0, 4.5]], dtype))


def test_gradients_of_stack_concat_and_read_add_up():
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    made = array(2, tf.float32, clear_after_read=False).write(0, x).write(1, y)
    found = tf.gradients(
        [made.stack(), made.concat(), made.read(1)],
        [x, y],
        grad_ys=[[[20.0, 30.0], [40.0, 50.0]], [1.0, 2.0, 3.0, 4.0], [-1.5, 1.5]],
    )
    np.testing.assert_array_equal(evaluate(found), [[21, 32], [41.5, 55.5]])


def test_entries_that_were_not_read_get_zeros():
    x, y, z = tf.constant(X), tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    unstacked = array().unstack(x)
    np.testing.assert_array_equal(evaluate(tf.gradients(unstacked.read(1) * 2.0, x)[0]), [[0, 0], [2, 2], [0, 0]])
    two = array(2, tf.float32).write(0, y).write(1, z)
    np.testing.assert_array_equal(evaluate(tf.gradients(two.read(1) * 2.0, [y, z])), [[0, 0], [2, 2]])


def test_a_gathered_part_of_scattered_rows_gets_the_gradient():
    x = tf.constant(X)
    made = array(9, clear_after_read=False).scatter([1, 8, 4], x)
    np.testing.assert_array_equal(evaluate(tf.gradients(made.gather([8, 1, 8]), x)[0]), [[1, 1], [2, 2], [0, 0]])


def test_pieces_of_unlike_lengths_get_their_own_gradients():
    x = tf.constant(X)
    made = array(3, infer_shape=False).split(x, [1, 0, 2])
    found = tf.gradients([made.read(2) * 3.0, made.read(0)], x)[0]
    np.testing.assert_array_equal(evaluate(found), [[1, 1], [3, 3], [3, 3]])


@pytest.mark.parametrize("way", ["unstack", "split"])
def test_a_dynamic_array_may_grow_afterwards(way):
    x, more = tf.constant(X), tf.constant([7.0, 8.0], tf.float64)
    made = array(0, dynamic_size=True)
    made = made.unstack(x) if way == "unstack" else made.split(tf.reshape(x, [-1]), [2, 2, 2])
    stacked = made.write(3, more).stack()
    gradients = tf.gradients(stacked * tf.constant([[1.0], [2.0], [3.0], [4.0]], tf.float64), [x, more])
    first, second = evaluate(gradients)
    np.testing.assert_array_equal(first, [[1, 1], [2, 2], [3, 3]])
    np.testing.assert_array_equal(second, [4, 4])


def test_zeros_for_what_was_not_written_have_no_gradient():
    x = tf.constant([1.0, 2.0])
    made = array(3, tf.float32).write(1, x)
    np.testing.assert_array_equal(evaluate(tf.gradients(made.stack() ** 2, x)[0]), [2, 4])


def test_unrolled_writes_take_a_given_weight():
    x = tf.constant([2.0, 3.0])
    made, value = array(4, tf.float32), x
    for step in range(4):
        value = value * x
        made = made.write(step, value)
    weights = np.float32([[1, 0], [0, 1], [2, 0], [0, 0]])
    (gradient,) = tf.gradients(made.stack(), x, grad_ys=[tf.constant(weights)])
    np.testing.assert_array_equal(evaluate(gradient), [2 * 2 + 2 * 4 * 2**3, 3 * 3**2])


def test_integers_have_no_gradient():
    x = tf.constant([1, 2])
    y = tf.cast(array(1, tf.int32).write(0, x).read(0), tf.float32)
    assert tf.gradients(y, x) == [None]


def test_a_stopped_flow_stops_gradients():
    x = tf.constant([1.0])
    made = array(1, tf.float32).write(0, tf.stop_gradient(x))
    assert tf.gradients(made.read(0), x) == [None]


def test_gradients_agree_with_differences():
    x = tf.placeholder(tf.float64, [3, 2])
    made = array(clear_after_read=False).unstack(tf.sin(x)).stack()
    again = array(6, infer_shape=False).split(tf.reshape(made * made, [-1]), [1, 0, 3, 0, 2, 0])
    loss = tf.reduce_sum(tf.exp(again.concat()))
    (gradient,) = tf.gradients(loss, x)
    with tf.Session() as session:
        found = session.run(gradient, {x: X})
        for index in np.ndindex(3, 2):
            step = np.zeros_like(X)
            step[index] = 1e-6
            up, down = (session.run(loss, {x: X + sign * step}) for sign in (1, -1))
            np.testing.assert_allclose(found[index], (up - down) / 2e-6, rtol=1e-8, atol=1e-8)


# Arrays of gradients


def test_what_is_written_to_a_gradient_array_adds_up():
    made = array(3, tf.float32).write(0, [1.0, 2.0])
    grads = made.grad("source").write(0, [5.0, 6.0]).write(0, [1.0, 1.0]).write(2, [1.0, 0.0])
    assert (grads.dtype, grads.dynamic_size, grads.element_shape.as_list()) == (tf.float32, False, [2])
    size, stacked, values = evaluate([grads.size(), grads.stack(), made.read(0)])
    assert size == 3
    np.testing.assert_array_equal(stacked, [[6, 7], [0, 0], [1, 0]])
    np.testing.assert_array_equal(values, [1, 2])


def test_a_gradient_array_goes_by_its_source():
    made = array(3, tf.float32).write(0, [1.0, 2.0])
    with tf.control_dependencies([made.grad("one").write(0, [5.0, 6.0]).flow]):
        again, other = made.grad("one", flow=tf.identity(made.flow)), made.grad("two", flow=tf.identity(made.flow))
    found = evaluate([again.read(0), other.read(0)])
    np.testing.assert_array_equal(found, [[5, 6], [0, 0]])


def test_unwritten_gradients_have_the_elements_own_shapes():
    made = array(2, tf.float32, infer_shape=False).write(0, [1.0, 2.0]).write(1, [[3.0]])
    grads = made.grad("source")
    first, second = evaluate([grads.read(0), grads.read(1)])
    np.testing.assert_array_equal(first, [0, 0])
    np.testing.assert_array_equal(second, [[0]])


def test_a_gradient_array_fixes_the_size():
    made = array(0, tf.float32, dynamic_size=True).write(0, [1.0])
    grads = made.grad("source")
    with tf.control_dependencies([grads.flow]):
        later = made.identity().write(1, [2.0])
    for fetch in (later.flow, grads.write(1, [1.0]).flow):
        with pytest.raises(tf.errors.InvalidArgumentError, match="index 1 but array is not resizeable and size is: 1"):
            evaluate(fetch)


def test_a_gradient_array_refuses_other_shapes():
    with pytest.raises(ValueError, match="Inconsistent shapes"):
        array(3, tf.float32).write(0, [1.0, 2.0]).grad("source").write(0, [1.0])


def test_a_backward_pass_by_hand_agrees_with_gradients():
    x = tf.constant([2.0, 3.0])
    made = array(1, tf.float32, clear_after_read=False).write(0, x * x)
    y, z = made.read(0) * 3.0, tf.sin(made.read(0))
    grads = made.grad("mine").write(0, tf.ones([2]) * 3.0).write(0, tf.cos(made.read(0)))
    by_hand = grads.read(0) * 2.0 * x
    found, expected = evaluate([by_hand, tf.gradients([y, z], x)[0]])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_flow_itself_hangs_on_nothing():
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(evaluate(tf.gradients(array(1, tf.float32).write(0, x).flow, x)[0]), [0, 0])
