"""The rows of summary operations: each makes the bytes of a Summary message of its tag and its value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ...errors import InvalidArgumentError
from ...graph.dtype import as_dtype, to_numpy
from ...graph.op import REALS, Op
from .histogram import histogram_fields
from .media import png, to_pixels, wav
from .protos import needed, summary_pb2, tensor_pb2

BAD_COLOR = (255, 0, 0, 255)  # of pixels that are not finite: red
IMAGES = frozenset(("uint8", "float16", "float32", "float64"))
Strings = np.ndarray  # of bytes objects


def _scalar(tags: Strings, values: torch.Tensor) -> Strings:
    if tags.shape != tuple(values.shape):
        tag = f" (tag '{_text(tags)}')" if not tags.ndim else ""
        raise InvalidArgumentError(
            None, None, f"tags and values are not the same shape: {list(tags.shape)} != {list(values.shape)}{tag}"
        )
    with np.errstate(over="ignore"):  # a double that is too large is shown as infinite
        numbers = to_numpy(values).reshape(-1).astype(np.float32).tolist()
    pairs = zip(tags.reshape(-1).tolist(), numbers, strict=True)
    return _summary([{"tag": tag.decode(), "simple_value": number} for tag, number in pairs])


def _histogram(tag: Strings, values: torch.Tensor) -> Strings:
    name = _text(tag)
    array = to_numpy(values).astype(np.float64)
    wrong = array[~np.isfinite(array)]
    if wrong.size:
        what = "Nan in summary histogram" if np.isnan(wrong[0]) else "Infinity in Histogram"
        raise InvalidArgumentError(None, None, f"{what} for: {name}: {wrong.size} of {array.size} values")
    return _summary([{"tag": name, "histo": histogram_fields(array)}])


def _image(tag: Strings, tensor: torch.Tensor, max_images: int, bad_color: tuple[int, ...]) -> Strings:
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        raise InvalidArgumentError(
            None, None, f"Tensor must be 4-D with last dim 1, 3, or 4, not {list(tensor.shape)} (tag '{_text(tag)}')"
        )
    images = to_numpy(tensor[:max_images])
    values = []
    for name, image in zip(_names(tag, "image", max_images), images, strict=False):
        pixels = image if image.dtype == np.uint8 else to_pixels(image, np.array(bad_color, np.uint8))
        height, width, depth = pixels.shape
        picture = {"height": height, "width": width, "colorspace": depth, "encoded_image_string": png(pixels)}
        values.append({"tag": name, "image": picture})
    return _summary(values)


def _audio(tag: Strings, tensor: torch.Tensor, sample_rate: torch.Tensor, max_outputs: int) -> Strings:
    if tensor.ndim not in (2, 3):
        raise InvalidArgumentError(
            None, None, f"Tensor must be 3-D or 2-D, got: {list(tensor.shape)} (tag '{_text(tag)}')"
        )
    rate = float(sample_rate)
    if rate <= 0:
        raise InvalidArgumentError(None, None, f"sample_rate must be > 0, got {rate}")
    clips = to_numpy(tensor[:max_outputs])
    values = []
    for name, clip in zip(_names(tag, "audio", max_outputs), clips, strict=False):
        frames = clip if clip.ndim == 2 else clip[:, None]
        sound = {
            "sample_rate": rate,
            "num_channels": frames.shape[1],
            "length_frames": frames.shape[0],
            "encoded_audio_string": wav(frames, rate),
            "content_type": "audio/wav",
        }
        values.append({"tag": name, "audio": sound})
    return _summary(values)


def _tensor(tag: Strings, tensor: Any, metadata: bytes, fields: dict[str, Any]) -> Strings:
    shown = summary_pb2().SummaryMetadata.FromString(metadata)
    shown.MergeFrom(summary_pb2().SummaryMetadata(**fields))
    array = to_numpy(tensor)
    dtype = as_dtype(array.dtype)
    proto = tensor_pb2().TensorProto(dtype=dtype.as_datatype_enum)
    proto.tensor_shape.SetInParent()
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    if dtype.kind == "s":
        proto.string_val.extend(array.reshape(-1).tolist())
    else:
        proto.tensor_content = array.tobytes()
    return _summary([{"tag": _text(tag), "tensor": proto, "metadata": shown}])


def _merge(*inputs: Strings) -> Strings:
    with needed():
        from google.protobuf.message import DecodeError  # optional, comes with tensorboard: on first need
    merged = summary_pb2().Summary()
    tags: set[str] = set()
    for text in inputs:
        try:
            summary = summary_pb2().Summary.FromString(text[()])
        except DecodeError as error:
            raise InvalidArgumentError(None, None, "Could not parse one of the summary inputs") from error
        for value in summary.value:
            if value.tag in tags:
                raise InvalidArgumentError(None, None, f"Duplicate tag {value.tag} found in summary inputs")
            if value.tag:
                tags.add(value.tag)
        merged.MergeFrom(summary)
    return _bytes(merged)


def _names(tag: Strings, kind: str, limit: int) -> Iterator[str]:
    """The tags of one summary's parts."""
    name = _text(tag)
    return iter([f"{name}/{kind}"] if limit == 1 else [f"{name}/{kind}/{i}" for i in range(limit)])


def _text(tag: Strings) -> str:
    if tag.ndim:
        raise InvalidArgumentError(None, None, f"tag must be a scalar, got shape {list(tag.shape)}")
    return tag.item().decode()


def _summary(values: list[dict[str, Any]]) -> Strings:
    return _bytes(summary_pb2().Summary(value=values))


def _bytes(message: Any) -> Strings:
    text = np.empty((), object)
    text[()] = message.SerializeToString()
    return text


def _row(kind: str, signature: str, compute: Any, **types: frozenset[str]) -> Op:
    return Op(kind, signature, compute, lambda inputs, attrs: (), types=types, differentiable=False)


SCALAR = _row("ScalarSummary", "tags:string values:T -> string", _scalar, T=REALS)
HISTOGRAM = _row("HistogramSummary", "tag:string values:T -> string", _histogram, T=REALS)
IMAGE = _row("ImageSummary", "tag:string tensor:T -> string", _image, T=IMAGES)
AUDIO = _row("AudioSummaryV2", "tag:string tensor:float32 sample_rate:float32 -> string", _audio)
TENSOR = _row("TensorSummaryV2", "tag:string tensor:T -> string", _tensor)
MERGE = _row("MergeSummary", "*inputs:string -> string", _merge)
