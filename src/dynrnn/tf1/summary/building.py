"""Summary operations: `tf.summary.scalar` and its kin, each a bytes scalar that holds a Summary message, and those that
merge them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph.dtype import string
from ...graph.op import Op
from ..export import export
from ..graph import Tensor, atomic, get_default_graph
from ..graph_keys import GraphKeys
from ..ops.apply import apply
from ..ops.convert import convert_to_tensor
from ..scopes import name_scope
from .naming import clean_name, collect, summary_scope
from .rows import AUDIO, BAD_COLOR, HISTOGRAM, IMAGE, MERGE, SCALAR, TENSOR

_ALL = (GraphKeys.SUMMARIES,)
Keys = Sequence[Any] | None


def _add(
    row: Op, name: str, family: str | None, collections: Keys, values: dict[str, Any], attrs: dict[str, Any] | None
) -> Tensor:
    """Add a summary of `values` by the names that the row gives them."""
    with summary_scope(name, family, list(values.values())) as (tag, scope):
        inputs = [convert_to_tensor(tag, name=row.inputs[0].name)]
        for argument in row.inputs[1:]:
            inputs.append(convert_to_tensor(values[argument.name], None, argument.name, argument.fixed))
        return collect(apply(row, inputs, attrs, scope), collections, _ALL)


def at_least_one(row: Op, name: str, value: int) -> int:
    """The argument `name`, an int of 1 or more; ValueError for less."""
    if value < 1:
        raise ValueError(f"Attr '{name}' of '{row.type}' Op passed {value} less than minimum 1.")
    return int(value)


@export("summary.scalar")
@atomic
def scalar(name: str, tensor: Any, collections: Keys = None, family: str | None = None) -> Tensor:
    """Return a summary of a single number, a point of a curve in TensorBoard.

    name: the operation's name; with the name scopes around it, it is the tag under which TensorBoard shows the number.
    What a name may not hold becomes '_'. tensor: a scalar of any real type. collections: keys of the collections that
    the summary joins (default: `[GraphKeys.SUMMARIES]`). family: put before the tag, to show summaries together.

    Raises:
        TypeError: `tensor` is no number. tf.errors.InvalidArgumentError: in a run, `tensor` is no scalar.
        ImportError: in a run, tensorboard is not installed.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> with tf.name_scope("train"):
        ...     loss = tf.summary.scalar("loss", 1.5)
        >>> with tf.Session() as sess:
        ...     print(tf.Summary.FromString(sess.run(loss)).value[0].tag)
        train/loss
    """
    return _add(SCALAR, name, family, collections, {"values": tensor}, None)


@export("summary.histogram")
@atomic
def histogram(name: str, values: Any, collections: Keys = None, family: str | None = None) -> Tensor:
    """Return a summary of how the elements of a tensor are distributed.

    values: a tensor of any shape and real type. The other arguments are those of `tf.summary.scalar`.

    Raises:
        TypeError: `values` are no numbers. tf.errors.InvalidArgumentError: in a run, one of them is not finite.
        ImportError: in a run, tensorboard is not installed.
    """
    return _add(HISTOGRAM, name, family, collections, {"values": values}, None)


@export("summary.image")
@atomic
def image(name: str, tensor: Any, max_outputs: int = 3, collections: Keys = None, family: str | None = None) -> Tensor:
    """Return a summary of pictures, under the tags `<name>/image/0`, `<name>/image/1` ... (`<name>/image` where
    max_outputs is 1).

    tensor: `[batch, height, width, channels]`, uint8 or a float type; 1 channel is gray, 3 are RGB, 4 RGBA. uint8 is
    shown as it is. Floats are scaled in each picture: without negative ones, the largest becomes 255; with them, 0
    becomes 128 and the largest magnitude is 127 away. A pixel that is not finite is red. max_outputs: how many pictures
    of a batch are taken. The other arguments are those of `tf.summary.scalar`.

    Raises:
        TypeError: another dtype. ValueError: max_outputs < 1. tf.errors.InvalidArgumentError: in a run, another shape.
        ImportError: in a run, tensorboard is not installed.
    """
    attrs = {"max_images": at_least_one(IMAGE, "max_images", max_outputs), "bad_color": BAD_COLOR}
    return _add(IMAGE, name, family, collections, {"tensor": tensor}, attrs)


@export("summary.audio")
@atomic
def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Keys = None,
    family: str | None = None,
) -> Tensor:
    """Return a summary of sounds, under the tags `<name>/audio/0`, `<name>/audio/1` ... (`<name>/audio` where
    max_outputs is 1).

    tensor: float32 `[batch, frames, channels]` or `[batch, frames]`, within -1 to 1; what is outside is cut off.
    sample_rate: frames a second, a scalar. max_outputs: how many sounds of a batch are taken. The other arguments are
    those of `tf.summary.scalar`.

    Raises:
        TypeError: a tensor of another dtype. ValueError: max_outputs < 1. tf.errors.InvalidArgumentError: in a run,
        another shape or a sample rate of 0 or less. ImportError: in a run, tensorboard is not installed.
    """
    attrs = {"max_outputs": at_least_one(AUDIO, "max_outputs", max_outputs)}
    return _add(AUDIO, name, family, collections, {"tensor": tensor, "sample_rate": sample_rate}, attrs)


@export("summary.text")
@atomic
def text(name: str, tensor: Any, collections: Keys = None) -> Tensor:
    """Return a summary of strings, which TensorBoard shows as text, of rank 1 or 2 as a table.

    name, collections: as in `tf.summary.scalar`.

    Raises:
        ValueError: `tensor` are no strings. ImportError: in a run, tensorboard is not installed.
    """
    words = convert_to_tensor(tensor)
    if words.dtype.base_dtype is not string:
        raise ValueError(f"Expected tensor {words.name} to have dtype string, got {words.dtype}")
    attrs = {"metadata": b"", "fields": {"plugin_data": {"plugin_name": "text"}}}
    return _add(TENSOR, name, None, collections, {"tensor": words}, attrs)


@export("summary.tensor_summary")
@atomic
def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Keys = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """Return a summary of a whole tensor of any type and shape.

    summary_metadata: a tf.SummaryMetadata that goes with it, such as names the plugin of TensorBoard that shows it.
    summary_description, display_name: put into the metadata. The other arguments are those of `tf.summary.scalar`.

    Raises:
        ImportError: in a run, tensorboard is not installed.
    """
    given = {"summary_description": summary_description, "display_name": display_name}
    attrs = {
        "metadata": b"" if summary_metadata is None else summary_metadata.SerializeToString(),
        "fields": {field: value for field, value in given.items() if value is not None},
    }
    return _add(TENSOR, name, family, collections, {"tensor": tensor}, attrs)


@export("summary.merge")
@atomic
def merge(inputs: Sequence[Any], collections: Keys = None, name: str | None = None) -> Tensor:
    """Return one summary that holds the values of several.

    inputs: a list of summaries. collections: keys of collections that the result joins (default: none).

    Raises:
        TypeError: `inputs` is no list of summaries. ValueError: it is empty. tf.errors.InvalidArgumentError: in a run,
        two of them have a tag in common. ImportError: in a run, tensorboard is not installed.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> both = tf.summary.merge([tf.summary.scalar("loss", 1.5), tf.summary.scalar("accuracy", 0.5)])
        >>> with tf.Session() as sess:
        ...     print([value.tag for value in tf.Summary.FromString(sess.run(both)).value])
        ['loss', 'accuracy']
    """
    return merged(inputs, collections, None if name is None else clean_name(name), "Merge")


def merged(inputs: Sequence[Any], collections: Keys, name: str | None, default: str, *, scoped: bool = True) -> Tensor:
    """Merge summaries in the name scope `name` or `default`; scoped: whether the operation's name is one inside of it,
    not the scope's own.
    """
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Expected list for 'inputs' argument to 'MergeSummary' Op, not {inputs!r}.")
    if not inputs:
        raise ValueError("List argument 'inputs' to 'MergeSummary' Op with length 0 shorter than minimum length 1.")
    with name_scope(name, default, inputs) as scope:
        return collect(apply(MERGE, [list(inputs)], None, name if scoped else scope), collections, ())


@export("summary.merge_all")
@atomic
def merge_all(key: Any = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | None:
    """Return one summary that holds the values of all summaries of a collection, None where there are none.

    scope: a pattern; only summaries whose names it matches at their start are merged.

    Raises:
        tf.errors.InvalidArgumentError: in a run, two of them have a tag in common. ImportError: in a run, tensorboard
        is not installed.
    """
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None
