"""`static_rnn` as a call: lists in, lists out, scopes, and what is refused."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

C = tf.nn.rnn_cell


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


class PlusOne(C.RNNCell):
    """Adds 1 to inputs and state."""

    state_size = output_size = 5

    def call(self, inputs, state):
        return inputs + 1, state + 1


def test_one_placeholder_may_stand_in_all_places_of_the_list():
    holder = tf.placeholder(tf.float32, [4, 5])
    outputs, state = tf.nn.static_rnn(PlusOne(), [holder] * 7, dtype=tf.float32)
    assert len(outputs) == 7
    assert all((o.get_shape().as_list(), o.dtype) == ([4, 5], holder.dtype) for o in outputs)
    found, count = run([outputs, state], {holder: np.ones([4, 5])})
    assert all((output == 2).all() for output in found)
    assert (count == 7).all()


def test_a_users_cell_is_called_once_for_every_step():
    calls = []

    class Noting(PlusOne):
        def call(self, inputs, state):
            calls.append(len(calls))
            return inputs * float(len(calls)), state

    outputs, _ = tf.nn.static_rnn(Noting(), [tf.ones([2, 5])] * 3, dtype=tf.float32)
    assert calls == [0, 1, 2]
    assert [output[0, 0] for output in run(outputs)] == [1, 2, 3]


@pytest.mark.parametrize("form", [list, tuple])
def test_steps_may_be_a_list_or_a_tuple(form):
    outputs, _ = tf.nn.static_rnn(C.GRUCell(2), form([tf.ones([3, 2])] * 2), dtype=tf.float32)
    assert type(outputs) is list and len(outputs) == 2


def test_a_state_in_one_tensor_runs_with_known_shapes():
    cell = C.LSTMCell(3, use_peepholes=True, num_proj=2, state_is_tuple=False)
    outputs, state = tf.nn.static_rnn(cell, [tf.ones([2, 4])] * 3, sequence_length=[3, 1], dtype=tf.float32)
    assert [output.get_shape().as_list() for output in outputs] == [[2, 2]] * 3
    assert state.get_shape().as_list() == [2, 5]


def test_steps_of_unknown_batch_run():
    holder = tf.placeholder(tf.float32, [None, 4])
    outputs, state = tf.nn.static_rnn(C.GRUCell(3), [holder] * 2, dtype=tf.float32)
    assert outputs[0].get_shape().as_list() == state.get_shape().as_list() == [None, 3]
    assert run(state, {holder: np.ones([6, 4])}).shape == (6, 3)


@pytest.mark.parametrize("form", ["default", "string", "object"])
@pytest.mark.parametrize("make", [lambda: C.GRUCell(3), PlusOne], ids=["ours", "users"])
def test_variables_stand_under_the_scope(form, make):
    with tf.variable_scope("given") as given:
        pass
    scope = {"default": None, "string": "given", "object": given}[form]
    tf.nn.static_rnn(make(), [tf.ones([2, 5])] * 2, dtype=tf.float32, scope=scope)
    prefix = "rnn" if form == "default" else "given"
    assert {variable.op.name.split("/")[0] for variable in tf.global_variables()} <= {prefix}


@pytest.mark.parametrize("make", [lambda: C.GRUCell(3), PlusOne], ids=["ours", "users"])
def test_full_lengths_may_be_of_any_number_as_in_tensorflow_and_others_may_not(make):
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.static_rnn(make(), [tf.ones([2, 5])] * 3, sequence_length=lengths, dtype=tf.float32)
    assert run(outputs, {lengths: [3, 4, 5]})[2].all()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected shape .*\[2\] but saw shape: \[3\]"):
        run(outputs, {lengths: [3, 2, 3]})


BAD = {
    "rank 0": (lambda: [tf.zeros([])] * 2, r"inputs\[0\] must have shape \[batch"),
    "unlike batches": (lambda: [tf.zeros([2, 5]), tf.zeros([3, 5])], r"inputs\[1\] has shape \(3, 5\)"),
    "unlike widths": (lambda: [tf.zeros([2, 5]), tf.zeros([2, 4])], r"inputs\[1\] has shape \(2, 4\)"),
    "unknown width": (lambda: [tf.placeholder(tf.float32, [2, None])], "saw value None"),
}


@pytest.mark.parametrize("name", BAD)
def test_steps_that_do_not_fit_are_refused(name):
    make, says = BAD[name]
    with pytest.raises(ValueError, match=says):
        tf.nn.static_rnn(PlusOne(), make(), dtype=tf.float32)


def test_a_users_cell_may_change_structure_of_nothing():
    class Growing(PlusOne):
        def call(self, inputs, state):
            return inputs, (state, state)

    with pytest.raises((TypeError, ValueError), match="don't have the same"):
        tf.nn.static_rnn(Growing(), [tf.ones([2, 5])] * 2, sequence_length=[1, 2], dtype=tf.float32)
