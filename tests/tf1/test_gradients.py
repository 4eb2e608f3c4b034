"""`tf.gradients`: arguments, entries and refusals; the values at every level are the engine's tests' business."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dynrnn.tf1 as tf


def run(fetches, feeds=None):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)


def test_ys_and_xs_are_tensors_variables_or_lists_of_them():
    x, v = tf.constant(3.0), tf.Variable(2.0)
    y = x * x * v
    assert run(tf.gradients(y, x)) == [12] and run(tf.gradients([y], (x, v))) == [12, 9]
    assert run(tf.gradients((y, x), [x])) == [13] and run(tf.gradients(v, v)) == [1]
    assert tf.gradients(y, []) == [] and tf.gradients([], [x]) == [None] and tf.gradients(3.0, x) == [None]


def test_names_stand_under_gradients(fresh_graph):
    x = tf.constant(3.0)
    first, second = tf.gradients(x * x, x)[0], tf.gradients(x * x, x, name="mine")[0]
    assert first.name.startswith("gradients/") and second.name.startswith("mine/")


@pytest.mark.parametrize(
    "make",
    [
        lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32) * 2.0,
        lambda x: tf.cast(tf.argmax(x), tf.float32),
        lambda x: tf.stop_gradient(x) * 2.0,
        lambda x: tf.floor(x),
        lambda x: tf.zeros_like(x),
        lambda x: tf.cast(tf.shape(x)[0], tf.float32),
        lambda x: tf.cast(x, tf.int32),
        lambda x: x > 1.0,
        lambda x: tf.constant(1.0),
    ],
)
def test_entries_are_none_where_tensorflow_has_none(make):
    x = tf.constant([3.0, 1.0])
    assert tf.gradients(make(x), x) == [None]


@pytest.mark.parametrize(("ys", "xs"), [(None, 1.0), ([None], 1.0), (1.0, None), (1.0, [None])])
def test_none_is_no_tensor(ys, xs):
    with pytest.raises(ValueError, match="None"):
        tf.gradients(ys, xs)


def test_integers_have_no_gradient():
    i = tf.constant(3)
    assert tf.gradients(tf.cast(i, tf.float32) * 2.0, i) == [None] and tf.gradients(i * i, i) == [None]


@pytest.mark.parametrize("choice", [tf.UnconnectedGradients.ZERO, "zero"])
def test_zeros_may_stand_for_unconnected_gradients(choice):
    x, other = tf.constant(3.0), tf.placeholder(tf.float32, [None, 2])
    grad, zeros = tf.gradients(x * x, [x, other], unconnected_gradients=choice)
    assert zeros.shape.as_list() == [None, 2]
    assert [value.tolist() for value in run([grad, zeros], {other: np.ones((3, 2))})] == [6, [[0, 0]] * 3]
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nope'"):
        tf.gradients(x, x, unconnected_gradients="nope")


def test_grad_ys_weigh_their_ys():
    x = tf.constant([1.0, 2.0])
    y = x * x
    assert run(tf.gradients(y, x, grad_ys=[[3.0, 5.0]])[0]).tolist() == [6, 20]
    assert run(tf.gradients([y, x], x, grad_ys=[None, tf.constant([3.0, 5.0])])[0]).tolist() == [5, 9]
    assert run(tf.gradients(y, x, grad_ys=3.0)[0]).tolist() == [6, 12]
    assert run(tf.gradients(y, x, grad_ys=[None])[0]).tolist() == [2, 4]


def test_grad_ys_that_do_not_fit_are_refused():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match="Passed 2 grad_ys for 1 ys"):
        tf.gradients(x * x, x, grad_ys=[1.0, None])
    with pytest.raises(TypeError, match=r"Gradient type int32 generated for .* with type float32"):
        tf.gradients(x * x, x, grad_ys=tf.constant([1, 2]))
    for wrong in ([1.0, 2.0, 3.0], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match=r"grad_ys: the entry for mul.* has shape .*, expected \(2,\)"):
            tf.gradients(x * x, x, grad_ys=[tf.constant(wrong)])


def test_gradients_stop_where_they_are_told_to():
    a = tf.constant(2.0)
    b = 2.0 * a
    assert run(tf.gradients(a + b, [a, b])) == [3, 1]
    assert run(tf.gradients(a + b, [a, b], stop_gradients=[a, b])) == [1, 1]
    assert run(tf.gradients(a + b, [a, b], stop_gradients=b)) == [1, 1]
    assert tf.gradients(b * b, a, stop_gradients=[b]) == [None]
    v = tf.Variable(2.0)
    assert run(tf.gradients(v * a, [v, a], stop_gradients=[v])) == [2, 2]


def test_a_stop_keeps_infinities_out():
    a = tf.constant(0.0)
    root = tf.sqrt(a)
    assert run(tf.gradients(root * root + a, a, stop_gradients=[root])) == [1]


def test_a_variable_read_in_several_ways_has_one_gradient():
    v = tf.Variable(2.0)
    assert run(tf.gradients(v.read_value() * v.value() * v, v)) == [12]
    assert run(tf.gradients(v.value() * v, v.value())) == [4]


def test_a_gradient_after_an_assignment_is_that_of_the_new_value():
    v = tf.Variable(2.0)
    with tf.control_dependencies([v.assign(5.0)]):
        read = v.read_value()
    assert run(tf.gradients(read * read, v)) == [10]


@pytest.mark.parametrize("make", [lambda w: tf.Variable(w), lambda w: tf.constant(w), lambda w: tf.constant(w) * 1.0])
@pytest.mark.parametrize("indices", [[0, 2, 0], [[0, 2], [1, 1]], 1, np.zeros([0], np.int32)], ids=repr)
def test_what_is_gathered_from_has_indexed_slices(indices, make):
    x = make(np.ones((4, 2), np.float32))
    (grad,) = tf.gradients(tf.gather(x, indices) * 3.0, x)
    assert isinstance(grad, tf.IndexedSlices)
    found = run(grad)
    count = np.size(indices)
    assert grad.values.shape.as_list() == [count, 2] and found.dense_shape.tolist() == [4, 2]
    assert found.indices.tolist() == np.reshape(indices, -1).tolist() and found.values.tolist() == [[3, 3]] * count
    dense = np.zeros((4, 2), np.float32)
    np.add.at(dense, np.reshape(indices, -1), 3)
    np.testing.assert_array_equal(run(tf.convert_to_tensor(grad)), dense)


def test_reads_of_a_variable_lead_to_the_same_slices():
    v = tf.Variable(np.ones((4, 2), np.float32))
    y = tf.gather(v.value(), [1, 0])
    for grad in tf.gradients(y, [v, v.value()]) + tf.gradients(tf.gather(tf.identity(v), [1, 0]), v):
        assert run(grad).indices.tolist() == [1, 0]
    with tf.control_dependencies([tf.no_op()]):
        late = tf.nn.embedding_lookup(v, [3])
    assert run(tf.gradients(late, v)[0]).indices.tolist() == [3]


def test_several_gathers_make_one_list_and_dense_use_makes_it_dense():
    v = tf.Variable(np.ones((4, 1), np.float32))
    first, second = tf.gather(v, [0, 2]), tf.gather(v, tf.constant([1], tf.int64))
    grad = tf.gradients([first, second], v)[0]
    assert grad.indices.dtype == tf.int64 and run(grad).indices.tolist() == [0, 2, 1]
    assert run(tf.gradients([first, tf.reduce_sum(v)], v)[0]).tolist() == [[2], [1], [2], [1]]
    assert run(tf.gradients([first, v], v)[0]).tolist() == [[2], [1], [2], [1]]
    assert isinstance(tf.gradients(tf.gather(v, [0], axis=1), v)[0], tf.Tensor)


def test_slices_are_differentiated_again():
    v = tf.Variable(np.ones((4, 1), np.float32))
    (first,) = tf.gradients(tf.gather(v, [1, 0]) ** 3.0, v)
    for y in (first, first.values):
        (second,) = tf.gradients(y, v)
        assert run(second).values.tolist() == [[6], [6]]


def test_hessians():
    x, s = tf.constant([1.0, 2.0]), tf.constant(2.0)
    assert run(tf.hessians(tf.reduce_sum(x * x * x), x)[0]).tolist() == [[6, 0], [0, 12]]
    assert run(tf.hessians(s * s * s, s)) == [12]


def test_gradients_of_strings_are_refused():
    with pytest.raises(TypeError):
        tf.gradients(tf.constant("a"), tf.constant(1.0), grad_ys=[1.0])


FUNCTIONS = [tf.tanh, tf.sigmoid, tf.square, tf.sin, tf.exp, lambda x: -x, lambda x: tf.identity(x)]
PAIRS = [tf.add, tf.subtract, tf.multiply, lambda a, b: tf.matmul(a, b)]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_gradients_of_any_program_are_the_differences(data):
    """A random program of 2 x 2 matrices in float64; its gradients, and theirs, against central differences."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, [2, 2])
        made = [x, tf.constant([[0.3, -0.2], [0.1, 0.4]], tf.float64)]
        for _ in range(data.draw(st.integers(1, 6))):
            if data.draw(st.booleans()):
                made.append(data.draw(st.sampled_from(FUNCTIONS))(data.draw(st.sampled_from(made))) * 0.5)
            else:
                pair = data.draw(st.sampled_from(PAIRS))
                made.append(pair(data.draw(st.sampled_from(made)), data.draw(st.sampled_from(made))))
        y = tf.reduce_sum(made[-1] * made[data.draw(st.integers(0, len(made) - 1))])
        (first,) = tf.gradients(y, x)
        if first is None:
            return
        weight = tf.constant([[1.0, 2.0], [-1.0, 0.5]], tf.float64)
        (second,) = tf.gradients(tf.reduce_sum(first * weight), x, unconnected_gradients="zero")
        point, step = np.array([[0.2, -0.4], [0.7, 0.1]]), 1e-5
        sess.run([first, second], {x: point})
        for tensor, grad in ((y, first), (tf.reduce_sum(first * weight), second)):
            found = sess.run(grad, {x: point})
            for i in np.ndindex(2, 2):
                move = np.zeros((2, 2))
                move[i] = step
                up, down = (sess.run(tensor, {x: point + sign * move}) for sign in (1, -1))
                assert abs((up - down) / (2 * step) - found[i]) < 1e-6 * (1 + abs(found[i]))
