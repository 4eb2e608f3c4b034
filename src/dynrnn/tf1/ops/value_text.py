"""The text of a value in messages: TensorFlow's, which shows some elements in their rows and `...` for the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

_DIGITS = {"float16": (5, 5), "float32": (6, 9), "float64": (15, 17)}


def value_text(array: np.ndarray, limit: int | None) -> str:
    """Return the text of an array in brackets, a number too.

    limit: the number of elements shown (None: 3; negative: all).

    Example:
        >>> import numpy as np
        >>> value_text(np.array([[1, 2], [3, 4]]), None), value_text(np.array(1.5), None)
        ('[[1 2][3...]...]', '[1.5]')
    """
    limit = 3 if limit is None else array.size if limit < 0 else limit
    items = [_item(item, array.dtype) for item in array.reshape(-1)[:limit].tolist()]
    text = _rows(items, array.shape, 0, 0)[0] if array.ndim else "".join(items)
    return f"[{text}{'...' if array.size > limit else ''}]"


def _rows(items: list[str], shape: tuple[int, ...], axis: int, start: int) -> tuple[str, int]:
    """The text of one part of an array, from item `start` on, and the place of the next part's first item."""
    if axis == len(shape) - 1:
        end = start + shape[axis]
        cut = axis > 0 and end > len(items)
        return " ".join(items[start:end]) + ("..." if cut else ""), end
    text = ""
    for _ in range(shape[axis]):
        if start >= len(items):
            break
        part, start = _rows(items, shape, axis + 1, start)
        text += f"[{part}]"
    return text, start


def _item(item: Any, dtype: np.dtype) -> str:
    if isinstance(item, bytes):
        return item.decode(errors="replace")
    if isinstance(item, bool):
        return str(int(item))
    if isinstance(item, float):
        short, exact = _DIGITS.get(dtype.name, (6, 9))
        text = f"{item:.{short}g}"
        return text if dtype.type(text) == dtype.type(item) or item != item else f"{item:.{exact}g}"
    return str(item)
