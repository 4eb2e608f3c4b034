"""One layer has one state; two layers have a tuple of two, and the outputs are those of the last layer."""

import numpy as np
import tensorflow as tf

np.set_printoptions(precision=4, suppress=True, floatmode="fixed")
tf.set_random_seed(1)

sequences = np.arange(24).reshape(4, 2, 3) / 10.0  # [batch, time, input_size]
inputs = tf.placeholder(tf.float32, [None, 2, 3])


def basic_cell():
    return tf.nn.rnn_cell.BasicRNNCell(num_units=5)


with tf.variable_scope("draws", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=3)):
    one_outputs, one_state = tf.nn.dynamic_rnn(basic_cell(), inputs, dtype=tf.float32, scope="one")
    # A cell for each layer: the same object twice would be one set of weights for both.
    two_cells = tf.nn.rnn_cell.MultiRNNCell([basic_cell() for _ in range(2)])
    two_outputs, two_state = tf.nn.dynamic_rnn(two_cells, inputs, dtype=tf.float32, scope="two")

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    fetched = session.run([one_outputs, one_state, two_outputs, two_state], {inputs: sequences})
one_outputs_, one_state_, two_outputs_, two_state_ = fetched

print("one layer")
print("  outputs %s, state %s" % (one_outputs_.shape, one_state_.shape))
print("  the state is the last output: %s" % (one_state_ == one_outputs_[:, -1]).all())
print("two layers")
print("  outputs %s, states %s" % (two_outputs_.shape, [state.shape for state in two_state_]))
print("  the first layer's state is the last output:  %s" % (two_state_[0] == two_outputs_[:, -1]).all())
print("  the second layer's state is the last output: %s" % (two_state_[1] == two_outputs_[:, -1]).all())
print("variables")
for variable in tf.global_variables():
    print("  %-7s %s" % (variable.shape, variable.name))
