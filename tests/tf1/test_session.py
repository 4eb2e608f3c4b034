"""Sessions: default ones, values that are nobody else's, errors, plans, threads."""

import gc
import threading

import numpy as np
import pytest
import torch

import dynrnn.tf1 as tf


@pytest.fixture
def sess():
    with tf.Session() as session:
        yield session


def test_a_session_is_the_default_inside_and_closed_after():
    x = tf.constant(1.0)
    assert tf.get_default_session() is None
    with tf.Session() as sess:
        assert tf.get_default_session() is sess and sess.run(x) == 1
        with sess.as_default() as same:
            assert same is sess
        assert tf.get_default_session() is sess
    assert tf.get_default_session() is None
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        sess.run(x)


def test_a_sessions_graph_is_the_default_inside():
    graph = tf.Graph()
    with tf.Session(graph=graph) as sess:
        assert tf.get_default_graph() is graph is sess.graph
        assert sess.run(tf.constant(1.0)) == 1
    with pytest.raises(TypeError, match=r"graph must be a tf.Graph"):
        tf.Session(graph="graph")


def test_as_default_neither_closes_nor_changes_the_graph():
    graph, before = tf.Graph(), tf.get_default_graph()
    sess = tf.Session(graph=graph)
    for _ in range(2):
        with sess.as_default():
            assert tf.get_default_session() is sess and tf.get_default_graph() is before


def test_a_session_is_entered_once_at_a_time():
    sess = tf.Session()
    with sess, pytest.raises(RuntimeError, match="Session context managers are not re-entrant"):
        sess.__enter__()
    assert tf.get_default_session() is None


def test_an_interactive_session_is_the_default_until_it_is_closed():
    sess = tf.InteractiveSession()
    v = tf.Variable(2.0)
    v.initializer.run()
    assert (v * 3.0).eval() == 6 and tf.get_default_session() is sess
    with tf.Session():
        assert tf.get_default_session() is not sess
    assert tf.get_default_session() is sess
    sess.close()
    assert tf.get_default_session() is None


def test_default_sessions_belong_to_a_thread(sess):
    found = []
    thread = threading.Thread(target=lambda: found.append(tf.get_default_session()))
    thread.start()
    thread.join()
    assert found == [None]


def test_fetching_and_feeding_can_be_prevented(sess, fresh_graph):
    x = tf.placeholder(tf.float32, name="x")
    y = x * 2
    fresh_graph.prevent_fetching(y.op)
    with pytest.raises(ValueError, match="Operation 'mul' has been marked as not fetchable"):
        sess.run(y, {x: 1.0})
    fresh_graph.prevent_feeding(x)
    with pytest.raises(ValueError, match=r"x:0.* may not be fed"):
        sess.run(y + 1, {x: 1.0})


def test_what_is_inside_a_loop_is_out_of_reach(sess):
    inner = []

    class Cell(tf.nn.rnn_cell.BasicRNNCell):
        def call(self, inputs, state):
            inner.append(inputs + 1)
            return super().call(inner[-1], state)

    tf.nn.dynamic_rnn(Cell(2), tf.zeros([1, 3, 2]), dtype=tf.float32)
    with pytest.raises(ValueError, match="has been marked as not fetchable: it has values only inside a loop"):
        sess.run(inner)
    with pytest.raises(ValueError, match="may not be fed: it has values only inside a loop"):
        sess.run([], {inner[0]: [[1.0, 2.0]]})


def test_arrays_that_come_out_are_nobody_elses(sess):
    v = tf.Variable([1.0, 2.0])
    c = tf.constant([3.0, 4.0])
    x = tf.placeholder(tf.float32, [2])
    sess.run(v.initializer)
    fed = np.float32([5, 6])
    fetches = [v, v, v.value(), c, c, x, tf.identity(x)]
    found = sess.run(fetches, {x: fed})
    for array in found:
        array += 100
    assert fed.tolist() == [5, 6]
    assert [array.tolist() for array in sess.run(fetches, {x: fed})] == [[1, 2]] * 3 + [[3, 4]] * 2 + [[5, 6]] * 2
    assert all(array.flags.writeable for array in found)


def test_arrays_that_go_in_are_copied(sess):
    v = tf.Variable([0.0, 0.0])
    x = tf.placeholder(tf.float32, [2])
    fed = np.float32([1, 2])
    sess.run(v.assign(x), {x: fed})
    fed += 100
    assert sess.run(v).tolist() == [1, 2]
    array = np.float32([7, 8])
    c = tf.constant(array)
    array += 100
    assert sess.run(c).tolist() == [7, 8]


def test_values_live_in_the_session():
    v = tf.Variable(1.0)
    first, second = tf.Session(), tf.Session()
    for sess, value in ((first, 5.0), (second, 6.0)):
        sess.run(v.assign(value))
    assert (first.run(v), second.run(v)) == (5, 6)


def test_an_uninitialized_variable_is_named_with_what_to_do(sess):
    first = tf.Variable(1.0, name="first")
    with pytest.raises(
        tf.errors.FailedPreconditionError,
        match=r"Attempting to use uninitialized value first: run tf.global_variables_init",
    ) as info:
        sess.run(first + 1)
    assert info.value.op.name == "first"
    sess.run(tf.global_variables_initializer())
    late = tf.Variable(1.0, name="late")
    with pytest.raises(
        tf.errors.FailedPreconditionError, match=r"late: it was created after the initializer ran.*1 of this graph's 2"
    ):
        late.eval()


def test_an_unfed_placeholder_is_named(sess):
    x = tf.placeholder(tf.float32, [2, None], name="inputs")
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="feed a value for placeholder tensor 'inputs' with dtype float"
    ):
        sess.run(x * 2)


def test_the_graph_may_grow_between_runs(sess):
    x = tf.constant(1.0)
    assert sess.run(x) == 1
    y = x + 1
    assert sess.run(y) == 2 and sess.run([x, y]) == [1, 2]


def test_a_plan_serves_every_run_with_the_same_fetches_and_feeds(sess):
    x = tf.placeholder(tf.float32)
    y, z = x * 2, x * 3
    for fetches, feeds in ((y, {x: 1.0}), ([y], {x: 2.0}), (y, {"Placeholder:0": 2.0}), ({"a": y}, {x: [1.0, 2.0]})):
        sess.run(fetches, feeds)
    assert len(sess._plans) == 1
    sess.run(z, {x: 1.0})
    sess.run(z, {z: 1.0})
    assert sess.run([z, y], {x: 1.0}) == [3, 2] and sess.run([y, z], {x: 1.0}) == [2, 3]
    assert len(sess._plans) == 5


def test_a_callable_takes_feeds_in_their_order(sess):
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    subtract = sess.make_callable(x - y, [x, y])
    assert subtract(5.0, 3.0) == 2
    with pytest.raises(TypeError, match="takes 2 values"):
        subtract(1.0)


def test_a_session_survives_an_interrupt_and_an_error(sess):
    x = tf.placeholder(tf.float32)
    y = tf.matmul(x, x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="MatMul"):
        sess.run(y, {x: [[1.0, 2.0]]})
    plan = next(iter(sess._plans.values()))
    function = plan.function
    plan.function = lambda *values: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        sess.run(y, {x: [[2.0]]})
    plan.function = function
    assert sess.run(y, {x: [[2.0]]}).tolist() == [[4]]
    assert tf.get_default_session() is sess


def test_threads_share_a_session_and_its_variables(sess):
    count, x = tf.Variable(0, name="count"), tf.placeholder(tf.float32, [])
    more, y = count.assign_add(1), tf.tanh(x) * 2
    sess.run(count.initializer)
    wrong = []

    def work(number):
        for i in range(100):
            sess.run(more)
            value = np.float32(i / 100 + number)
            if abs(sess.run(y, {x: value}) - np.tanh(value) * 2) > 1e-6:
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sess.run(count) == 400 and wrong == []


def test_many_runs_leave_nothing_behind(sess):
    v = tf.Variable(np.ones((3, 3), np.float32))
    x = tf.placeholder(tf.float32, [None, 3])
    loss = tf.reduce_sum(tf.tanh(tf.matmul(x, v)))
    train = v.assign_sub(tf.gradients(loss, [v])[0] * 0.1)
    sess.run(v.initializer)
    fed = np.ones((2, 3), np.float32)
    sess.run([train, loss], {x: fed})
    gc.collect()
    gc.disable()
    try:
        count = lambda: sum(issubclass(type(item), torch.Tensor) for item in gc.get_objects())  # noqa: E731
        before = count()
        for _ in range(50):
            sess.run([train, loss], {x: fed})
        assert count() <= before + 1
    finally:
        gc.enable()


def test_torchs_default_device_and_dtype_change_nothing():
    x = tf.placeholder(tf.float32, [None, 3])
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), 0.5, seed=1)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.expand_dims(x, 0), dtype=tf.float32)
    loss = tf.reduce_sum(outputs) + tf.cast(tf.stack([tf.shape(x)[0], 2])[0], tf.float32)
    fetches = [loss, tf.gradients(loss, tf.trainable_variables())]

    def run():
        tf.set_random_seed(2)
        with tf.Session() as sess:
            for i, variable in enumerate(tf.global_variables()):
                variable.load(np.full(variable.shape.as_list(), 0.1 * i, np.float32), sess)
            return sess.run(fetches, {x: np.ones((2, 3))})

    expected = run()
    try:
        torch.set_default_device("meta")
        torch.set_default_dtype(torch.float64)
        found = run()
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
    assert found[0].dtype == np.float32 and found[0] == expected[0]
    assert all(np.array_equal(one, other) for one, other in zip(found[1], expected[1], strict=True))
