"""`time_major` changes the layout of inputs and outputs and nothing else: the numbers are the same bits."""

import numpy as np
import tensorflow as tf

np.set_printoptions(precision=4, suppress=True, floatmode="fixed")
tf.set_random_seed(1)

lengths = [4, 2, 0]
sequences = np.arange(24).reshape(3, 4, 2) / 10.0
batch_major = tf.placeholder(tf.float32, [3, 4, 2])
time_first = tf.transpose(batch_major, [1, 0, 2])
cell = tf.nn.rnn_cell.GRUCell(3, kernel_initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=5))

# The same cell object twice: one set of weights.
outputs, state = tf.nn.dynamic_rnn(cell, batch_major, sequence_length=lengths, dtype=tf.float32)
time_outputs, time_state = tf.nn.dynamic_rnn(
    cell, time_first, sequence_length=lengths, dtype=tf.float32, time_major=True
)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    fetched = session.run([outputs, state, time_outputs, time_state], {batch_major: sequences})
outputs_, state_, time_outputs_, time_state_ = fetched

print("batch-major outputs %s, state %s" % (outputs_.shape, state_.shape))
print("time-major outputs  %s, state %s" % (time_outputs_.shape, time_state_.shape))
print("the outputs are the same, transposed: %s" % (outputs_ == time_outputs_.transpose(1, 0, 2)).all())
print("the states are the same:              %s" % (state_ == time_state_).all())
print("state of the row of length 0:         %s" % state_[2])
