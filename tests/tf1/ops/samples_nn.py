"""Samples of activations, softmax, biases, losses, normalization, embeddings, dropout and random numbers."""

import numpy as np
from tf1.ops.samples import Sample

from dynrnn.tf1.export import NAMES as tf  # noqa: N811  (names as a program writes them)
from dynrnn.tf1.ops.nn.dropout import select
from dynrnn.tf1.ops.random.distributions import uniform_steps

X = np.array([[0.5, -1.25, 2.0], [0.1, 3.0, -0.7]])
IMAGE = np.random.RandomState(0).normal(size=(2, 4, 5, 2))
SEQUENCE = np.random.RandomState(1).normal(size=(2, 6, 3))
W = np.random.RandomState(2).normal(size=(3, 4))
B = np.array([0.5, -0.25, 1.0, 2.0])
LABELS = np.array([[0.2, 0.3, 0.5], [1.5, 0.0, -0.5]])


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def cross_entropy(labels: np.ndarray, logits: np.ndarray, axis: int = -1) -> np.ndarray:
    return -(labels * np.log(softmax(logits, axis))).sum(axis)


def sigmoid_loss(labels: np.ndarray, logits: np.ndarray) -> np.ndarray:
    return np.maximum(logits, 0) - logits * labels + np.log1p(np.exp(-np.abs(logits)))


ACTIVATIONS = [
    Sample("Relu", tf["nn.relu"], (X,), lambda x: np.maximum(x, 0)),
    Sample("Relu", tf["nn.relu"], (np.array([-1, 2]),), [0, 2], label="int"),
    Sample("Relu6", tf["nn.relu6"], (4 * X,), lambda x: np.clip(x, 0, 6)),
    Sample("Elu", tf["nn.elu"], (X,), lambda x: np.where(x < 0, np.expm1(x), x)),
    Sample(
        "Selu", tf["nn.selu"], (X,), lambda x: 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(x), x)
    ),
    Sample("Softplus", tf["nn.softplus"], (X,), lambda x: np.log1p(np.exp(x))),
    Sample("Softsign", tf["nn.softsign"], (X,), lambda x: x / (1 + np.abs(x))),
    Sample("LeakyRelu", tf["nn.leaky_relu"], (X,), lambda x: np.where(x > 0, x, 0.2 * x)),
    Sample("CRelu", tf["nn.crelu"], (X,), lambda x: np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], -1)),
    Sample("Softmax", tf["nn.softmax"], (X,), softmax),
    Sample("Softmax", lambda x: tf["nn.softmax"](x, axis=0), (X,), lambda x: softmax(x, 0), label="axis"),
    Sample("LogSoftmax", tf["nn.log_softmax"], (X,), lambda x: np.log(softmax(x))),
    Sample("BiasAdd", tf["nn.bias_add"], (X @ W, B), np.add),
    Sample(
        "BiasAdd",
        lambda x, b: tf["nn.bias_add"](x, b, data_format="NCHW"),
        (IMAGE, B),
        lambda x, b: x + b[:, None, None],
        label="channels_first",
    ),
    Sample("XWPlusB", tf["nn.xw_plus_b"], (X, W, B), lambda x, w, b: x @ w + b),
    Sample("ReluLayer", tf["nn.relu_layer"], (X, W, B), lambda x, w, b: np.maximum(x @ w + b, 0)),
]

LOSSES = [
    Sample(
        "SoftmaxCrossEntropyWithLogits",
        lambda z, x: tf["nn.softmax_cross_entropy_with_logits_v2"](labels=z, logits=x),
        (softmax(X[::-1]), X),
        cross_entropy,
    ),
    Sample(
        "SoftmaxCrossEntropyWithLogits",
        lambda z, x: tf["nn.softmax_cross_entropy_with_logits_v2"](labels=z, logits=x, axis=0),
        (softmax(X[::-1], 0), X),
        lambda z, x: cross_entropy(z, x, 0),
        label="axis",
    ),
    Sample(
        "SparseSoftmaxCrossEntropyWithLogits",
        lambda z, x: tf["nn.sparse_softmax_cross_entropy_with_logits"](labels=z, logits=x),
        (np.array([[0, 2], [1, 1]], np.int32), np.stack([X, -X])),
        lambda z, x: cross_entropy(np.eye(3)[z], x),
    ),
    Sample(
        "SigmoidCrossEntropyWithLogits",
        lambda z, x: tf["nn.sigmoid_cross_entropy_with_logits"](labels=z, logits=x),
        (LABELS, X),
        sigmoid_loss,
    ),
    Sample(
        "WeightedCrossEntropyWithLogits",
        lambda z, x, w: tf["nn.weighted_cross_entropy_with_logits"](labels=z, logits=x, pos_weight=w),
        (LABELS, X, np.array(2.5)),
        lambda z, x, w: sigmoid_loss(0, x) * (1 - z) + w * z * sigmoid_loss(1, x),
    ),
    Sample("L2Loss", tf["nn.l2_loss"], (X,), lambda x: (x * x).sum() / 2),
]

NORMALIZATION = [
    # TensorFlow takes the mean as a constant in the variance's gradient, so that its second derivative is not that of
    # the values.
    Sample("Moments", lambda x: tf["nn.moments"](x, [0]), (X,), lambda x: [x.mean(0), x.var(0)], second=False),
    Sample(
        "Moments",
        lambda x: tf["nn.moments"](x, [0, -1], keep_dims=True),
        (X,),
        lambda x: [x.mean(keepdims=True), x.var(keepdims=True)],
        second=False,
        label="keepdims",
    ),
    Sample(
        "BatchNormalization",
        lambda x, m, v, o, s: tf["nn.batch_normalization"](x, m, v, o, s, 1e-3),
        (X, X[0], X[1] ** 2, X[1], 1 + X[0]),
        lambda x, m, v, o, s: s * (x - m) / np.sqrt(v + 1e-3) + o,
    ),
    Sample(
        "BatchNormalization",
        lambda x, m, v: tf["nn.batch_normalization"](x, m, v, None, None, 1e-3),
        (X, X[0], X[1] ** 2),
        lambda x, m, v: (x - m) / np.sqrt(v + 1e-3),
        label="plain",
    ),
    Sample("ZeroFraction", tf["nn.zero_fraction"], (np.array([0, 1, 0, 2, 3]),), np.float32(0.4), tolerance=1e-7),
]

IDS = np.array([[0, 4], [3, 1]], np.int32)
EMBEDDINGS = [
    Sample(
        "EmbeddingPartition",
        lambda a, b, ids: tf["nn.embedding_lookup"]([a, b], ids),
        (W, -W[:2], IDS),
        lambda a, b, ids: np.stack([a[0], -W[0], a[1], -W[1], a[2]])[ids],
    ),
    Sample(
        "EmbeddingStitch",
        lambda a, b, ids: tf["nn.embedding_lookup"]([a, b], ids, "div"),
        (W, -W[:2], IDS),
        lambda a, b, ids: np.concatenate([a, b])[ids],
        static=("known",),  # "div" needs the parts' sizes
        gradient=False,  # it is made of slices, one for each part
    ),
]

RANDOM = [
    Sample(
        "RandomUniform",
        lambda low: tf["random_uniform"]([3, 2], low, 4.0, "float64", seed=1),
        (np.array(3.0),),
        gradient=False,
    ),
    Sample("RandomUniformInt", lambda: tf["random_uniform"]([3, 2], 0, 4, "int64", seed=1)),
    Sample("RandomUniformSteps", lambda: uniform_steps(4, [3, 2], seed=1)),
    Sample(
        "RandomStandardNormal",
        lambda mean: tf["random_normal"]([3, 2], mean, dtype="float64"),
        (np.array([3.0, 4.0]),),
        gradient=False,
    ),
    Sample("TruncatedNormal", lambda: tf["truncated_normal"]([3, 2])),
    Sample("RandomShuffle", tf["random_shuffle"], (X,)),
    Sample("RandomShuffle", tf["random_shuffle"], (np.array(["a", "b"], object),), label="strings"),
    Sample("Multinomial", lambda x: tf["multinomial"](x, 5), (X,)),
    Sample("RandomCrop", lambda x: tf["random_crop"](x, [1, 2]), (X,), gradient=False),
    Sample(
        "RandomGamma", lambda a: tf["random_gamma"]([4], a, dtype="float64"), (np.array([0.5, 2.0]),), gradient=False
    ),
    Sample("RandomPoissonV2", lambda lam: tf["random_poisson"](lam, [4]), (np.array([0.5, 20.0]),), gradient=False),
]

NOISE = np.array([[0.1, 0.5, 0.9], [0.41, 0.39, 0.0]])
DROPOUT = [
    Sample("DropoutNoise", lambda x: tf["nn.dropout"](x, 0.5, noise_shape=[None, 1]), (X,), gradient=False),
    Sample("Dropout", lambda x, u: select(x, u, 0.4), (X, NOISE), lambda x, u: np.where(u >= 0.4, x * (1 / 0.6), 0)),
    Sample(
        "DropoutTensorRate",
        select,
        (X, NOISE, np.array(0.45)),
        lambda x, u, rate: np.where(u >= rate, x / (1 - rate), 0),
    ),
    Sample("OneMinus", lambda x, keep: tf["nn.dropout"](x, keep), (X, np.array(0.5)), gradient=False),
]

WINDOWS = [
    Sample("Conv1D", lambda x, w: tf["nn.conv1d"](x, w, 2, "SAME"), (SEQUENCE, W.reshape(2, 3, 2))),
    Sample(
        "Conv2D",
        lambda x, w: tf["nn.conv2d"](x, w, [1, 2, 1, 1], "SAME"),
        (IMAGE, np.ones((2, 3, 2, 1)) * [[1.0], [0.5]]),
    ),
    Sample(
        "Conv2D",
        lambda x, w: tf["nn.conv2d"](x, w, 1, "VALID", dilations=2),
        (IMAGE, W.reshape(2, 1, 2, 3)),
        label="dilated",
    ),
    Sample("Conv3D", lambda x, w: tf["nn.conv3d"](x, w, [1] * 5, "VALID"), (IMAGE[None], W.reshape(1, 2, 1, 2, 3))),
    Sample(
        "DepthwiseConv2dNative",
        lambda x, w: tf["nn.depthwise_conv2d"](x, w, [1] * 4, "VALID"),
        (IMAGE, W.reshape(2, 1, 2, 3)),
    ),
    Sample(
        "Conv2DBackpropInput",
        lambda x, w: tf["nn.conv2d_transpose"](x, w, [2, 7, 9, 3], [1, 2, 2, 1]),
        (IMAGE, W.reshape(2, 1, 3, 2)),
    ),
    Sample("MaxPool", lambda x: tf["nn.max_pool"](x, [1, 2, 3, 1], [1, 2, 2, 1], "SAME"), (IMAGE,)),
    Sample("AvgPool", lambda x: tf["nn.avg_pool"](x, [1, 2, 3, 1], [1, 2, 2, 1], "SAME"), (IMAGE,)),
]

SAMPLES = ACTIVATIONS + LOSSES + NORMALIZATION + EMBEDDINGS + RANDOM + DROPOUT + WINDOWS
