import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def parts(made):
    return tf.Session().run(tf.sparse_tensor_to_dense(made, "-")).tolist()


# What TensorFlow 2.21 gives for these calls, dense.
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: tf.string_split(["a b  c", "", "d e"]), [[b"a", b"b", b"c"], [b"-"] * 3, [b"d", b"e", b"-"]]),
        (lambda: tf.string_split(["a  c", ""], skip_empty=False), [[b"a", b"", b"c"], [b"-", b"-", b"-"]]),
        (lambda: tf.string_split(["a,b-c", "d"], ",-"), [[b"a", b"b", b"c"], [b"d", b"-", b"-"]]),
        (lambda: tf.string_split(["ab", "c"], ""), [[b"a", b"b"], [b"c", b"-"]]),
        (lambda: tf.string_split(["a\tb"]), [[b"a\tb"]]),
        (lambda: tf.string_split(["a<b>c"], delimiter="<>"), [[b"a", b"b", b"c"]]),
        (lambda: tf.strings.split(["a b  c", ""]), [[b"a", b"b", b"c"], [b"-"] * 3]),
        (lambda: tf.strings.split(["a  c", ""], sep=" "), [[b"a", b"", b"c"], [b"", b"-", b"-"]]),
        (lambda: tf.strings.split(["a<>b<>c"], sep="<>", maxsplit=1), [[b"a", b"b<>c"]]),
        (lambda: tf.string_split(tf.constant([], tf.string)), []),
    ],
)
def test_strings_are_split_as_tensorflow_does(call, expected):
    assert parts(call()) == expected


def test_static_shapes_and_names():
    made = tf.string_split(["a"])
    assert [part.shape.as_list() for part in (made.indices, made.values, made.dense_shape)] == [[None, 2], [None], [2]]
    assert made.indices.op.name == "StringSplit/StringSplit"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.string_split(tf.constant("a b")), "Shape must be rank 1 but is rank 0"),
        (lambda: tf.string_split(["a"], tf.placeholder(tf.string)), "delimiter must be a string known while"),
        (lambda: tf.strings.split(["a"], result_type="RaggedTensor"), "result_type must be 'SparseTensor'"),
    ],
)
def test_wrong_arguments_are_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize("split", [tf.string_split, tf.strings.split])
def test_a_list_of_no_strings_is_split(split):
    assert tf.Session().run(split([])).dense_shape.tolist() == [0, 0]
