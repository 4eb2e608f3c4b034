import numpy as np

import dynrnn.tf1 as tf

WORDS = np.array([["a", "b", "c"], ["d", "e", "f"]], object)


def text(value):
    return np.vectorize(lambda item: item.decode() if isinstance(item, bytes) else item, otypes=[object])(value)


def test_strings_move_as_numbers_do():
    x = tf.placeholder(tf.string, [None, 3])
    made = [
        tf.identity(x),
        tf.reshape(x, [-1]),
        tf.transpose(x),
        tf.concat([x, [["g", "h", "i"]]], 0),
        tf.stack([x, x], 1),
        x[1, ::2],
        x[0, 1],
        tf.gather(x, [1, 1]),
        tf.tile(x, [1, 2]),
        tf.where([True, False], x, [["x", "y", "z"]] * 2),
        tf.reverse_sequence(x, [2, 0], 1),
        tf.fill([2], x[0, 0]),
        *tf.unstack(x, 2),
    ]
    expected = [
        WORDS,
        WORDS.reshape(-1),
        WORDS.T,
        np.vstack([WORDS, [["g", "h", "i"]]]),
        np.stack([WORDS, WORDS], 1),
        WORDS[1, ::2],
        WORDS[0, 1],
        WORDS[[1, 1]],
        np.tile(WORDS, (1, 2)),
        np.array([["a", "b", "c"], ["x", "y", "z"]]),
        np.array([["b", "a", "c"], ["d", "e", "f"]]),
        np.array(["a", "a"]),
        *WORDS,
    ]
    with tf.Session() as sess:
        for tensor, value, wanted in zip(made, sess.run(made, {x: WORDS}), expected, strict=True):
            assert np.array_equal(text(value), wanted), tensor.op.type
