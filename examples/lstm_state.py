"""An LSTM's state is a pair: c, the memory, and h, the output. `np.array(state)` stacks the two."""

import numpy as np
import tensorflow as tf

np.set_printoptions(precision=4, suppress=True, floatmode="fixed")
tf.set_random_seed(1)

lengths = [3, 1, 2]
sequences = np.arange(18).reshape(3, 3, 2) / 10.0
inputs = tf.placeholder(tf.float32, [None, None, 2])
cell = tf.nn.rnn_cell.LSTMCell(4, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=4))
outputs, state = tf.nn.dynamic_rnn(cell, inputs, sequence_length=lengths, dtype=tf.float32)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    outputs_, state_ = session.run([outputs, state], {inputs: sequences})

last_valid = outputs_[np.arange(3), np.array(lengths) - 1]
print(state_)
print()
print("h is each row's last valid output: %s" % (state_.h == last_valid).all())
print("c is something else:               %s" % (state_.c != last_valid).all())
# Neither two layers nor two directions: c is [0] and h is [1], each [batch, units].
print("np.array(state).shape == %s" % (np.array(state_).shape,))
print("np.array(state)[1] is h: %s" % (np.array(state_)[1] == state_.h).all())
