"""Losses: TensorFlow's gradients where they are not those of the formula, label checks, and refusals."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

LABELS = np.array([[0.5, 0.2, 0.1], [2.0, 0.0, -1.0]])  # rows that do not sum to 1
LOGITS = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]])


def run(fetches: object, feeds: dict | None = None) -> object:
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


def test_softmax_cross_entropy_of_any_labels_has_tensorflows_gradients():
    labels, logits = tf.constant(LABELS), tf.constant(LOGITS)
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    to_labels, to_logits = tf.gradients(loss, [labels, logits])
    second = tf.gradients(to_logits[:, 0], logits)[0]
    values = run([loss, to_labels, to_logits, second])
    # Values of TensorFlow 2.21, which has softmax - labels as the gradient, printed with eight decimals.
    expected = [
        [1.02608477, 6.0658839],
        [[1.40760596, 0.40760596, 2.40760596], [3.0658839, 4.0658839, 0.0658839]],
        [[-0.25527153, 0.46524096, -0.00996943], [-1.95338738, 0.01714783, 1.93623955]],
        [[0.18483645, -0.1628034, -0.02203304], [0.04443989, -0.00079931, -0.04364058]],
    ]
    for value, wanted in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, wanted, atol=1e-8)


def test_only_the_second_version_has_a_gradient_to_the_labels():
    labels, logits = tf.constant(LABELS), tf.constant(LOGITS)
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    assert tf.gradients(loss, labels) == [None]
    again = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    np.testing.assert_array_equal(*run([loss, again]))
    np.testing.assert_array_equal(*run([tf.gradients(loss, logits)[0], tf.gradients(again, logits)[0]]))


def test_labels_are_cast_and_broadcast():
    logits = tf.zeros([2, 3])
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=tf.constant([[1, 0, 0]]), logits=logits)
    assert loss.shape.as_list() == [2]
    np.testing.assert_allclose(run(loss), np.log([3, 3]), rtol=1e-6)
    assert tf.nn.softmax_cross_entropy_with_logits(labels=np.zeros([4, 3]), logits=tf.zeros([4, 3])).dtype == tf.float32


def test_softmax_cross_entropy_takes_any_rank_and_axis():
    labels, logits = np.random.RandomState(0).uniform(size=(2, 2, 3, 4))
    last = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    other = tf.nn.softmax_cross_entropy_with_logits(labels=labels.swapaxes(1, 2), logits=logits.swapaxes(1, 2), dim=1)
    assert last.shape.as_list() == [2, 3]
    np.testing.assert_allclose(*run([last, other]), rtol=1e-14)
    assert tf.nn.softmax_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.0, 0.0]).shape.as_list() == []


def test_halves_are_computed_in_float32():
    logits = tf.constant(LOGITS, tf.float16)
    losses = [
        tf.nn.softmax_cross_entropy_with_logits(labels=np.eye(3)[[2, 0]], logits=logits),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=logits),
    ]
    for loss in run(losses):
        assert loss.dtype == np.float16
        np.testing.assert_array_equal(loss, np.float16([2.40760596, 3.0658839]))


def test_an_impossible_class_that_is_labelled_is_nan_as_in_tensorflow():
    assert np.isnan(run(tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=[[-np.inf, 1.0]])))


def test_sparse_cross_entropy_has_its_values_and_gradient():
    logits = tf.constant(LOGITS)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=logits)
    value, grad = run([loss, tf.gradients(loss, logits)[0]])
    np.testing.assert_allclose(value, [2.40760596, 3.0658839], atol=1e-8)
    np.testing.assert_allclose(
        grad, [[0.24472847, 0.66524096, -0.90996943], [-0.95338738, 0.01714783, 0.93623955]], atol=1e-8
    )


@pytest.mark.parametrize("shape", [(), (2,), (0,), (2, 0), (2, 3), (2, 3, 2)], ids=str)
def test_sparse_cross_entropy_has_the_shape_of_its_labels(shape: tuple[int, ...]):
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=np.ones(shape, np.int64), logits=np.zeros((*shape, 4)))
    assert loss.shape == shape
    np.testing.assert_allclose(run(loss), np.full(shape, np.log(4)), rtol=1e-12)


def test_sparse_cross_entropy_joins_what_is_known_of_the_shapes():
    labels, logits = tf.placeholder(tf.int32, [None, 5]), tf.placeholder(tf.float32, [3, None, None])
    assert tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits).shape.as_list() == [3, 5]


@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_label_that_is_no_class_is_named(wrong: int):
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, wrong], logits=tf.constant(LOGITS))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(loss)
    text = f"Received a label value of {wrong} which is outside the valid range of [0, 3).  Label values: 1 {wrong}"
    assert text in str(caught.value) and caught.value.op is loss.op


def test_sparse_shapes_that_do_not_fit_are_refused_in_a_run():
    labels, logits = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    with pytest.raises(tf.errors.InvalidArgumentError, match="same first dimension"):
        run(loss, {labels: [0, 1], logits: np.zeros([3, 2])})
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one class"):
        run(loss, {labels: [0, 1], logits: np.zeros([2, 0])})


X = np.array([0.0, 0.0, -2.0, 100.0, -1000.0], np.float32)
Z = np.array([0.0, 1.0, 0.3, 1.0, 1.0], np.float32)


def test_sigmoid_cross_entropy_is_tensorflows_at_zero_and_far_out():
    x, z = tf.constant(X), tf.constant(Z)
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x)
    value, (to_x, to_z) = run([loss, tf.gradients(loss, [x, z])])
    np.testing.assert_allclose(value, np.float32([0.6931472, 0.6931472, 0.726928, 0, 1000]), rtol=1e-6, atol=1e-40)
    np.testing.assert_allclose(to_x, np.float32([0.5, -0.5, -0.1807971, 0, -1]), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(to_z, -X)


def test_weighted_cross_entropy_is_tensorflows_at_zero_and_far_out():
    x, z = tf.constant(X), tf.constant(Z)
    loss = tf.nn.weighted_cross_entropy_with_logits(targets=z, logits=x, pos_weight=2.0)
    value, (to_x, to_z) = run([loss, tf.gradients(loss, [x, z])])
    np.testing.assert_allclose(value, np.float32([0.6931472, 1.3862944, 1.3650063, 0, 2000]), rtol=1e-6, atol=1e-40)
    # At 0 TensorFlow takes the slopes of |x| and max(-x, 0) as 0.
    np.testing.assert_allclose(to_x, np.float32([1, 0, -0.44503623, 0, -2]), rtol=1e-6, atol=1e-40)
    np.testing.assert_allclose(to_z, np.float32([0.6931472, 0.6931472, 4.1269283, -100, 2000]), rtol=1e-6)


def test_l2_loss_is_half_the_squared_norm():
    x = tf.constant([1.0, 2.0, 3.0])
    loss = tf.nn.l2_loss(x)
    value, grad = run([loss, tf.gradients(loss, x)[0]])
    assert (loss.name, loss.shape.as_list(), value, grad.tolist()) == ("L2Loss:0", [], 7.0, [1.0, 2.0, 3.0])


def test_names_are_those_of_tensorflow():
    x = tf.zeros([2, 3])
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=x)
    assert sparse.name == "SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits:0"
    assert tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=x).name == "logistic_loss:0"
    assert tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x).name == "softmax_cross_entropy_with_logits_sg:0"


FUNCTIONS = (
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
    "sigmoid_cross_entropy_with_logits",
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_labels_and_logits_must_be_named(name: str):
    function, x = getattr(tf.nn, name), tf.zeros([2, 3])
    with pytest.raises(ValueError, match="named arguments"):
        function(x, x)
    with pytest.raises(ValueError, match="got no logits"):
        function(labels=x)
    with pytest.raises(ValueError, match="got no labels"):
        function(logits=x)


ERRORS = {
    "classes": (
        lambda x: tf.nn.softmax_cross_entropy_with_logits(labels=tf.zeros([2, 4]), logits=x),
        ValueError,
        "Dimensions must be equal",
    ),
    "rank": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1], [2]], logits=x),
        ValueError,
        "Rank mismatch",
    ),
    "shape": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2, 0], logits=x),
        ValueError,
        "Shape mismatch",
    ),
    "scalar": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=1, logits=1.0),
        ValueError,
        "Logits cannot be scalars",
    ),
    "float labels": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1.0, 0.0], logits=x),
        TypeError,
        "float32",
    ),
    "uint8 labels": (
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([2], tf.uint8), logits=x),
        TypeError,
        "uint8",
    ),
    "sigmoid": (
        lambda x: tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros([3]), logits=x),
        ValueError,
        "must have the same shape",
    ),
    "targets": (
        lambda x: tf.nn.weighted_cross_entropy_with_logits(x, x, 1.0, targets=x),
        ValueError,
        "'labels' and 'targets'",
    ),
    "ints": (lambda x: tf.nn.l2_loss([1, 2]), TypeError, "int32"),
}


@pytest.mark.parametrize(("call", "error", "words"), ERRORS.values(), ids=ERRORS)
def test_what_does_not_fit_is_refused_while_building(call: object, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        call(tf.zeros([2, 3]))  # type: ignore[operator]
