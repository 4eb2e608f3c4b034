"""Summaries under their names of TensorFlow 0.x, where the tag is given and no name scope is put before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..export import export
from ..graph import Tensor, atomic, get_default_graph
from ..graph_keys import GraphKeys
from ..ops.apply import apply
from ..ops.convert import convert_to_tensor
from ..scopes import name_scope
from ..summary.building import at_least_one, merged
from ..summary.file_writer import FileWriter
from ..summary.naming import collect
from ..summary.rows import AUDIO, BAD_COLOR, HISTOGRAM, IMAGE, SCALAR
from .names import CHANGED
from .notice import tell

Keys = Sequence[Any] | None


def _tell(old: str) -> None:
    tell(f"tf.{old}", f"tf.{CHANGED[old]}")


def _add(row: Any, default: str, inputs: list[Any], attrs: Any, collections: Keys, name: str | None) -> Tensor:
    with name_scope(name, default, inputs) as scope:
        tensors = [
            convert_to_tensor(value, None, argument.name, argument.fixed)
            for argument, value in zip(row.inputs, inputs, strict=True)
        ]
        return collect(apply(row, tensors, attrs, scope), collections, [GraphKeys.SUMMARIES])


@export("scalar_summary")
@atomic
def scalar_summary(tags: Any, values: Any, collections: Keys = None, name: str | None = None) -> Tensor:
    """Return a summary of numbers under given tags: two scalars, or two tensors of one shape."""
    _tell("scalar_summary")
    return _add(SCALAR, "ScalarSummary", [tags, values], None, collections, name)


@export("histogram_summary")
@atomic
def histogram_summary(tag: Any, values: Any, collections: Keys = None, name: str | None = None) -> Tensor:
    """`tf.summary.histogram` under its name of TensorFlow 0.x, with the tag as given."""
    _tell("histogram_summary")
    return _add(HISTOGRAM, "HistogramSummary", [tag, values], None, collections, name)


@export("image_summary")
@atomic
def image_summary(
    tag: Any, tensor: Any, max_images: int = 3, collections: Keys = None, name: str | None = None
) -> Tensor:
    """`tf.summary.image` under its name of TensorFlow 0.x, with the tag as given."""
    _tell("image_summary")
    attrs = {"max_images": at_least_one(IMAGE, "max_images", max_images), "bad_color": BAD_COLOR}
    return _add(IMAGE, "ImageSummary", [tag, tensor], attrs, collections, name)


@export("audio_summary")
@atomic
def audio_summary(
    tag: Any,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Keys = None,
    name: str | None = None,
) -> Tensor:
    """`tf.summary.audio` under its name of TensorFlow 0.x, with the tag as given."""
    _tell("audio_summary")
    attrs = {"max_outputs": at_least_one(AUDIO, "max_outputs", max_outputs)}
    return _add(AUDIO, "AudioSummary", [tag, tensor, sample_rate], attrs, collections, name)


@export("merge_summary")
@atomic
def merge_summary(inputs: Any, collections: Keys = None, name: str | None = None) -> Tensor:
    """`tf.summary.merge` under its name of TensorFlow 0.x."""
    _tell("merge_summary")
    return merged(inputs, collections, name, "MergeSummary", scoped=False)


@export("merge_all_summaries")
@atomic
def merge_all_summaries(key: Any = GraphKeys.SUMMARIES) -> Tensor | None:
    """`tf.summary.merge_all` under its name of TensorFlow 0.x."""
    _tell("merge_all_summaries")
    found = get_default_graph().get_collection(key)
    return merged(found, None, None, "MergeSummary", scoped=False) if found else None


@export("train.SummaryWriter")
class SummaryWriter(FileWriter):
    """`tf.summary.FileWriter` under its name of TensorFlow 0.x."""

    def __init__(self, *args: Any, **kwargs: Any):
        _tell("train.SummaryWriter")
        super().__init__(*args, **kwargs)
