"""What a session's fetches may be, and the structure of what they return."""

import collections

import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.session import IndexedSlicesValue

Pair = collections.namedtuple("Pair", "a b")


@pytest.fixture
def sess():
    with tf.Session() as session:
        yield session


class _List(list):
    pass


class _Dict(dict):
    pass


STRUCTURES = {
    "dict": (lambda c, d: {"b": c, "a": d}, {"b": 1, "a": 2}),
    "ordered": (
        lambda c, d: collections.OrderedDict([("z", c), ("a", [d])]),
        collections.OrderedDict([("z", 1), ("a", [2])]),
    ),
    "defaultdict": (lambda c, d: collections.defaultdict(list, {"q": c}), collections.defaultdict(list, {"q": 1})),
    "subclass": (lambda c, d: _Dict(q=c), _Dict(q=1)),
    "namedtuple": (lambda c, d: Pair(c, [d]), Pair(1, [2])),
    "nested": (lambda c, d: [{"x": (c, Pair(d, c))}, [d]], [{"x": (1, Pair(2, 1))}, [2]]),
    "list subclass": (lambda c, d: _List([c]), [1]),
    "mixed keys": (lambda c, d: {3: c, "a": d}, {3: 1, "a": 2}),
    "tensor keys": (lambda c, d: {c: d}, None),
    "empty": (lambda c, d: [[], (), {}], [[], (), {}]),
    "nothing": (lambda c, d: (), ()),
    "twice": (lambda c, d: [d, d], [2, 2]),
    "operation": (lambda c, d: [c.op, d], [None, 2]),
    "names": (lambda c, d: ["c:0", b"d:0", "c"], [1, 2, None]),
    "variable": (lambda c, d: [tf.get_default_graph().get_collection("v")[0], c], [3, 1]),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_results_have_the_structure_of_the_fetches(name, sess):
    c, d = tf.constant(1, name="c"), tf.constant(2, name="d")
    v = tf.Variable(3)
    tf.add_to_collection("v", v)
    sess.run(v.initializer)
    make, expected = STRUCTURES[name]
    found = sess.run(make(c, d))
    expected = {c: 2} if expected is None else expected
    assert found == expected and type(found) is type(expected)
    if isinstance(found, dict):
        assert list(found) == list(expected)


def test_slices_come_as_a_named_tuple_also_within_other_structures(sess):
    values, indices = tf.constant([1.0, 2.0]), tf.constant([3, 4])
    found = sess.run(
        collections.OrderedDict(
            a=tf.IndexedSlices(values, indices), b=tf.IndexedSlices(values, indices, tf.constant([5]))
        )
    )
    assert isinstance(found["a"], IndexedSlicesValue) and found["a"].dense_shape is None
    assert found["b"].values.tolist() == [1, 2] and found["b"].indices.tolist() == [3, 4]
    assert found["b"].dense_shape.tolist() == [5]


def test_scalars_come_as_numpy_scalars_and_strings_as_bytes(sess):
    found = sess.run([tf.constant(1.5), tf.constant(3), tf.constant(True), tf.constant("text"), tf.constant(["a"])])
    assert [type(value) for value in found] == [np.float32, np.int32, np.bool_, bytes, np.ndarray]
    assert found[3] == b"text" and found[4].tolist() == [b"a"]


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda c: None, TypeError, "Fetch argument None has invalid type"),
        (lambda c: [c, None], TypeError, "Fetch argument None has invalid type"),
        (
            lambda c: 3.0,
            TypeError,
            "Fetch argument 3.0 has invalid type <class 'float'>, must be a string or Tensor. .Can not convert a float",
        ),
        (lambda c: {c}, TypeError, "Can not convert a set"),
        (lambda c: c.shape, TypeError, "Can not convert a TensorShape"),
        (lambda c: np.array([1.0]), TypeError, "Can not convert a ndarray"),
        (
            lambda c: "z:0",
            ValueError,
            "'z:0' cannot be interpreted as a Tensor. .The name 'z:0' refers to a Tensor which does not exist",
        ),
        (
            lambda c: "z",
            ValueError,
            "'z' cannot be interpreted as a Tensor. .The name 'z' refers to an Operation not in the graph",
        ),
        (lambda c: "c:1", ValueError, "only has 1 outputs"),
        (lambda c: _other(), ValueError, "is not an element of this graph"),
    ],
)
def test_what_cannot_be_fetched_is_refused(make, kind, words, sess):
    with pytest.raises(kind, match=words):
        sess.run(make(tf.constant(1.0, name="c")))


def _other():
    with tf.Graph().as_default():
        return tf.constant(1.0)
