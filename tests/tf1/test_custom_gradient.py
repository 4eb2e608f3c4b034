import numpy as np
import pytest

import dynrnn.tf1 as tf


@tf.custom_gradient
def softplus(x):
    e = tf.exp(x)
    return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


def values(fetches):
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches)


def test_gradient_is_the_programs():
    x = tf.constant([100.0, 1.0])
    y = softplus(x)
    assert y.name == "IdentityN:0"
    first = tf.gradients(y, x)[0]
    value, slope = values([y, first])
    np.testing.assert_allclose(value, [np.inf, 1.3132616], rtol=1e-6)
    np.testing.assert_allclose(slope, [1.0, 0.7310586], rtol=1e-6)


def test_gradient_has_a_gradient():
    x = tf.constant([1.0, -2.0])
    second = tf.gradients(tf.gradients(softplus(x), x)[0], x)[0]
    sigmoid = 1 / (1 + np.exp([-1.0, 2.0]))
    np.testing.assert_allclose(values(second), sigmoid * (1 - sigmoid), rtol=1e-5)  # float32 and 1 - 1 / (1 + e)


def test_gradient_can_be_clipped_on_its_way():
    clip = tf.custom_gradient(lambda x: (tf.identity(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0)))
    x = tf.constant([1.0, 2.0])
    assert values(tf.gradients(clip(x) * [0.5, 5.0], x)[0]).tolist() == [0.5, 1.0]


def test_several_arguments_and_results():
    f = tf.custom_gradient(lambda x, y: ({"a": x * 2.0, "b": y * 3.0}, lambda da, db: [da + 10.0 * db, None]))
    x, y = tf.constant(1.0), tf.constant(2.0)
    result = f(x, y)
    assert values([result, tf.gradients([result["a"], result["b"]], [x])]) == [{"a": 2.0, "b": 6.0}, [11.0]]
    assert values(tf.gradients(result["a"], x)) == [1.0]


def test_it_works_inside_a_loop():
    x = tf.constant([100.0, 1.0])
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, softplus(a)), [0, x])
    np.testing.assert_allclose(values(tf.gradients(y, x)[0]), [1.0, 0.4753669], rtol=1e-6)


def test_gradient_may_be_taken_inside():
    def doubled(x):
        y = x * x
        return y, lambda dy: 2.0 * dy * tf.gradients(y, x)[0]

    x = tf.constant(3.0)
    assert values(tf.gradients(tf.custom_gradient(doubled)(x), x)) == [12.0]


def test_variables_get_gradients_of_their_own():
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())

    @tf.custom_gradient
    def scaled(x):
        return x * v, lambda dy, variables=None: (dy * 5.0, [dy * 7.0 for _ in variables])

    x = tf.constant([1.0, 2.0])
    by_x, by_v = values(tf.gradients(scaled(x), [x, v]))
    assert (by_x.tolist(), by_v.tolist()) == ([5.0, 5.0], [7.0, 7.0])


def test_variables_without_gradients_are_an_error():
    v = tf.get_variable("v", [2])
    with pytest.raises(TypeError, match=r"must accept keyword argument 'variables'.*'v:0'"):
        tf.custom_gradient(lambda x: (x * v, lambda dy: dy))(tf.constant([1.0, 2.0]))


def test_functions_that_keep_no_promise_are_errors():
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match=r"returned 2 gradients, expected 1"):
        tf.custom_gradient(lambda x: (x * 2.0, lambda dy: (dy, dy)))(x)
    with pytest.raises(TypeError, match="must return a pair"):
        tf.custom_gradient(lambda x: x)(x)
    with pytest.raises(ValueError, match="no keyword arguments, got x"):
        softplus(x=x)
