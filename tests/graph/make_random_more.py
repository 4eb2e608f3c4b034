"""Makes random_more.npz: draws of TensorFlow's random ops that the golden set has not.

Not a test: it needs TensorFlow (`tensorflow-cpu` and `tf-keras` 2.21, with `TF_USE_LEGACY_KERAS=1`), on a CPU.
`python tests/graph/make_random_more.py` writes the file beside itself.

The array `cases` is a JSON list. A case has the method of `Stream` that must give the same numbers, the two values
given to `tf.set_random_seed` and `seed=`, the arguments of consecutive executions of one op in one session, and the
keys of what they returned (bfloat16 as uint16 bit patterns). An argument `{"key": ...}` is an array of the file.
"""

import json
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf

SHAPES = [[3], [10], [2, 2, 2], [], [0, 3], [1], [4, 1, 7]]
INT_RANGES = {
    "int32": [(-1, 2), (-(2**31), 2**31 - 1), (-(2**31), 0), (0, 2**31 - 1), (2**31 - 2, 2**31 - 1), (-77, 1000003)],
    "int64": [(-3, 4), (-(2**63), 2**63 - 1), (-(2**63), 5), (2**62, 2**62 + 10**15), (0, 2**32)],
}
ROWS = [5, 1, 2, 0, 3, 8, 33, 700]


class Recorder:
    """Collects cases and arrays."""

    def __init__(self):
        self.cases = []
        self.arrays = {}

    def add(self, method, seeds, calls, results, *, dtype=None):
        keys = []
        for result in results:
            keys.append(f"case_{len(self.cases)}_{len(keys)}")
            result = np.asarray(result)
            self.arrays[keys[-1]] = result.view(np.uint16) if dtype == "bfloat16" else result
        self.cases.append({"method": method, "seeds": seeds, "calls": calls, "dtype": dtype, "keys": keys})


def executions(build, seeds, feeds):
    """Return the values of one op for each of several feeds, in one session on one thread."""
    with tf.Graph().as_default():
        tf.set_random_seed(seeds[0])
        placeholder, result = build(seeds[1])
        config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        with tf.Session(config=config) as session:
            return [session.run(result, {placeholder: feed}) for feed in feeds]


def draws(recorder):
    """Shapes that change from one execution to the next, and large ones."""
    ops = {"uniform": tf.random_uniform, "normal": tf.random_normal, "truncated_normal": tf.truncated_normal}
    seeds = [101, 202]
    for method, op in ops.items():
        for dtype in ("float16", "bfloat16", "float32", "float64"):

            def build(seed, op=op, dtype=dtype):
                shape = tf.placeholder(tf.int32, [None])
                return shape, op(shape, dtype=dtype, seed=seed)

            for shapes in (SHAPES, [[1021], [3]]):
                recorder.add(method, seeds, [[s] for s in shapes], executions(build, seeds, shapes), dtype=dtype)


def integers(recorder):
    """Ranges at the ends of the type, and a changing shape."""
    seeds = [303, 404]
    for dtype, ranges in INT_RANGES.items():
        for low, high in ranges:

            def build(seed, low=low, high=high, dtype=dtype):
                shape = tf.placeholder(tf.int32, [None])
                return shape, tf.random_uniform(shape, low, high, dtype, seed=seed)

            calls = [[shape, low, high] for shape in SHAPES]
            recorder.add("uniform_int", seeds, calls, executions(build, seeds, SHAPES), dtype=dtype)


def shuffles(recorder):
    """Vectors and matrices; the order of a matrix's rows is read off its first column."""
    seeds = [505, 606]
    for columns in (None, 2):

        def build(seed, columns=columns):
            rows = tf.placeholder(tf.int64, [])
            value = tf.range(rows)
            if columns is not None:
                value = tf.tile(value[:, None], [1, columns])
            shuffled = tf.random_shuffle(value, seed=seed)
            return rows, shuffled if columns is None else shuffled[:, 0]

        recorder.add("permutation", seeds, [[rows] for rows in ROWS], executions(build, seeds, ROWS))


def loops(recorder):
    """One op inside a while loop, a few runs; side by side, iterations would draw in an order of their own."""
    seeds = [707, 808]
    for dtype, shape, steps in (("float32", [2, 3], [6, 1, 4]), ("float16", [5], [3, 2]), ("float64", [3], [4, 2])):

        def build(seed, dtype=dtype, shape=shape):
            limit = tf.placeholder(tf.int32, [])
            empty = tf.TensorArray(dtype, size=limit, element_shape=shape)

            def body(step, values):
                return step + 1, values.write(step, tf.random_uniform(shape, dtype=dtype, seed=seed))

            _, values = tf.while_loop(lambda step, values: step < limit, body, [0, empty], parallel_iterations=1)
            return limit, values.stack()

        calls = [[n, shape] for n in steps]
        recorder.add("uniform_steps", seeds, calls, executions(build, seeds, steps), dtype=dtype)


def categories(recorder):
    """Several rows, logits of minus infinity, changing batch sizes."""
    seeds = [909, 111]
    generator = np.random.RandomState(0)
    for logits_dtype, dtype, samples in (("float32", "int64", 7), ("float64", "int32", 4), ("float16", "int64", 1)):

        def build(seed, logits_dtype=logits_dtype, dtype=dtype, samples=samples):
            logits = tf.placeholder(logits_dtype, [None, None])
            return logits, tf.multinomial(logits, samples, seed=seed, output_dtype=dtype)

        feeds = [(3 * generator.randn(*size)).astype(logits_dtype) for size in ((4, 6), (1, 50), (33, 5))]
        feeds[0][1, 2] = -np.inf
        calls = []
        for feed in feeds:
            key = f"logits_{len(recorder.cases)}_{len(calls)}"
            recorder.arrays[key] = feed
            calls.append([{"key": key}, samples])
        recorder.add("categorical", seeds, calls, executions(build, seeds, feeds), dtype=dtype)


def main():
    tf.disable_v2_behavior()
    recorder = Recorder()
    for part in (draws, integers, shuffles, loops, categories):
        part(recorder)
    path = Path(__file__).with_name("random_more.npz")
    np.savez_compressed(path, cases=np.array(json.dumps(recorder.cases)), **recorder.arrays)


if __name__ == "__main__":
    main()
