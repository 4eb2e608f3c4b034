"""Pictures and sounds as the bytes of files: arrays to PNG and WAV, scaled by TensorFlow's rules for summaries."""

from __future__ import annotations

import io
import wave

import numpy as np

from .protos import needed

_DARK = 1e-6  # a picture whose values are all nearer to 0 than this is shown as one colour
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def png(pixels: np.ndarray) -> bytes:
    """Return the PNG file of uint8 pixels `[height, width, 1, 3 or 4]`."""
    with needed():
        from PIL import Image  # optional, comes with tensorboard: on first need
    height, width, depth = pixels.shape
    file = io.BytesIO()
    Image.frombytes(_MODES[depth], (width, height), pixels.tobytes()).save(file, "PNG")
    return file.getvalue()


def to_pixels(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """Return a float picture `[height, width, depth]` as uint8.

    Without negative values, 0 stays 0 and the largest becomes 255; with them, 0 becomes 128 and the largest magnitude
    is 127 away. A pixel with a value that is not finite becomes `bad_color`.
    """
    finite = np.isfinite(image)
    known = image[finite].astype(np.float32)
    least, most = (known.min(), known.max()) if known.size else (np.float32(0), np.float32(0))
    reach, size, offset = (max(-least, most), 127, 128) if least < 0 else (most, 255, 0)
    scale = np.float32(0) if reach < _DARK else np.float32(size) / np.float32(reach)
    dtype = image.dtype.type
    scaled = np.where(finite, image, dtype(0)) * dtype(scale) + dtype(offset)
    pixels = np.clip(scaled, 0, 255).astype(np.uint8)
    pixels[~finite.all(-1)] = bad_color[: image.shape[-1]]
    return pixels


def wav(samples: np.ndarray, sample_rate: float) -> bytes:
    """Return the WAV file, 16 bits a sample, of samples `[frames, channels]` within -1 to 1; others are cut off."""
    scaled = samples.astype(np.float64) * 32768.0
    rounded = np.trunc(scaled + np.copysign(0.5, scaled))  # halves go away from 0
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(samples.shape[1])
        writer.setsampwidth(2)
        writer.setframerate(int(sample_rate))
        writer.writeframes(np.clip(rounded, -32768, 32767).astype("<i2").tobytes())
    return file.getvalue()
