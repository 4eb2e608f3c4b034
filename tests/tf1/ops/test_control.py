"""tf.no_op, tf.group, tf.tuple: names, and what runs before what."""

import pytest

import dynrnn.tf1 as tf


def test_no_op_runs_after_what_it_depends_on():
    v = tf.Variable(1.0)
    with tf.control_dependencies([v.initializer]):
        done = tf.no_op(name="done")
    assert done.name == "done"
    assert tf.no_op().name == "NoOp"
    with tf.Session() as sess:
        assert sess.run(done) is None
        assert sess.run(v) == 1.0


def test_group_runs_everything():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    everything = tf.group(v.initializer, [w.initializer, (tf.constant(1),)])
    assert everything.name == "group_deps"
    assert tf.group(v, name="mine").name == "mine"
    with tf.Session() as sess:
        assert sess.run(everything) is None
        assert sess.run([v, w]) == [1.0, 2.0]


def test_a_group_of_nothing_does_nothing():
    nothing = tf.group()
    assert nothing.name == "group_deps"
    assert nothing.control_inputs == []


def test_a_group_is_made_in_the_graph_of_its_inputs():
    with tf.Graph().as_default() as other:
        x = tf.constant(1.0)
    assert tf.group(x).graph is other


@pytest.mark.parametrize("bad", [None, 3, "x"])
def test_group_takes_what_can_run(bad):
    with pytest.raises(TypeError, match=r"'inputs' of tf\.group should be zero or more"):
        tf.group(bad)


def test_tuple_waits_for_all():
    v = tf.Variable(1.0)
    v2 = v.assign(5.0)
    held = tf.tuple([tf.constant(1.0), None, v2])
    assert held[1] is None
    assert [t.name for t in (held[0], held[2])] == ["tuple/control_dependency:0", "tuple/control_dependency_1:0"]
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(held[0])
        assert sess.run(v) == 5.0


def test_tuple_waits_for_control_inputs():
    v = tf.Variable(1.0)
    (held,) = tf.tuple([tf.constant(2.0)], control_inputs=[v.initializer])
    with tf.Session() as sess:
        assert sess.run(held) == 2.0
        assert sess.run(v) == 1.0


def test_tuple_keeps_slices():
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
    (held,) = tf.tuple([slices])
    assert isinstance(held, tf.IndexedSlices)
    assert held.indices is slices.indices
    assert held.values is not slices.values


def test_tuple_needs_something_to_wait_for():
    with pytest.raises(ValueError, match="Must have at least one Tensor"):
        tf.tuple([])
    with pytest.raises(TypeError, match="Control input must be an Operation or Tensor"):
        tf.tuple([tf.constant(1)], control_inputs=[3])
