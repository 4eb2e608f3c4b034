import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches):
    return tf.Session().run(fetches)


SQUARE = [["a", "b"], ["c", "d"]]
# What TensorFlow 2.21 gives for these calls.
CASES = [
    (lambda: tf.string_join([["a", "b"], "x", ["c", "d"]], "-"), [b"a-x-c", b"b-x-d"]),
    (lambda: tf.string_join(["a", "b"]), b"ab"),
    (lambda: tf.reduce_join(SQUARE, 0), [b"ac", b"bd"]),
    (lambda: tf.reduce_join(SQUARE, [0, 1], separator=" "), b"a c b d"),
    (lambda: tf.reduce_join(SQUARE, [1, 0], separator=" "), b"a b c d"),
    (lambda: tf.reduce_join(SQUARE), b"abcd"),
    (lambda: tf.reduce_join(SQUARE, reduction_indices=-1, keep_dims=True), [[b"ab"], [b"cd"]]),
    (lambda: tf.substr(["hello", "world"], 1, 3), [b"ell", b"orl"]),
    (lambda: tf.substr(["hello", "world"], [1, 2], [3, 9]), [b"ell", b"rld"]),
    (lambda: tf.substr(["hello", "world"], -2, 2), [b"lo", b"ld"]),
    (lambda: tf.strings.substr("héllo", 1, 2, unit="UTF8_CHAR"), "él".encode()),
    (lambda: tf.strings.length(["héllo", "a"]), [6, 1]),
    (lambda: tf.strings.length(["héllo", "a"], unit="UTF8_CHAR"), [5, 1]),
    (lambda: tf.strings.lower(["AbÉ"]), ["abÉ".encode()]),
    (lambda: tf.strings.lower(["AbÉ"], encoding="utf-8"), ["abé".encode()]),
    (lambda: tf.strings.upper(["abé"]), ["ABé".encode()]),
    (lambda: tf.string_strip(["  a b \n", ""]), [b"a b", b""]),
    (lambda: tf.regex_replace(["a1b22", "c"], r"\d+", "#"), [b"a#b#", b"c"]),
    (lambda: tf.regex_replace(["a1b22"], r"(\d)", r"<\1>", replace_global=False), [b"a<1>b22"]),
    (lambda: tf.strings.regex_full_match(["a1", "c"], r"[a-z]\d"), [True, False]),
    (lambda: tf.equal(["a", "b"], ["a", "c"]), [True, False]),
    (lambda: tf.not_equal(tf.constant("a"), "a"), False),
    (lambda: tf.constant("a") + "b", b"ab"),
    (lambda: tf.cast(["a"], tf.string), [b"a"]),
    (lambda: tf.unique(["a", "b", "a"]).y, [b"a", b"b"]),
    (lambda: tf.reshape(["a", "b"], [2, 1]), [[b"a"], [b"b"]]),
    (lambda: tf.gather(["a", "b"], [1]), [b"b"]),
]


@pytest.mark.parametrize(("call", "expected"), CASES)
def test_strings_are_what_tensorflow_makes_of_them(call, expected):
    found = run(call())
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected


def test_bytes_that_are_no_text_pass():
    assert run(tf.regex_replace([b"\xff1"], "1", "2")).tolist() == [b"\xff2"]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tf.string_join([["a", "b"], ["x"]]), ValueError, "Shapes must be equal"),
        (
            lambda: tf.string_join(["a"], tf.placeholder(tf.string)),
            ValueError,
            "separator must be a string known while",
        ),
        (lambda: tf.reduce_join(SQUARE, 2), ValueError, "axis = 2"),
        (lambda: tf.regex_replace("a", "(", ""), ValueError, "is not one that Python's re understands"),
        (lambda: tf.regex_replace("a", r"\pL", ""), ValueError, "is not one that Python's re understands"),
        (lambda: tf.regex_replace("a", 3, ""), TypeError, "pattern must be a string, got 3"),
        (lambda: tf.strings.length("a", unit="WORD"), ValueError, "unit must be 'BYTE' or 'UTF8_CHAR'"),
        (lambda: tf.less(tf.constant("a"), "b"), TypeError, "string not in list of allowed values"),
    ],
)
def test_wrong_arguments_are_refused_while_building(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_places_outside_of_a_string_are_refused_in_the_run():
    with pytest.raises(tf.errors.InvalidArgumentError, match="pos 4 out of range for string b'wor'"):
        run(tf.substr(["hello", "wor"], 4, 1))
    words = tf.placeholder(tf.string)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input shapes do not match"):
        tf.Session().run(tf.string_join([words, ["a"]]), {words: ["b", "c"]})
