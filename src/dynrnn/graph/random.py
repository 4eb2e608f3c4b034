"""TensorFlow's stateful random operations on a CPU: the same numbers for the same pair of seeds.

Here: a stream, which is what one random op of a session keeps between executions, and the pair of seeds that an op
gets from the graph's seed and its own. Not here: the generator and its conversions (`philox.py`), and what is made of
the draws (ranges, initializers, dropout).
"""

import math
from collections.abc import Sequence

import numpy as np
import torch

from dynrnn.graph import philox

_DEFAULT_GRAPH_SEED = 87654321
_SEED_MODULUS = 2**31 - 1
# Blocks of four words that an op sets aside for each number it returns.
_BLOCKS_A_NUMBER = 256
# Blocks between the places where TruncatedNormal's groups read, for each number of a group.
_REGION_A_NUMBER = 64
_INTEGERS = (torch.int32, torch.int64)


def op_seeds(graph_seed: int | None, op_seed: int | None) -> tuple[int, int] | None:
    """Return the two seeds that a random op runs with, or None for an op without a seed of its own.

    Both are taken modulo 2^31 - 1; a graph without a seed counts as one with TensorFlow's default, 87654321. The pair
    (0, 0), which would mean "no seed", becomes (0, 2^31 - 1).

    Args:
        graph_seed: what `tf.set_random_seed` was given, or None.
        op_seed: the op's `seed` argument, or None.

    Source: `tf.get_seed`, which for an op without a seed counts the graph's ops instead.

    Example:
        >>> op_seeds(None, 5), op_seeds(0, 0), op_seeds(1, None)
        ((87654321, 5), (0, 2147483647), None)
    """
    if op_seed is None:
        return None
    graph = _DEFAULT_GRAPH_SEED if graph_seed is None else graph_seed
    seeds = (graph % _SEED_MODULUS, op_seed % _SEED_MODULUS)
    return (0, _SEED_MODULUS) if seeds == (0, 0) else seeds


class Stream:
    """The random numbers that one op of a session returns, execution by execution.

    Each method is one execution of a TensorFlow op on a CPU: it returns that op's numbers and moves the stream on by as
    much as the op does, 256 blocks a number (RandomShuffle: the blocks it reads). Numbers come in row-major order, a
    block of four 32-bit words after the other. Integers and uniform numbers are TensorFlow's bit for bit; normal ones
    are within 2e-6 relative to max(1, |number|).

    Args:
        seed: the op's attribute `seed`, the generator's key.
        seed2: the op's attribute `seed2`, the high half of its counter.

    Source: TensorFlow's CPU kernels of the ops named at each method, over the generator of Salmon et al. 2011,
    "Parallel random numbers: as easy as 1, 2, 3".

    Example:
        >>> stream = Stream(3, 4)
        >>> stream.uniform([2], torch.float32).shape, stream.permutation(5).sort().values.tolist()
        (torch.Size([2]), [0, 1, 2, 3, 4])
    """

    def __init__(self, seed: int, seed2: int) -> None:
        self.seed = seed
        self.seed2 = seed2
        self._position = 0  # blocks set aside so far

    def uniform(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Return numbers in [0, 1): one execution of RandomUniform.

        Args:
            shape: the result's shape.
            dtype: float16, bfloat16, float32 or float64.

        Raises:
            ValueError: another dtype, or a negative size.

        Example:
            >>> bool((Stream(1, 2).uniform([3, 4], torch.float64) < 1).all())
            True
        """
        return self.uniform_steps(1, shape, dtype).squeeze(0)

    def uniform_steps(self, steps: int, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Return what `steps` executions of RandomUniform return, in order, as `[steps, *shape]`.

        It is `torch.stack([stream.uniform(shape, dtype) for _ in range(steps)])` in one pass, for the dropout masks of
        a whole sequence; `steps` may be 0.

        Args:
            steps: number of executions.
            shape: the shape of one execution's result.
            dtype: float16, bfloat16, float32 or float64.

        Raises:
            ValueError: another dtype, or a negative size or number of steps.

        Example:
            >>> Stream(1, 2).uniform_steps(5, [2, 3], torch.float32).shape
            torch.Size([5, 2, 3])
        """
        _require("uniform", dtype, philox.FLOATS)
        _count("uniform", [steps])
        count = _count("uniform", shape)
        width = 2 if dtype == torch.float64 else 1
        numbers = self._words(steps, count, width)
        return philox.uniform(numbers, dtype).reshape(steps, *shape)

    def normal(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Return standard normal numbers: one execution of RandomStandardNormal.

        Args:
            shape: the result's shape.
            dtype: float16, bfloat16, float32 or float64.

        Raises:
            ValueError: another dtype, or a negative size.

        Example:
            >>> abs(Stream(1, 2).normal([10000], torch.float32).mean().item()) < 0.05
            True
        """
        _require("normal", dtype, philox.FLOATS)
        count = _count("normal", shape)
        # A pair of uniform numbers makes a pair of normal ones, so an odd count reads one more.
        numbers = self._words(1, count, 2 if dtype == torch.float64 else 1, even=True)
        return philox.normal(numbers[0], dtype)[:count].reshape(tuple(shape))

    def truncated_normal(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Return standard normal numbers less than 2 in size: one execution of TruncatedNormal.

        Each group of four numbers (float64: two) has a region of the stream to itself, and takes the first normal
        numbers there that are small enough.

        Args:
            shape: the result's shape.
            dtype: float16, bfloat16, float32 or float64.

        Raises:
            ValueError: another dtype, or a negative size.

        Example:
            >>> bool((Stream(1, 2).truncated_normal([1000], torch.float32).abs() < 2).all())
            True
        """
        _require("truncated_normal", dtype, philox.FLOATS)
        count = _count("truncated_normal", shape)
        start = self._reserve(count * _BLOCKS_A_NUMBER)
        size = 2 if dtype == torch.float64 else 4
        groups = -(-count // size)
        regions = np.uint64(start) + np.arange(groups, dtype=np.uint64) * np.uint64(size * _REGION_A_NUMBER)
        numbers = philox.small_normals(self.seed, regions, high=self.seed2, size=size, dtype=dtype)
        return numbers.reshape(-1)[:count].reshape(tuple(shape))

    def uniform_int(self, shape: Sequence[int], low: int, high: int, dtype: torch.dtype) -> torch.Tensor:
        """Return integers in low ... high - 1: one execution of RandomUniformInt.

        A number is `low + word mod (high - low)`, where a word has as many bits as the dtype; small words are thus
        a little likelier where the range is no power of two.

        Args:
            shape: the result's shape.
            low: smallest number.
            high: one more than the largest number.
            dtype: int32 or int64.

        Raises:
            ValueError: another dtype, a negative size, an empty range, or one that leaves the dtype.

        Example:
            >>> sorted(set(Stream(1, 2).uniform_int([100], -1, 2, torch.int32).tolist()))
            [-1, 0, 1]
        """
        _require("uniform_int", dtype, _INTEGERS)
        count = _count("uniform_int", shape)
        limits = torch.iinfo(dtype)
        if not limits.min <= low < high <= limits.max:
            raise ValueError(
                f"uniform_int: need {limits.min} <= low < high <= {limits.max}, got low {low}, high {high}"
            )
        wide = dtype == torch.int64
        numbers = self._words(1, count, 2 if wide else 1)
        kind = np.uint64 if wide else np.uint32
        bits = (philox.word_pairs(numbers) if wide else numbers) % kind(high - low)
        bits += kind(low % 2 ** (8 * bits.itemsize))  # wraps, as two's complement does
        return torch.from_numpy(bits.view(f"i{bits.itemsize}")).reshape(tuple(shape))

    def permutation(self, n: int) -> torch.Tensor:
        """Return the order in which RandomShuffle puts the n rows of its input, as int64 `[n]`.

        From the front on, row i changes places with row `i + word mod (n - i)`. Of fewer than two rows nothing is drawn
        (nor does TensorFlow draw for an input without elements: such an input is the caller's to return).

        Args:
            n: number of rows, the first dimension.

        Raises:
            ValueError: n is negative.

        Example:
            >>> torch.arange(10, 14)[Stream(1, 2).permutation(4)].sort().values.tolist()
            [10, 11, 12, 13]
        """
        _count("permutation", [n])
        order = np.arange(n)
        if n < 2:
            return torch.from_numpy(order)
        blocks = -(-(n - 1) // 4)
        offsets = self._run(self._reserve(blocks), blocks)[: n - 1] % np.arange(n, 1, -1, dtype=np.uint32)
        rows = order.tolist()
        for i, other in enumerate((offsets + order[:-1]).tolist()):
            rows[i], rows[other] = rows[other], rows[i]
        return torch.tensor(rows)

    def categorical(self, logits: torch.Tensor, num_samples: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        """Return classes drawn with probability proportional to exp(logit): one execution of Multinomial.

        A draw is the number of running sums of `exp(logit - largest logit)` (float64, in class order) that are at most
        `u * their total`, for a uniform float64 u; draws take theirs row after row. A logit that is not finite counts
        as probability 0. TensorFlow gives each thread its own rows and its own start: this is the order of one thread.

        Args:
            logits: `[batch, classes]`, any float dtype, at least one class.
            num_samples: draws a row.
            dtype: int32 or int64.

        Returns:
            `[batch, num_samples]` of that dtype.

        Raises:
            ValueError: logits of another rank or without classes, another dtype, or a negative number of draws.

        Example:
            >>> Stream(1, 2).categorical(torch.tensor([[-50.0, 50.0]]), 3).tolist()
            [[1, 1, 1]]
        """
        _require("categorical", dtype, _INTEGERS)
        _count("categorical", [num_samples])
        if logits.dim() != 2 or logits.shape[1] == 0:
            raise ValueError(f"categorical: logits must have shape [batch, classes > 0], got {list(logits.shape)}")
        batch = logits.shape[0]
        values = logits.detach().to("cpu", torch.float64).numpy()
        finite = np.isfinite(values)
        largest = np.max(values, axis=1, keepdims=True, where=finite, initial=-np.inf)
        weights = np.exp(values - largest, where=finite, out=np.zeros_like(values))
        sums = torch.from_numpy(np.cumsum(weights, axis=1))
        blocks = -(-batch * num_samples // 2)
        # Room is set aside for two numbers a draw, the draws of a row rounded up to a multiple of four.
        start = self._reserve(batch * -(-num_samples // 4) * 8 * _BLOCKS_A_NUMBER)
        draws = philox.uniform(self._run(start, blocks), torch.float64)[: batch * num_samples]
        return torch.searchsorted(sums, draws.reshape(batch, num_samples) * sums[:, -1:], right=True).to(dtype)

    def _reserve(self, blocks: int) -> int:
        start = self._position
        self._position += blocks
        return start

    def _mixed(self, counters: np.ndarray) -> np.ndarray:
        return philox.words(self.seed, counters, high=self.seed2)

    def _run(self, start: int, blocks: int) -> np.ndarray:
        """Return uint32 `[4 * blocks]`, the words of consecutive blocks."""
        return self._mixed(np.uint64(start) + np.arange(blocks, dtype=np.uint64)).reshape(-1)

    def _words(self, steps: int, count: int, width: int, *, even: bool = False) -> np.ndarray:
        """Return uint32 `[steps, count * width]`, the words of `steps` executions for `count` numbers each."""
        wanted = (count + count % 2 if even else count) * width
        blocks = -(-wanted // 4)
        start = self._reserve(steps * count * _BLOCKS_A_NUMBER)
        stride = np.uint64(count * _BLOCKS_A_NUMBER)
        first = np.uint64(start) + np.arange(steps, dtype=np.uint64) * stride
        counters = first[:, None] + np.arange(blocks, dtype=np.uint64)
        return self._mixed(counters).reshape(steps, blocks * 4)[:, :wanted]


def _count(method: str, shape: Sequence[int]) -> int:
    if any(size < 0 for size in shape):
        raise ValueError(f"{method}: sizes must be at least 0, got {list(shape)}")
    return math.prod(shape)


def _require(method: str, dtype: torch.dtype, allowed: Sequence[torch.dtype]) -> None:
    if dtype not in allowed:
        names = ", ".join(str(each).removeprefix("torch.") for each in allowed)
        raise ValueError(f"{method}: dtype must be one of {names}, got {dtype}")
