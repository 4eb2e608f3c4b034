"""Devices and neighbours that are noted on operations (the names are TensorFlow's)."""

import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.devices import canonical


def here():
    """The device of an operation that is made here."""
    return tf.no_op().device


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("/cpu:0", "/device:CPU:0"),
        ("/gpu:0", "/device:GPU:0"),
        ("/GPU:1", "/device:GPU:1"),
        ("cpu:0", "/device:CPU:0"),
        ("/cpu", "/device:CPU:*"),
        ("/cpu:*", "/device:CPU:*"),
        ("/device:GPU:1", "/device:GPU:1"),
        ("/device:cpu:0", "/device:CPU:0"),
        ("/device:XLA_CPU:0", "/device:XLA_CPU:0"),
        ("//cpu:0/", "/device:CPU:0"),
        ("/task:0/job:x", "/job:x/task:0"),
        ("/job:ps/replica:1/task:2/gpu:3", "/job:ps/replica:1/task:2/device:GPU:3"),
        ("", ""),
    ],
)
def test_names_are_written_in_full(name, full):
    assert canonical(name) == full


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("foo", "Unknown attribute 'foo' is encountered while parsing the device spec: 'foo'"),
        ("/cpu:0:1", "Unknown attribute 'cpu'"),
        ("/device:gpu", "Unknown attribute 'device'"),
        ("/gpu:0/cpu:0", "Multiple device types are not allowed while parsing the device spec: /gpu:0/cpu:0"),
    ],
)
def test_names_that_are_none_are_refused(name, match):
    with pytest.raises(ValueError, match=match), tf.device(name):
        pass
    assert here() == ""


def test_inner_names_keep_what_they_do_not_say():
    with tf.device("/job:ps/task:0"):
        with tf.device("/cpu:0"):
            assert here() == "/job:ps/task:0/device:CPU:0"
        with tf.device("/job:worker"):
            assert here() == "/job:worker/task:0"
        with tf.device(""):
            assert here() == "/job:ps/task:0"
        with tf.device(None):
            assert here() == ""
        assert here() == "/job:ps/task:0"
    assert here() == ""


def test_a_function_chooses_for_each_operation():
    with tf.device(lambda op: "/cpu:0" if op.type == "NoOp" else "/gpu:3"):
        assert here() == "/cpu:0"  # as it was given, as in TensorFlow
        assert tf.constant(1.0).device == "/gpu:3"


def test_functions_and_names_are_asked_from_inside_out():
    with tf.device("/job:ps"), tf.device(lambda op: "/gpu:1"):
        assert here() == "/job:ps/device:GPU:1"
    with tf.device("/cpu:0"), tf.device(lambda op: op.device):
        assert here() == "/device:CPU:0"
    with tf.device(lambda op: op.device + "/task:1"), tf.device("/cpu:0"):
        assert here() == "/device:CPU:0/task:1"


def test_a_function_must_return_a_name():
    with tf.device(lambda op: None), pytest.raises(TypeError, match="must return a device's name, a string, got None"):
        tf.no_op()


def test_a_variables_operations_are_where_it_is():
    with tf.device("/job:ps"):
        v = tf.Variable(1.0)
    assert (v.device, v.value().device, v.initializer.device) == ("/job:ps", "/job:ps", "/job:ps")


def test_what_is_placed_beside_an_operation_has_its_device():
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    with tf.device("/gpu:1"), tf.colocate_with(a):
        b = tf.constant(2.0, name="b")
        with tf.colocate_with(None, ignore_existing=True):
            c = tf.constant(3.0, name="c")
    assert (b.device, c.device) == ("/device:CPU:0", "/device:GPU:1")
    assert [x.op.colocation_groups() for x in (a, b, c)] == [[b"loc:@a"], [b"loc:@a"], [b"loc:@c"]]


def test_operations_are_placed_beside_variables_and_operations():
    v = tf.Variable(1.0, name="v")
    for neighbour in (v, v.op):
        with tf.colocate_with(neighbour):
            assert tf.no_op().colocation_groups() == [b"loc:@v"]
    with pytest.raises(TypeError, match="op must be an operation, a tensor or a variable, got 3"), tf.colocate_with(3):
        pass
