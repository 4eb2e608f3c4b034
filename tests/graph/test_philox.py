"""The generator against published test vectors, and the conversions of words at their ends."""

import math

import numpy as np
import pytest
import torch

from dynrnn.graph import philox

ALL_ONES = np.full(4, 2**32 - 1, np.uint32)


def halves(first: int, second: int) -> int:
    return first | second << 32


# Words in counter and key order, from the authors' Random123 distribution (known answers of philox4x32-10).
@pytest.mark.parametrize(
    ("counter", "key", "want"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_words_are_the_published_ones(counter, key, want):
    low = np.array([halves(*counter[:2])], np.uint64)
    got = philox.words(halves(*key), low, high=halves(*counter[2:]))
    assert got.tolist() == [list(want)]


def test_words_do_not_depend_on_how_counters_are_arranged():
    counters = np.arange(3 * 8195, dtype=np.uint64).reshape(3, 8195)  # more than one pass, the last one short
    got = philox.words(7, counters, high=9)
    assert got.shape == (3, 8195, 4)
    one_by_one = [philox.words(7, counters[i, j : j + 1], high=9)[0] for i, j in ((0, 0), (1, 0), (2, 8194))]
    assert np.array_equal(got[[0, 1, 2], [0, 0, 8194]], one_by_one)


def test_words_leave_the_counters_alone():
    counters = np.arange(5, dtype=np.uint64)
    philox.words(1, counters, high=2)
    assert counters.tolist() == [0, 1, 2, 3, 4]


def test_word_pairs_put_the_first_word_below():
    assert philox.word_pairs(np.array([[1, 2], [3, 0]], np.uint32)).tolist() == [[1 + 2 * 2**32], [3]]


@pytest.mark.parametrize(
    ("dtype", "bits"), [(torch.float16, 10), (torch.bfloat16, 7), (torch.float32, 23), (torch.float64, 52)]
)
def test_uniform_reaches_from_zero_to_just_below_one(dtype, bits):
    assert philox.uniform(np.zeros(4, np.uint32), dtype).eq(0).all()
    got = philox.uniform(ALL_ONES.copy(), dtype)
    assert got.dtype == dtype
    assert got.eq(1 - 2.0**-bits).all()


@pytest.mark.parametrize("dtype", philox.FLOATS)
def test_normal_is_finite_for_the_smallest_uniform_number(dtype):
    got = philox.normal(np.zeros(4, np.uint32), dtype)
    assert got.dtype == dtype
    assert got[0] == 0
    # u = 0 counts as 1e-7; the types' own roundings are the tolerance.
    assert got[1].item() == pytest.approx(math.sqrt(-2 * math.log(1e-7)), rel=torch.finfo(dtype).eps)
