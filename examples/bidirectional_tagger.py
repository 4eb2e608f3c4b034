"""A bidirectional tagger, untrained: what its outputs are at each word, and where the two final states come from."""

import numpy as np
import tensorflow as tf

np.set_printoptions(precision=4, suppress=True, floatmode="fixed")
tf.set_random_seed(1)

vocabulary = ["<pad>", "the", "old", "man", "boats", "sails"]
tags = ["DET", "ADJ", "NOUN", "VERB"]
sentences = [["the", "old", "man", "sails"], ["boats"], ["the", "man"]]

lengths = [len(sentence) for sentence in sentences]
ids = np.zeros([len(sentences), max(lengths)], np.int32)
for row, sentence in enumerate(sentences):
    ids[row, : len(sentence)] = [vocabulary.index(word) for word in sentence]

words = tf.placeholder(tf.int32, [None, None])
sequence_length = tf.placeholder(tf.int32, [None])
with tf.variable_scope("tagger", initializer=tf.random_uniform_initializer(-1.0, 1.0, seed=6)):
    table = tf.get_variable("embedding", [len(vocabulary), 3])
    forward, backward = tf.nn.rnn_cell.LSTMCell(4), tf.nn.rnn_cell.LSTMCell(4)
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        forward, backward, tf.nn.embedding_lookup(table, words), sequence_length=sequence_length, dtype=tf.float32
    )
    # At each word both directions, side by side: what comes before it and what comes after it.
    both = tf.concat(outputs, 2)
    kernel = tf.get_variable("kernel", [8, len(tags)])
    scores = tf.reshape(tf.matmul(tf.reshape(both, [-1, 8]), kernel), [-1, tf.shape(words)[1], len(tags)])
    best = tf.argmax(scores, 2)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    feeds = {words: ids, sequence_length: lengths}
    (ahead, behind), (ahead_state, behind_state), both_, best_ = session.run([outputs, states, both, best], feeds)

for row, sentence in enumerate(sentences):
    print(" ".join("%s/%s" % (word, tags[best_[row, step]]) for step, word in enumerate(sentence)))
print("outputs of both directions %s" % (both_.shape,))
last = np.array(lengths) - 1
rows = np.arange(len(sentences))
print(
    "the forward state is the forward output at each row's last word:  %s" % (ahead_state.h == ahead[rows, last]).all()
)
print("the backward state is the backward output at each row's first word: %s" % (behind_state.h == behind[:, 0]).all())
print("past a row's last word both are zero: %s" % (both_[1, 1:] == 0).all())
