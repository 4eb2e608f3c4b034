"""Several threads: each has its own scopes, default graphs and sessions; they share graphs, variables and sessions."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dynrnn.tf1 as tf

COUNT = 8


def together(function):
    """The results of `function(number)` in threads that begin at the same time."""
    start = threading.Barrier(COUNT)

    def run(number):
        start.wait()
        return function(number)

    with ThreadPoolExecutor(COUNT) as pool:
        return list(pool.map(run, range(COUNT)))


def test_stacks_of_defaults_belong_to_a_thread(fresh_graph):
    def other(number):
        assert tf.get_default_session() is None
        assert tf.get_default_graph() is not fresh_graph
        with tf.Graph().as_default() as own, tf.Session() as sess:
            x = tf.constant(number)
            assert x.graph is own
            return x.eval() == number and tf.get_default_session() is sess

    with tf.Session():
        assert all(together(other))


def test_scopes_belong_to_a_thread(fresh_graph):
    def other(number):
        with fresh_graph.as_default():
            outside = tf.get_variable_scope().name, fresh_graph.get_name_scope()
            with tf.variable_scope(f"t{number}"), tf.device(f"/gpu:{number}"):
                v = tf.get_variable("w", [1])
            return outside, v.name, v.device

    with tf.variable_scope("main"), tf.control_dependencies([tf.no_op()]):
        found = together(other)
    assert found == [(("", ""), f"t{k}/w:0", f"/device:GPU:{k}") for k in range(COUNT)]


def test_threads_that_build_at_once_get_names_of_their_own(fresh_graph):
    def other(number):
        with fresh_graph.as_default():
            return [tf.constant(k, name="x").op.name for k in range(30)]

    names = [name for found in together(other) for name in found]
    assert len(set(names)) == len(names) == 30 * COUNT
    operations = fresh_graph.get_operations()
    assert [op.index for op in operations] == list(range(len(operations)))


def test_a_call_that_fails_takes_back_only_its_own(fresh_graph):
    def other(number):
        with fresh_graph.as_default():
            for k in range(20):
                tf.add_to_collection("mine", (number, k))
                with pytest.raises(ValueError, match="Dimensions must be equal"):
                    tf.matmul(np.ones([2, 3], np.float32), np.ones([2, 3], np.float32), name="bad")
                tf.no_op(f"good{number}")

    together(other)
    assert sorted(tf.get_collection("mine")) == [(number, k) for number in range(COUNT) for k in range(20)]
    operations = fresh_graph.get_operations()
    assert len(operations) == 20 * COUNT
    indices = [op.index for op in operations]
    assert indices == sorted(set(indices))


def test_threads_that_ask_for_one_variable_get_one(fresh_graph):
    def other(number):
        with fresh_graph.as_default(), tf.variable_scope("shared", reuse=tf.AUTO_REUSE):
            return tf.get_variable("w", [3])

    found = together(other)
    assert all(v is found[0] for v in found)
    assert tf.global_variables() == [found[0]]


def test_threads_share_a_session(fresh_graph):
    total = tf.Variable(0, name="total")
    rows = tf.Variable(np.zeros([COUNT, 2], np.float32))
    x = tf.placeholder(tf.float32, [None, 3])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), x[None], dtype=tf.float32)
    add = total.assign_add(1)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    expected = [sess.run(outputs, {x: np.full([k + 1, 3], k)}) for k in range(COUNT)]

    def worker(number):  # as in A3C: each thread has ops of its own beside shared ones
        with fresh_graph.as_default():
            mark = tf.scatter_add(rows, [number], [[1.0, 2.0]])
        with sess.as_default(), fresh_graph.as_default():
            for _ in range(25):
                got = outputs.eval({x: np.full([number + 1, 3], number)})
                np.testing.assert_array_equal(got, expected[number])
                sess.run([add, mark])
        return True

    assert all(together(worker))
    assert sess.run(total) == 25 * COUNT
    assert sess.run(rows).tolist() == [[25.0, 50.0]] * COUNT


def test_an_update_by_a_gradient_may_run_in_several_threads(fresh_graph):
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(w * tf.constant([1.0, 2.0]))
    step = w.assign_sub(tf.gradients(loss, w)[0])
    sess = tf.Session()
    sess.run(w.initializer)
    together(lambda number: [sess.run(step) for _ in range(20)])
    assert sess.run(w).tolist() == [-20.0 * COUNT, -40.0 * COUNT]
