"""Where the variables of loops live, and who shares them."""

import numpy as np
import pytest

import dynrnn.tf1 as tf

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 4, 3)


def static(scope=None, cell=None, **kwargs):
    cell = cell or tf.nn.rnn_cell.LSTMCell(2, **kwargs)
    return tf.nn.static_rnn(cell, tf.unstack(tf.constant(X), axis=1), dtype=tf.float32, scope=scope)[0][-1]


def dynamic(scope=None, **kwargs):
    return tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2, **kwargs), tf.constant(X), dtype=tf.float32, scope=scope)[0]


@pytest.mark.parametrize("loop", [static, dynamic])
def test_variables_stand_under_the_scope_by_object_by_name_and_by_default(loop):
    with tf.variable_scope("object") as scope:
        loop(scope)
    loop("name")
    loop()
    heads = list(dict.fromkeys(v.name.split("/")[0] for v in tf.global_variables()))
    assert heads == ["object", "name", "rnn"]


@pytest.mark.parametrize("loop", [static, dynamic])
def test_a_reused_scope_shares_weights_and_another_does_not(loop):
    initial = tf.random_uniform_initializer(-1, 1, seed=3)
    with tf.variable_scope("a", initializer=initial):
        first = loop("s")
    count = len(tf.global_variables())
    with tf.variable_scope("a", initializer=initial, reuse=True):
        second = loop("s")
    assert len(tf.global_variables()) == count
    with tf.variable_scope("b", initializer=tf.random_uniform_initializer(-1, 1, seed=4)):
        third = loop("s")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        one, two, three = sess.run([first, second, third])
    np.testing.assert_array_equal(one, two)
    assert np.abs(one - three).max() > 1e-3


def test_name_scopes_do_not_change_who_shares():
    def build():
        with tf.name_scope("n"), tf.variable_scope("v", reuse=tf.AUTO_REUSE), tf.name_scope("m"):
            return dynamic("s")

    with tf.name_scope("outer"):
        first = build()
    second = build()
    assert [v.name for v in tf.global_variables()] == [
        f"v/s/gru_cell/{part}:0" for part in ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
    ]
    assert (first.name, second.name) == ("outer/n/v/m/s/transpose_1:0", "n/v/m/s/transpose_1:0")


def test_a_custom_getter_takes_variables_out_of_training():
    def frozen(getter, name, *args, **kwargs):
        return getter(name, *args, **{**kwargs, "trainable": False})

    cell = tf.nn.rnn_cell.LSTMCell(2, use_peepholes=True, num_proj=1)
    with tf.variable_scope("a", custom_getter=frozen):
        static("s", cell)
    names = ["kernel", "bias", "w_f_diag", "w_i_diag", "w_o_diag", "projection/kernel"]
    assert [v.op.name for v in cell.non_trainable_variables] == [f"a/s/lstm_cell/{name}" for name in names]
    assert cell.trainable_variables == tf.trainable_variables() == []


def test_variables_come_in_tensorflows_order():
    static("s", num_proj=1)
    assert [v.op.name for v in tf.global_variables()] == [
        f"s/lstm_cell/{name}" for name in ("kernel", "bias", "projection/kernel")
    ]


def test_a_partitioned_kernel_is_used_whole():
    with tf.variable_scope("a", partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer()):
        parted = dynamic("s")
    with tf.variable_scope("b", initializer=tf.ones_initializer()):
        whole = dynamic("s")
    assert tf.global_variables("a")[0].op.name == "a/s/gru_cell/gates/kernel/part_0"
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(*sess.run([parted, whole]))
