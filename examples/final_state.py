"""Rows of different lengths: outputs are zero past a row's length, its final state is its last valid output."""

import numpy as np
import tensorflow as tf

np.set_printoptions(precision=4, suppress=True, floatmode="fixed")
tf.set_random_seed(1)

# Three sequences of two numbers a step, padded to three steps with something that is not even zero.
lengths = [3, 1, 2]
sequences = np.full([3, 3, 2], 99.0)
sequences[0, :3] = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
sequences[1, :1] = [[0.7, 0.8]]
sequences[2, :2] = [[0.9, 1.0], [1.1, 1.2]]

inputs = tf.placeholder(tf.float32, [None, None, 2])
sequence_length = tf.placeholder(tf.int32, [None])
cell = tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=2))
outputs, state = tf.nn.dynamic_rnn(cell, inputs, sequence_length=sequence_length, dtype=tf.float32)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    outputs_, state_ = session.run([outputs, state], {inputs: sequences, sequence_length: lengths})

for row, length in enumerate(lengths):
    print("row %d, length %d" % (row, length))
    for step, output in enumerate(outputs_[row]):
        remark = "" if step < length - 1 else "  <- the last valid output" if step == length - 1 else "  past the end"
        print("  output %d    %s%s" % (step, output, remark))
    print("  final state %s" % state_[row])

past_the_end = np.arange(3) >= np.array(lengths)[:, None]
last_valid = outputs_[np.arange(3), np.array(lengths) - 1]
print("outputs past each row's length are zero:         %s" % (outputs_[past_the_end] == 0).all())
print("final state equals each row's last valid output: %s" % (state_ == last_valid).all())
