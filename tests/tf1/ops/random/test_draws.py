"""Where random numbers come from: streams by seed and by name, and fresh ones with the same methods."""

import numpy as np
import pytest
import torch

import dynrnn.tf1 as tf
from dynrnn.graph.executor import Runtime
from dynrnn.graph.random import Stream
from dynrnn.tf1.ops.random.draws import Fresh, generator, sizes, source


def test_a_node_keeps_one_stream_in_a_session():
    node = tf.random_uniform([2], seed=1).op
    runtime = Runtime()
    assert source(node, runtime) is source(node, runtime)
    assert source(node, runtime) is not source(node, Runtime())


def test_seeds_of_programs_never_reach_the_streams_of_unseeded_ops():
    tf.set_random_seed(1)
    stream = source(tf.random_uniform([2]).op, Runtime())
    assert isinstance(stream, Stream) and stream.seed == 1 and stream.seed2 >= 2**32


def test_without_seeds_all_nodes_share_the_sessions_generator():
    first, second = tf.random_uniform([2]).op, tf.random_uniform([2]).op
    runtime = Runtime()
    assert isinstance(source(first, runtime), Fresh)
    assert source(first, runtime).generator is source(second, runtime).generator is generator(first, runtime)


def test_generators_repeat_with_a_seed():
    node = tf.random_gamma([2], 1.0, seed=3).op
    draws = [torch.rand(4, generator=generator(node, Runtime())).tolist() for _ in range(2)]
    assert draws[0] == draws[1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_fresh_numbers_have_the_shapes_types_and_ranges_of_a_streams(dtype: torch.dtype):
    for numbers in (Fresh(torch.Generator().manual_seed(1)), Stream(1, 2)):
        uniform, steps = numbers.uniform([50, 4], dtype), numbers.uniform_steps(3, [50], dtype)
        assert (uniform.shape, steps.shape, uniform.dtype, steps.dtype) == ((50, 4), (3, 50), dtype, dtype)
        assert uniform.min() >= 0 and uniform.max() < 1 and steps.min() >= 0 and steps.max() < 1
        normal, small = numbers.normal([500], dtype), numbers.truncated_normal([500], dtype)
        assert normal.dtype == small.dtype == dtype and small.abs().max() < 2 <= normal.abs().max()


def test_fresh_integers_orders_and_classes_have_the_types_of_a_streams():
    logits = torch.tensor([[0.0, -np.inf, 0.0], [np.inf, 0.0, 0.0]])
    for numbers in (Fresh(torch.Generator().manual_seed(1)), Stream(1, 2)):
        assert set(numbers.uniform_int([100], -1, 2, torch.int32).tolist()) == {-1, 0, 1}
        assert sorted(numbers.permutation(5).tolist()) == [0, 1, 2, 3, 4]
        classes = numbers.categorical(logits, 100, torch.int32)
        assert classes.dtype == torch.int32 and [set(row) for row in classes.tolist()] == [{0, 2}, {1, 2}]
        assert numbers.categorical(logits, 0).shape == (2, 0)


def test_a_negative_size_is_an_error_of_a_run():
    with pytest.raises(tf.errors.InvalidArgumentError, match="-1"):
        sizes(torch.tensor([2, -1]))
