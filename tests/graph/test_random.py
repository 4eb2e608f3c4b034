"""Streams against values that TensorFlow gave: the golden set, and random_more.npz (made by make_random_more.py)."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynrnn.graph.philox import FLOATS
from dynrnn.graph.random import Stream, op_seeds

GOLDEN = Path(__file__).parents[1] / "golden" / "random"
ARRAYS = np.load(GOLDEN / "random.npz", allow_pickle=False)
DOCUMENT = json.loads((GOLDEN / "random.json").read_text())
CASES = {case["id"]: case for case in DOCUMENT["cases"]}
MORE = np.load(Path(__file__).with_name("random_more.npz"), allow_pickle=False)
MORE_CASES = json.loads(MORE["cases"].item())
# Sine, cosine and logarithm round differently from library to library: a float32 normal number is held to 2e-6, and
# one in a shorter type to a unit in its last place. In float64 an argument's rounding is as far below as the type is.
NORMAL_TOLERANCE = {torch.float64: 1e-14, torch.float32: 2e-6, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}


def uniform(low=0.0, high=1.0):
    def draw(stream, shape, dtype):
        low_, high_ = torch.tensor(low, dtype=dtype), torch.tensor(high, dtype=dtype)
        return stream.uniform(shape, dtype) * (high_ - low_) + low_

    return draw


def normal(mean=0.0, stddev=1.0):
    return lambda stream, shape, dtype: stream.normal(shape, dtype) * stddev + mean


def truncated(mean=0.0, stddev=1.0):
    return lambda stream, shape, dtype: stream.truncated_normal(shape, dtype) * stddev + mean


def integers(low, high):
    return lambda stream, shape, dtype: stream.uniform_int(shape, low, high, dtype)


def shuffled_range(stream, shape, dtype):
    return stream.permutation(shape[0]).to(dtype)


WORDS = integers(-(2**31), 2**31 - 1)
EXACT = {
    "words": WORDS,
    "words_big_seeds": WORDS,
    "uniform_scalar": uniform(),
    "uniform_5": uniform(),
    "uniform_2x3": uniform(-1.0, 2.0),
    "uniform_empty": uniform(),
    "uniform_1000": uniform(),
    "uniform_33x65": uniform(0.0, 10.0),
    "uniform_f64": uniform(),
    "uniform_f16": uniform(),
    "uniform_bf16": uniform(),
    "uniform_i32": integers(-5, 17),
    "uniform_i64": integers(0, 10**12),
    "uniform_seed_zero_zero": uniform(),
    "uniform_negative_seed": uniform(),
    "shuffle_10": shuffled_range,
    "init_uniform": uniform(-0.1, 0.1),
    "init_uniform_variable": uniform(-0.1, 0.1),
    "init_uniform_default": uniform(),
}
CLOSE = {
    "normal_7": normal(),
    "normal_6x11": normal(1.5, 0.25),
    "normal_f64": normal(),
    "normal_f16": normal(),
    "truncated_7": truncated(),
    "truncated_400": truncated(0.0, 0.1),
    "truncated_f64": truncated(),
    "truncated_f16": truncated(),
    "init_normal": normal(0.0, 0.02),
    "init_truncated": truncated(0.0, 0.02),
}
# keep_prob as Python's float and the shape of the random numbers where it is not the input's
DROPOUTS = {
    "dropout_keep": (0.7, None),
    "dropout_rate": (0.7, None),
    "dropout_half": (0.5, None),
    "dropout_noise_shape": (0.6, [5, 1, 4]),
    "dropout_f64": (0.4, None),
    "dropout_f16": (0.4, None),
}


def stream_of(case):
    seeds = op_seeds(case["graph_seed"], case["op_seed"])
    assert seeds == (case["ops"][0]["seed"], case["ops"][0]["seed2"])
    return Stream(*seeds)


def golden(array, dtype):
    value = torch.from_numpy(array)
    return value.view(torch.bfloat16) if dtype == torch.bfloat16 else value


def assert_close(got, want):
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    error = (got - want).abs().double() / want.abs().double().clamp(min=1.0)
    assert error.numel() == 0 or error.max() <= NORMAL_TOLERANCE[want.dtype]


def assert_equal(got, want):
    torch.testing.assert_close(got, want, rtol=0, atol=0)


@pytest.mark.parametrize("name", EXACT)
def test_integers_and_uniforms_are_tensorflows_bit_for_bit(name):
    case = CASES[name]
    stream, dtype = stream_of(case), getattr(torch, case["dtype"])
    for key in case["runs"]:
        assert_equal(EXACT[name](stream, case["shape"], dtype), golden(ARRAYS[key], dtype))


@pytest.mark.parametrize("name", CLOSE)
def test_normals_are_tensorflows(name):
    case = CASES[name]
    stream, dtype = stream_of(case), getattr(torch, case["dtype"])
    for key in case["runs"]:
        assert_close(CLOSE[name](stream, case["shape"], dtype), golden(ARRAYS[key], dtype))


@pytest.mark.parametrize("name", DROPOUTS)
def test_dropout_masks_are_tensorflows_bit_for_bit(name):
    case = CASES[name]
    keep, noise_shape = DROPOUTS[name]
    inputs = torch.from_numpy(ARRAYS[case["x_key"]])
    stream, rate = stream_of(case), 1 - keep
    for key in case["runs"]:
        kept = stream.uniform(noise_shape or inputs.shape, inputs.dtype) >= torch.tensor(rate, dtype=inputs.dtype)
        scaled = inputs * torch.tensor(1 / (1 - rate), dtype=inputs.dtype)
        assert_equal(torch.where(kept, scaled, 0.0), torch.from_numpy(ARRAYS[key]))


def test_golden_cases_are_all_known_here_or_are_initializers():
    rest = set(CASES) - set(EXACT) - set(CLOSE) - set(DROPOUTS) - {"dropout_keep_one"}
    assert all(name.startswith("init_") for name in rest)


@pytest.mark.parametrize("case", MORE_CASES, ids=lambda case: f"{case['method']}-{case['dtype']}")
def test_executions_follow_tensorflows_when_shapes_change(case):
    stream = Stream(*op_seeds(*case["seeds"]))
    dtype = getattr(torch, case["dtype"]) if case["dtype"] else None
    for call, key in zip(case["calls"], case["keys"], strict=True):
        args = [torch.from_numpy(MORE[arg["key"]]) if isinstance(arg, dict) else arg for arg in call]
        got = getattr(stream, case["method"])(*args, *([dtype] if dtype else []))
        check = assert_close if "normal" in case["method"] else assert_equal
        check(got, golden(MORE[key], dtype))


@given(
    steps=st.integers(0, 5),
    shape=st.lists(st.integers(0, 5), max_size=3),
    dtype=st.sampled_from(FLOATS),
    before=st.integers(0, 9),
)
def test_uniform_steps_are_executions_one_after_another(steps, shape, dtype, before):
    at_once, one_by_one = Stream(1, 2), Stream(1, 2)
    for stream in (at_once, one_by_one):
        stream.uniform([before], torch.float32)
    want = [one_by_one.uniform(shape, dtype) for _ in range(steps)]
    assert_equal(
        at_once.uniform_steps(steps, shape, dtype), torch.stack(want) if want else torch.empty(0, *shape).to(dtype)
    )
    assert_equal(at_once.uniform([3], dtype), one_by_one.uniform([3], dtype))


@given(n=st.integers(0, 200), seed=st.integers(0, 2**31 - 1))
def test_permutation_holds_every_row_once(n, seed):
    assert sorted(Stream(seed, 1).permutation(n).tolist()) == list(range(n))


def test_truncated_normals_are_below_two_and_spread_as_they_should():
    got = Stream(1, 2).truncated_normal([100000], torch.float64)
    assert got.abs().max() < 2
    # The standard deviation of a normal cut at 2 is 0.8796; six standard errors of 100000 draws are about 0.01.
    assert got.std().item() == pytest.approx(0.87962566, abs=0.01)


def test_streams_with_other_seeds_differ():
    draws = [Stream(*seeds).uniform([4], torch.float32).tolist() for seeds in ((1, 2), (2, 1), (1, 3), (1, 2))]
    assert draws[0] == draws[3]
    assert len({tuple(draw) for draw in draws}) == 3


def test_categorical_never_draws_a_class_of_probability_zero():
    logits = torch.tensor([[0.0, -torch.inf, 0.0]]).requires_grad_()
    assert set(Stream(1, 2).categorical(logits, 200).flatten().tolist()) == {0, 2}


@pytest.mark.parametrize("pair", DOCUMENT["get_seed"], ids=lambda pair: f"{pair['graph_seed']}-{pair['op_seed']}")
def test_op_seeds_are_tensorflows(pair):
    assert op_seeds(pair["graph_seed"], pair["op_seed"]) == (pair["seed"], pair["seed2"])


@pytest.mark.parametrize(
    ("graph_seed", "op_seed", "want"),
    [
        (2**31 - 1, 2**31 - 1, (0, 2**31 - 1)),  # both wrap to 0, which is no pair to run with
        (2**31 - 2, -1, (2**31 - 2, 2**31 - 2)),
        (None, 2**31 - 1, (87654321, 0)),
        (1, None, None),
        (None, None, None),
    ],
)
def test_op_seeds_at_their_ends(graph_seed, op_seed, want):
    assert op_seeds(graph_seed, op_seed) == want


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda s: s.uniform([2], torch.int32),
            "uniform: dtype must be one of float16, bfloat16, float32, float64, got",
        ),
        (lambda s: s.normal([2], torch.complex64), "normal: dtype must be one of .* got torch.complex64"),
        (lambda s: s.truncated_normal([2], torch.int64), "truncated_normal: dtype must be one of .* got torch.int64"),
        (
            lambda s: s.uniform_int([2], 0, 3, torch.int8),
            "uniform_int: dtype must be one of int32, int64, got torch.int8",
        ),
        (lambda s: s.uniform([2, -1], torch.float32), r"uniform: sizes must be at least 0, got \[2, -1\]"),
        (lambda s: s.uniform_steps(-1, [2], torch.float32), r"uniform: sizes must be at least 0, got \[-1\]"),
        (lambda s: s.uniform_int([2], 5, 5, torch.int32), "uniform_int: need .* got low 5, high 5"),
        (lambda s: s.uniform_int([2], 0, 2**31, torch.int32), "uniform_int: need .* got low 0, high 2147483648"),
        (lambda s: s.permutation(-1), r"permutation: sizes must be at least 0, got \[-1\]"),
        (lambda s: s.categorical(torch.zeros(3), 2), r"categorical: logits must have shape .* got \[3\]"),
        (lambda s: s.categorical(torch.zeros(2, 0), 2), r"categorical: logits must have shape .* got \[2, 0\]"),
    ],
)
def test_bad_arguments_are_named_and_draw_nothing(call, message):
    stream = Stream(1, 2)
    with pytest.raises(ValueError, match=message):
        call(stream)
    assert_equal(stream.uniform([3], torch.float32), Stream(1, 2).uniform([3], torch.float32))
