"""Initializers: TensorFlow's values, configs, parts of variables, and refusals. Values for given seeds are in
`test_golden_random.py`.
"""

import numpy as np
import pytest

import dynrnn.tf1 as tf


def run(fetches: object) -> object:
    with tf.Session() as sess:
        return sess.run(fetches)


CONFIGS = {
    "zeros_initializer": {"dtype": "float32"},
    "ones_initializer": {"dtype": "float32"},
    "constant_initializer": {"value": 0, "dtype": "float32"},
    "random_uniform_initializer": {"minval": 0.0, "maxval": None, "seed": None, "dtype": "float32"},
    "random_normal_initializer": {"mean": 0.0, "stddev": 1.0, "seed": None, "dtype": "float32"},
    "truncated_normal_initializer": {"mean": 0.0, "stddev": 1.0, "seed": None, "dtype": "float32"},
    "uniform_unit_scaling_initializer": {"factor": 1.0, "seed": None, "dtype": "float32"},
    "variance_scaling_initializer": {
        "scale": 1.0,
        "mode": "fan_in",
        "distribution": "truncated_normal",
        "seed": None,
        "dtype": "float32",
    },
    "orthogonal_initializer": {"gain": 1.0, "seed": None, "dtype": "float32"},
    "glorot_uniform_initializer": {"seed": None, "dtype": "float32"},
    "glorot_normal_initializer": {"seed": None, "dtype": "float32"},
}


@pytest.mark.parametrize("name", CONFIGS)
def test_configs_are_tensorflows_and_make_the_initializer_again(name: str):
    made = getattr(tf, name)()
    assert made.get_config() == CONFIGS[name]
    assert type(made).from_config(made.get_config()).get_config() == CONFIGS[name]


@pytest.mark.parametrize("name", CONFIGS)
def test_both_names_are_one_class(name: str):
    assert getattr(tf.initializers, name.removesuffix("_initializer")) is getattr(tf, name)


ALL = {
    "zeros": lambda: tf.zeros_initializer(),
    "ones": lambda: tf.ones_initializer(),
    "constant": lambda: tf.constant_initializer(0.5),
    "random_uniform": lambda: tf.random_uniform_initializer(-1, 1),
    "random_normal": lambda: tf.random_normal_initializer(),
    "truncated_normal": lambda: tf.truncated_normal_initializer(),
    "unit_scaling": lambda: tf.uniform_unit_scaling_initializer(),
    "variance_scaling": lambda: tf.variance_scaling_initializer(),
    "orthogonal": lambda: tf.orthogonal_initializer(),
    "identity": lambda: tf.initializers.identity(),
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_initializer_serves_many_graphs_and_forms_of_a_shape(name: str, dtype: str):
    made = ALL[name]()
    for shape in ([3, 4], (3, 4), tf.TensorShape([3, 4]), [tf.Dimension(3), 4]):
        with tf.Graph().as_default():
            x = made(shape, dtype=dtype)
            assert x.shape.as_list() == [3, 4] and x.dtype == dtype
            assert run(x).shape == (3, 4)


@pytest.mark.parametrize("name", ["zeros_initializer", "ones_initializer", "constant_initializer"])
@pytest.mark.parametrize("dtype", ["int32", "bool", "float16", "bfloat16"])
def test_constants_may_have_any_dtype(name: str, dtype: str):
    made = getattr(tf, name)(**({"value": True} if name.startswith("constant") and dtype == "bool" else {}))
    x = made([2], dtype)
    assert x.dtype == dtype
    run(x)


def test_the_dtype_of_the_constructor_counts_where_the_call_gives_none():
    assert tf.zeros_initializer(tf.int64)([2]).dtype == tf.int64
    assert tf.random_normal_initializer(dtype=tf.float64)([2]).dtype == tf.float64
    assert tf.glorot_uniform_initializer(dtype=tf.float64)([2, 2]).dtype == tf.float64


def test_a_constants_items_fill_the_shape():
    assert run(tf.constant_initializer([1, 2, 3])([2, 2])).tolist() == [[1, 2], [3, 3]]
    assert run(tf.constant_initializer(np.arange(4.0))([2, 2])).tolist() == [[0, 1], [2, 3]]
    assert run(tf.constant_initializer(0.25)([2], tf.float64)).tolist() == [0.25, 0.25]
    with pytest.raises(ValueError, match="Too many elements"):
        tf.constant_initializer([1, 2, 3])([2])
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.constant_initializer([1, 2, 3], verify_shape=True)([3, 1])
    with pytest.raises(TypeError, match="int32"):
        tf.constant_initializer(3.5)([2], tf.int32)
    with pytest.raises(TypeError, match="Invalid type for initial value"):
        tf.constant_initializer(object())


def test_a_large_constant_is_not_kept_in_the_graph(fresh_graph: tf.Graph):
    tf.constant_initializer(0.25)([1000, 1000])
    assert all(op.type != "Const" or op.outputs[0].shape.num_elements() < 10 for op in fresh_graph.get_operations())


def test_integers_are_drawn_where_the_dtype_is_one():
    assert set(run(tf.random_uniform_initializer(0, 3)([200], tf.int32)).tolist()) == {0, 1, 2}
    with pytest.raises(ValueError, match="Must specify maxval"):
        tf.random_uniform_initializer()([3], tf.int32)


def test_an_identity_need_not_be_square():
    assert run(tf.initializers.identity(2.0)([2, 3])).tolist() == [[2, 0, 0], [0, 2, 0]]
    assert tf.initializers.identity().get_config() == {"gain": 1.0, "dtype": "float32"}


ERRORS = {
    "identity rank": (lambda: tf.initializers.identity()([2, 2, 2]), "2D"),
    "normal dtype": (lambda: tf.random_normal_initializer(dtype=tf.int32), "Expected floating point type"),
    "unknown size": (lambda: tf.glorot_uniform_initializer()([None, 2]), "not fully defined"),
}


@pytest.mark.parametrize(("call", "words"), ERRORS.values(), ids=ERRORS)
def test_bad_arguments_are_refused(call: object, words: str):
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]
