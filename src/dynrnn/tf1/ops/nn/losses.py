"""Losses of `tf.nn`: cross-entropies and the squared norm. The `tf.losses` namespace is not here."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from .... import errors
from ....graph import rules
from ....graph.op import ANY, FLOATS, INDICES, Op
from ....graph.shape import Dims, TensorShape
from ...export import export
from ...graph import Tensor, atomic, get_default_graph
from ..apply import apply
from ..array.placeholders import stop_gradient
from ..convert import convert_to_tensor
from .activations import as_axis

_HALVES = (torch.float16, torch.bfloat16)


class _SoftmaxCrossEntropy(torch.autograd.Function):
    """Cross-entropy over the last axis. The gradient to the logits is softmax - labels, as in TensorFlow, also where
    labels do not sum to 1.
    """

    @staticmethod
    def forward(ctx: Any, labels: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        log_probs = torch.log_softmax(logits, -1)
        ctx.save_for_backward(labels, logits, log_probs)
        return -(labels * log_probs).sum(-1)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor]:  # type: ignore[override]
        labels, logits, log_probs = ctx.saved_tensors
        if torch.is_grad_enabled():  # this gradient is differentiated: let it depend on the logits
            log_probs = torch.log_softmax(logits, -1)
        grad = grad.unsqueeze(-1)
        return -grad * log_probs if ctx.needs_input_grad[0] else None, grad * (log_probs.exp() - labels)


def _precise(logits: torch.Tensor) -> torch.Tensor:
    return logits.float() if logits.dtype in _HALVES else logits


def _cross_entropy(labels: torch.Tensor, logits: torch.Tensor, axis: int) -> torch.Tensor:
    precise = _precise(logits)
    labels, precise = torch.broadcast_tensors(labels.to(precise.dtype), precise)
    return _SoftmaxCrossEntropy.apply(labels.movedim(axis, -1), precise.movedim(axis, -1)).to(logits.dtype)


def _cross_entropy_dims(inputs: Any, attrs: Any) -> Dims:
    dims = rules.broadcast_dims(inputs[0].dims, inputs[1].dims)
    if dims is None:
        return None
    axis = rules.normal_axis(attrs["axis"], len(dims), "dim")
    return (*dims[:axis], *dims[axis + 1 :])


def _sparse_cross_entropy(labels: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    if labels.shape != logits.shape[:-1]:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"logits and labels must have the same first dimension, got logits shape {list(logits.shape)} and labels "
            f"shape {list(labels.shape)}",
        )
    classes = logits.shape[-1]
    if classes == 0:
        raise errors.InvalidArgumentError(
            None, None, f"Must have at least one class, but got logits shape {list(logits.shape)}"
        )
    flat = labels.reshape(-1).long()
    wrong = flat[(flat < 0) | (flat >= classes)]
    if len(wrong):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Received a label value of {wrong[0].item()} which is outside the valid range of [0, {classes}).  "
            f"Label values: {' '.join(str(label) for label in flat[:30].tolist())}{' ...' if len(flat) > 30 else ''}",
        )
    losses = F.cross_entropy(_precise(logits).reshape(-1, classes), flat, reduction="none")
    return losses.to(logits.dtype).reshape(labels.shape)


def _sparse_dims(inputs: Any, attrs: Any) -> Dims:
    labels, logits = inputs[0].dims, inputs[1].dims
    if logits is None:
        return labels
    if not logits:
        raise ValueError("Logits cannot be scalars - received shape ().")
    if labels is None:
        return logits[:-1]
    if len(labels) != len(logits) - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {len(labels)}) should equal rank of logits minus 1 (received "
            f"{len(logits)}): "
            f"labels {inputs[0].shape}, logits {inputs[1].shape}"
        )
    if not TensorShape(labels).is_compatible_with(logits[:-1]):
        raise ValueError(
            f"Shape mismatch: The shape of labels (received {inputs[0].shape}) should equal the shape of logits "
            "except for the last "
            f"dimension (received {inputs[1].shape})."
        )
    return TensorShape(labels).merge_with(logits[:-1]).tuple


def _sigmoid_cross_entropy(labels: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
    positive = logits >= 0
    softplus = torch.log1p(torch.exp(torch.where(positive, -logits, logits)))
    return torch.where(positive, logits, 0) - logits * labels + softplus


def _weighted_cross_entropy(labels: torch.Tensor, logits: torch.Tensor, pos_weight: torch.Tensor) -> torch.Tensor:
    weight = 1 + (pos_weight - 1) * labels
    softplus = torch.log1p(torch.exp(-logits.abs())) + torch.relu(-logits)
    return (1 - labels) * logits + weight * softplus


def _same_dims(inputs: Any, attrs: Any) -> Dims:
    labels, logits = inputs[:2]
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(f"logits and labels must have the same shape ({logits.shape} vs {labels.shape})")
    return labels.shape.merge_with(logits.shape).tuple


def _weighted_dims(inputs: Any, attrs: Any) -> Dims:
    return rules.broadcast_dims(_same_dims(inputs, attrs), inputs[2].dims)


def _l2_loss(t: torch.Tensor) -> torch.Tensor:
    return (t * t).sum() / 2


_T = {"T": FLOATS}
SOFTMAX_CROSS_ENTROPY = Op(
    "SoftmaxCrossEntropyWithLogits",
    "labels:L logits:T -> T",
    _cross_entropy,
    _cross_entropy_dims,
    types={"L": ANY - {"string", "resource"}, **_T},
)
SPARSE_CROSS_ENTROPY = Op(
    "SparseSoftmaxCrossEntropyWithLogits",
    "labels:L logits:T -> T",
    _sparse_cross_entropy,
    _sparse_dims,
    types={"L": INDICES, **_T},
)
SIGMOID_CROSS_ENTROPY = Op(
    "SigmoidCrossEntropyWithLogits", "labels:T logits:T -> T", _sigmoid_cross_entropy, _same_dims, types=_T
)
WEIGHTED_CROSS_ENTROPY = Op(
    "WeightedCrossEntropyWithLogits",
    "labels:T logits:T pos_weight:T -> T",
    _weighted_cross_entropy,
    _weighted_dims,
    types=_T,
)
L2_LOSS = Op("L2Loss", "t:T -> T", _l2_loss, rules.scalar, types=_T)


def _require_named(function: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ValueError(
            f"Only call `{function}` with named arguments (labels=..., logits=..., ...): their order has changed "
            "between versions of TensorFlow"
        )
    if labels is None or logits is None:
        missing = "labels" if labels is None else "logits"
        raise ValueError(f"Both labels and logits must be provided: {function} got no {missing}.")


@export("nn.softmax_cross_entropy_with_logits")
@atomic
def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int = -1,
    name: str | None = None,
    axis: Any = None,
) -> Tensor:
    """As `softmax_cross_entropy_with_logits_v2`, but the labels count as constants: no gradient flows to them.

    Raises:
        ValueError: labels or logits are given by position, or not at all.
    """
    _require_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with get_default_graph().name_scope(name or "softmax_cross_entropy_with_logits_sg") as scope:
        labels = stop_gradient(labels, name="labels_stop_gradient")
        return apply(
            SOFTMAX_CROSS_ENTROPY,
            [labels, logits],
            {"axis": as_axis("softmax_cross_entropy_with_logits", dim if axis is None else axis)},
            scope,
        )


@export("nn.softmax_cross_entropy_with_logits_v2")
@atomic
def softmax_cross_entropy_with_logits_v2(
    labels: Any = None, logits: Any = None, axis: Any = None, name: str | None = None, dim: Any = None
) -> Tensor:
    """Return -sum(labels * log_softmax(logits)) along `axis`, which is gone in the result.

    labels: rows of probabilities (any numeric dtype; they are cast); logits: a float type, of the same shape or one
    that broadcasts against it. axis: default the last one. The gradient to the logits is softmax(logits) - labels,
    whatever the labels sum to.

    Raises:
        ValueError: the shapes do not fit, or one of the two is missing.

    Source: `tf.nn.softmax_cross_entropy_with_logits_v2`.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.0, 1.0]], logits=[[0.5, 0.5]])
        >>> loss.shape.as_list()
        [1]
    """
    _require_named("softmax_cross_entropy_with_logits", None, labels, logits)
    with get_default_graph().name_scope(name or "softmax_cross_entropy_with_logits") as scope:
        return apply(
            SOFTMAX_CROSS_ENTROPY,
            [labels, logits],
            {"axis": as_axis("softmax_cross_entropy_with_logits", axis, dim)},
            scope,
        )


@export("nn.sparse_softmax_cross_entropy_with_logits")
@atomic
def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """Return -log_softmax(logits)[label] over the last axis of the logits.

    labels: `[...]`, int32 or int64, each in 0 ... classes - 1. logits: `[..., classes]`, a float type. The result has
    the labels' shape.

    Raises:
        ValueError: labels or logits given by position or not at all; ranks or shapes that do not fit. TypeError: labels
        of another dtype. tf.errors.InvalidArgumentError: in run, a label that is no class.
    """
    _require_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with get_default_graph().name_scope(name or "SparseSoftmaxCrossEntropyWithLogits"):
        return apply(SPARSE_CROSS_ENTROPY, [labels, logits])


@export("nn.sigmoid_cross_entropy_with_logits")
@atomic
def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """Return max(x, 0) - x z + log(1 + exp(-|x|)) for each logit x and label z, two tensors of one shape and float
    type.

    Raises:
        ValueError: labels or logits given by position or not at all; different shapes.
    """
    _require_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with get_default_graph().name_scope(name or "logistic_loss") as scope:
        logits = convert_to_tensor(logits, name="logits")
        return apply(SIGMOID_CROSS_ENTROPY, [convert_to_tensor(labels, logits.dtype, "labels"), logits], name=scope)


@export("nn.weighted_cross_entropy_with_logits")
@atomic
def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None, name: str | None = None, targets: Any = None
) -> Tensor:
    """Return the sigmoid cross-entropy in which the term of label 1 counts `pos_weight` times.

        weight = 1 + (pos_weight - 1) z
        loss   = (1 - z) x + weight (log(1 + exp(-|x|)) + max(-x, 0))

    labels z and logits x: one shape and float type; `targets` is the labels' old name. pos_weight broadcasts against
    them.
    """
    if targets is not None:
        if labels is not None:
            raise ValueError("Cannot specify both 'labels' and 'targets'.")
        labels = targets
    _require_named("weighted_cross_entropy_with_logits", None, labels, logits)
    with get_default_graph().name_scope(name or "logistic_loss") as scope:
        logits = convert_to_tensor(logits, name="logits")
        return apply(
            WEIGHTED_CROSS_ENTROPY, [convert_to_tensor(labels, logits.dtype, "labels"), logits, pos_weight], name=scope
        )


@export("nn.l2_loss")
@atomic
def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Return sum(t ** 2) / 2, a scalar of t's float type."""
    return apply(L2_LOSS, [t], name=name)
