"""Philox 4x32-10, a counter-based random generator, and the numbers made of its words.

Here: words for given counters, and uniform and normal numbers for given words, all vectorized in numpy.
Not here: which counters one execution of an operation reads (`random.py`).

The generator is that of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
The conversions follow TensorFlow's CPU kernels of RandomUniform, RandomStandardNormal and TruncatedNormal.
"""

import numpy as np
import torch

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_MASK = 0xFFFFFFFF
_LOW = np.uint64(_MASK)
_HALF = np.uint64(32)
# Counters a pass: the pass's arrays of 8-byte numbers then stay in the second-level cache.
_PASS = 8192

# dtype: (unsigned type of its bits, mantissa bits, bits of 1.0)
_FORMATS: dict[torch.dtype, tuple[type[np.unsignedinteger], int, int]] = {
    torch.float16: (np.uint16, 10, 0x3C00),
    torch.bfloat16: (np.uint16, 7, 0x3F80),
    torch.float32: (np.uint32, 23, 0x3F800000),
    torch.float64: (np.uint64, 52, 0x3FF0000000000000),
}
FLOATS = tuple(_FORMATS)
# The smallest number whose logarithm the Box-Muller transform takes.
_SMALLEST = 1e-7


def words(key: int, counters: np.ndarray, high: int) -> np.ndarray:
    """Return the four 32-bit words of each counter.

    A block's counter is 128 bits, the given 64-bit number below and `high` above; ten rounds of
    `c0, c1, c2, c3 = hi(M1 * c2) ^ c1 ^ k0, lo(M1 * c2), hi(M0 * c0) ^ c3 ^ k1, lo(M0 * c0)` mix it, where the key's
    two halves k0 and k1 grow by a constant from round to round.

    Args:
        key: 64-bit key; of a larger or negative number the low 64 bits.
        counters: uint64 `[...]`, the counters' low halves.
        high: the counters' common high half, taken as `key` is.

    Returns:
        uint32 `[..., 4]`.

    Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", Philox4x32-10.

    Example:
        >>> [hex(word) for word in words(0, np.zeros(1, np.uint64), high=0)[0]]
        ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    flat = counters.reshape(-1)
    out = np.empty((flat.size, 4), np.uint32)
    for start in range(0, flat.size, _PASS):
        _mix(key, flat[start : start + _PASS], high, out[start : start + _PASS])
    return out.reshape(*counters.shape, 4)


def _mix(key: int, counters: np.ndarray, high: int, out: np.ndarray) -> None:
    key0, key1 = key & _MASK, key >> 32 & _MASK
    c0, c1 = counters & _LOW, counters >> _HALF
    c2, c3 = np.full_like(c0, high & _MASK), np.full_like(c0, high >> 32 & _MASK)
    product0, product1 = np.empty_like(c0), np.empty_like(c0)
    for _ in range(_ROUNDS):
        np.multiply(c0, _MULTIPLIERS[0], out=product0)
        np.multiply(c2, _MULTIPLIERS[1], out=product1)
        _fold(product1, c1, key0, out=c0)
        _fold(product0, c3, key1, out=c2)
        # The products' high halves ride along in c1 and c3: `_fold` and the last assignments drop them.
        c1, product1 = product1, c1
        c3, product0 = product0, c3
        key0, key1 = key0 + _KEY_STEPS[0] & _MASK, key1 + _KEY_STEPS[1] & _MASK
    for column, word in enumerate((c0, c1, c2, c3)):
        np.copyto(out[:, column], word, casting="unsafe")


def _fold(product: np.ndarray, word: np.ndarray, key: int, *, out: np.ndarray) -> None:
    np.right_shift(product, _HALF, out=out)
    np.bitwise_xor(out, word, out=out)
    np.bitwise_xor(out, np.uint64(key), out=out)
    np.bitwise_and(out, _LOW, out=out)


def word_pairs(numbers: np.ndarray) -> np.ndarray:
    """Join neighbouring 32-bit words to 64 bits, the first below.

    Args:
        numbers: uint32 `[..., 2 n]`.

    Returns:
        uint64 `[..., n]`.

    Source: TensorFlow's RandomUniformInt for int64.

    Example:
        >>> word_pairs(np.array([1, 2], np.uint32)).tolist()
        [8589934593]
    """
    return numbers[..., 0::2] | numbers[..., 1::2].astype(np.uint64) << _HALF


def uniform(numbers: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    """Return numbers in [0, 1) whose significand bits are the low bits of a word.

    They are the bits of 1.m, less 1. float64 takes two words: the first one's low 20 bits above the second.

    Args:
        numbers: uint32 `[..., n]`; for float64 `[..., 2 n]`. Overwritten for float32.
        dtype: one of `FLOATS`.

    Returns:
        `[..., n]` of that dtype.

    Source: TensorFlow's RandomUniform.

    Example:
        >>> uniform(np.array([0, 1 << 22], np.uint32), torch.float32).tolist()
        [0.0, 0.5]
    """
    kind, mantissa, one = _FORMATS[dtype]
    if kind is np.uint64:
        numbers = numbers[..., 0::2].astype(np.uint64) << _HALF | numbers[..., 1::2]
    bits = numbers.astype(kind, copy=False)
    np.bitwise_and(bits, kind((1 << mantissa) - 1), out=bits)
    np.bitwise_or(bits, kind(one), out=bits)
    return torch.from_numpy(bits.view(f"i{bits.itemsize}")).view(dtype).sub_(1)


def normal(numbers: np.ndarray, dtype: torch.dtype) -> torch.Tensor:
    """Return standard normal numbers, two of each pair (u, v) of uniform ones, by Box and Muller's transform.

    `r = sqrt(-2 log(max(u, 1e-7)))`, then `r sin(2 pi v)` and `r cos(2 pi v)`. float16 and bfloat16 are rounded
    float32.

    Args:
        numbers: uint32 `[..., n]` with n even; for float64 `[..., 2 n]`.
        dtype: one of `FLOATS`.

    Returns:
        `[..., n]` of that dtype, within 2e-6 (float32) of TensorFlow's, whose sine and logarithm round differently.

    Source: TensorFlow's RandomStandardNormal.

    Example:
        >>> normal(np.array([0, 1 << 21], np.uint32), torch.float32).round().abs().tolist()
        [6.0, 0.0]
    """
    real = np.float64 if dtype == torch.float64 else np.float32
    pairs = uniform(numbers, torch.float64 if real is np.float64 else torch.float32).numpy()
    # Functions are taken in float64 and rounded: platforms' own float32 ones differ in the last place.
    wide = np.maximum(pairs[..., 0::2], real(_SMALLEST)).astype(np.float64)
    radius = np.sqrt((-2.0 * np.log(wide).astype(real)).astype(real))
    angle = (2.0 * np.pi * pairs[..., 1::2].astype(np.float64)).astype(real).astype(np.float64)
    out = np.empty_like(pairs)
    np.multiply(np.sin(angle).astype(real), radius, out=out[..., 0::2])
    np.multiply(np.cos(angle).astype(real), radius, out=out[..., 1::2])
    return torch.from_numpy(out).to(dtype)


def small_normals(key: int, regions: np.ndarray, *, high: int, size: int, dtype: torch.dtype) -> torch.Tensor:
    """Return from each region of the counters its first `size` normal numbers below 2 in absolute value.

    Args:
        key: as for `words`.
        regions: uint64 `[regions]`, the counters at which they start.
        high: as for `words`.
        size: how many numbers of each region.
        dtype: one of `FLOATS`; float16 and bfloat16 are rounded after the comparison with 2.

    Returns:
        `[regions, size]` of that dtype.

    Source: TensorFlow's TruncatedNormal.

    Example:
        >>> small_normals(1, np.zeros(1, np.uint64), high=2, size=4, dtype=torch.float32).abs().max().item() < 2
        True
    """
    draw = torch.float64 if dtype == torch.float64 else torch.float32
    out = torch.empty(regions.size, size, dtype=draw)
    pending = np.arange(regions.size)
    blocks = 2  # enough for all but a few regions, which start again with twice as many
    while pending.size:
        counters = regions[pending, None] + np.arange(blocks, dtype=np.uint64)
        candidates = normal(words(key, counters, high).reshape(pending.size, -1), draw)
        small = candidates.abs() < 2
        full = small.sum(1) >= size
        chosen = small & (small.cumsum(1) <= size) & full[:, None]
        out[torch.from_numpy(pending)[full]] = candidates[chosen].reshape(-1, size)
        pending = pending[~full.numpy()]
        blocks *= 2
    return out.to(dtype)
