"""The bytes are those that TensorFlow made for the same programs."""

import logging

import numpy as np
import pytest

import dynrnn.tf1 as tf


def run(summary):
    with tf.Session() as sess:
        return sess.run(summary)


def tags(summary):
    return [value.tag for value in tf.Summary.FromString(run(summary)).value]


BYTES = {
    "scalar": (lambda: tf.summary.scalar("loss", 1.5), b"\n\x0b\n\x04loss\x15\x00\x00\xc0?"),
    "int64": (lambda: tf.summary.scalar("loss", np.int64(2**40 + 1)), b"\n\x0b\n\x04loss\x15\x00\x00\x80S"),
    "uint8": (lambda: tf.summary.scalar("w", tf.constant(3, tf.uint8)), b"\n\x08\n\x01w\x15\x00\x00@@"),
    "too large": (lambda: tf.summary.scalar("loss", np.float64(1e300)), b"\n\x0b\n\x04loss\x15\x00\x00\x80\x7f"),
    "no name": (lambda: tf.summary.scalar("", 1.0), b"\n\x05\x15\x00\x00\x80?"),
    "space": (lambda: tf.summary.scalar("my loss", 1.5), b"\n\x0e\n\x07my_loss\x15\x00\x00\xc0?"),
    "slash": (lambda: tf.summary.scalar("/loss", 1.5), b"\n\x0b\n\x04loss\x15\x00\x00\xc0?"),
    "family": (
        lambda: tf.summary.scalar("a b", 1.0, family="f g"),
        b"\n\x12\n\x0bf_g/f_g/a_b\x15\x00\x00\x80?",
    ),
    "text": (
        lambda: tf.summary.text("t", tf.constant("hello")),
        b"\n\x1a\n\x01tB\x0b\x08\x07\x12\x00B\x05helloJ\x08\n\x06\n\x04text",
    ),
    "table": (
        lambda: tf.summary.text("t", tf.constant([["hello", "b"]])),
        b"\n%\n\x01tB\x16\x08\x07\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02B\x05helloB\x01bJ\x08\n\x06\n\x04text",
    ),
    "tensor": (
        lambda: tf.summary.tensor_summary(
            "t", tf.constant([[1.0, 2]]), display_name="d", summary_description="sd", family="fam"
        ),
        b'\n,\n\tfam/fam/tB\x16\x08\x01\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"\x08\x00\x00\x80?\x00\x00\x00@'
        b"J\x07\x12\x01d\x1a\x02sd",
    ),
    "half tensor": (
        lambda: tf.summary.tensor_summary("t", tf.constant([1, 2], tf.float16)),
        b'\n\x15\n\x01tB\x0e\x08\x13\x12\x04\x12\x02\x08\x02"\x04\x00<\x00@J\x00',
    ),
    "bool tensor": (
        lambda: tf.summary.tensor_summary("t", tf.constant([True])),
        b'\n\x12\n\x01tB\x0b\x08\n\x12\x04\x12\x02\x08\x01"\x01\x01J\x00',
    ),
    "merge": (
        lambda: tf.summary.merge([tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)]),
        b"\n\x08\n\x01a\x15\x00\x00\x80?\n\x08\n\x01b\x15\x00\x00\x00@",
    ),
    "audio": (
        lambda: tf.summary.audio("s", np.array([[0.0, 0.5, -0.5, 1, -1, 2, 0.1]], np.float32), 8000),
        b'\n]\n\ts/audio/02P\r\x00\x00\xfaE\x10\x01\x18\x07":RIFF2\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00'
        b"@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x0e\x00\x00\x00\x00\x00\x00@\x00\xc0\xff\x7f\x00\x80\xff\x7f"
        b"\xcd\x0c*\taudio/wav",
    ),
    "no sound": (
        lambda: tf.summary.audio("s", np.zeros([1, 0], np.float32), 8000),
        b'\nM\n\ts/audio/02@\r\x00\x00\xfaE\x10\x01",RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00'
        b"@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00*\taudio/wav",
    ),
}


@pytest.mark.parametrize("case", BYTES)
def test_a_run_gives_tensorflows_bytes(case):
    make, expected = BYTES[case]
    found = run(make())
    assert type(found) is bytes and found == expected


def test_names_are_those_of_the_scopes_and_unique():
    for _ in range(2):
        with tf.name_scope("layer"):
            last = tf.summary.scalar("loss", 1.5)
    assert last.name == "layer_1/loss:0" and last.op.inputs[0].name == "layer_1/loss/tags:0"
    with tf.name_scope("layer_1/"):
        again = tf.summary.scalar("loss", 1.5)
        family = tf.summary.scalar("loss", 1.5, family="fam")
    assert tags(again) == ["layer_1/loss_1"]
    assert tags(family) == ["fam/layer_1/fam/loss"] and family.op.name == "layer_1/fam/loss"


def test_a_name_that_is_changed_is_logged(caplog, monkeypatch):
    logger = logging.getLogger("tensorflow")
    monkeypatch.setattr(logger, "propagate", True)
    with caplog.at_level(logging.INFO, "tensorflow"):
        tf.summary.scalar("a b", 1.0)
    assert "Summary name a b is illegal; using a_b instead." in caplog.messages


def test_summaries_join_the_collection_unless_told_otherwise():
    first = tf.summary.scalar("a", 1.0)
    other = tf.summary.histogram("b", [1.0], collections=["mine"])
    merged = tf.summary.merge([first, other], collections=["merged"], name="both")
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [first]
    assert tf.get_collection("mine") == [other] and tf.get_collection("merged") == [merged]
    assert merged.name == "both/both:0" and tf.summary.merge([first]).name == "Merge/MergeSummary:0"


def test_merge_all_takes_a_collection_or_a_scope_of_it():
    assert tf.summary.merge_all() is None
    with tf.name_scope("x"):
        tf.summary.scalar("a", 1.0)
    tf.summary.scalar("b", 2.0)
    assert tags(tf.summary.merge_all()) == ["x/a", "b"] and tags(tf.summary.merge_all(scope="x")) == ["x/a"]
    assert tf.summary.merge_all("none") is None


def test_metadata_is_kept_and_completed():
    given = tf.SummaryMetadata(plugin_data={"plugin_name": "mine", "content": b"c"})
    summary = tf.summary.tensor_summary("t", [1], summary_metadata=given, display_name="shown")
    found = tf.Summary.FromString(run(summary)).value[0].metadata
    assert (found.plugin_data.plugin_name, found.plugin_data.content, found.display_name) == ("mine", b"c", "shown")


def test_each_run_makes_a_new_summary():
    x = tf.placeholder(tf.float32, [None])
    loss = tf.summary.scalar("loss", tf.reduce_sum(x))
    with tf.Session() as sess:
        texts = [sess.run(loss, {x: np.ones(n)}) for n in range(3)]
    assert [tf.Summary.FromString(text).value[0].simple_value for text in texts] == [0, 1, 2]


REFUSED = {
    "bool": (lambda: tf.summary.scalar("a", tf.constant(True)), TypeError, "'values' has DataType bool"),
    "string": (lambda: tf.summary.histogram("a", tf.constant("x")), TypeError, "'values' has DataType string"),
    "name": (lambda: tf.summary.scalar(3, 1.0), TypeError, "name must be a string"),
    "text": (lambda: tf.summary.text("t", tf.constant(1.0)), ValueError, "to have dtype string"),
    "int image": (lambda: tf.summary.image("i", tf.zeros([1, 2, 2, 1], tf.int32)), TypeError, "DataType int32"),
    "no images": (lambda: tf.summary.image("i", tf.zeros([1, 2, 2, 1]), max_outputs=0), ValueError, "minimum 1"),
    "int audio": (lambda: tf.summary.audio("s", tf.zeros([1, 4], tf.int32), 8000), TypeError, "float32"),
    "no audio": (lambda: tf.summary.audio("s", tf.zeros([1, 4]), 8000, max_outputs=0), ValueError, "minimum 1"),
    "merge nothing": (lambda: tf.summary.merge([]), ValueError, "shorter than minimum length 1"),
    "merge one": (lambda: tf.summary.merge(tf.summary.scalar("a", 1.0)), TypeError, "Expected list"),
    "merge floats": (lambda: tf.summary.merge([tf.constant(1.0)]), TypeError, "expected type of string"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_argument_is_refused_and_leaves_the_graph_as_it_was(case, fresh_graph):
    make, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        make()
    kept = [op.name for op in fresh_graph.get_operations() if op.type.endswith("Summary") and op.name != "a"]
    assert not kept


FAILED = {
    "vector": (lambda: tf.summary.scalar("loss", [1.0, 2.0]), r"not the same shape: \[\] != \[2\] \(tag 'loss'\)"),
    "one": (lambda: tf.summary.scalar("loss", [1.0]), r"not the same shape: \[\] != \[1\]"),
    "nan": (lambda: tf.summary.histogram("w", [1.0, np.nan]), "Nan in summary histogram for: w"),
    "inf": (lambda: tf.summary.histogram("w", [1.0, np.inf]), "Infinity in Histogram for: w"),
    "image rank": (lambda: tf.summary.image("i", tf.zeros([2, 3, 3])), "Tensor must be 4-D with last dim 1, 3, or 4"),
    "channels": (lambda: tf.summary.image("i", tf.zeros([1, 2, 2, 2])), "Tensor must be 4-D with last dim 1, 3, or 4"),
    "audio rank": (lambda: tf.summary.audio("s", tf.zeros([4]), 8000), "Tensor must be 3-D or 2-D"),
    "rate": (lambda: tf.summary.audio("s", tf.zeros([1, 4]), 0.0), "sample_rate must be > 0"),
    "twice": (lambda: tf.summary.merge([tf.summary.scalar("a", 1.0)] * 2), "Duplicate tag a found"),
    "no summary": (lambda: tf.summary.merge([tf.constant("abc")]), "Could not parse one of the summary inputs"),
}


@pytest.mark.parametrize("case", FAILED)
def test_a_wrong_value_fails_the_run_and_names_the_operation(case):
    make, words = FAILED[case]
    summary = make()
    with pytest.raises(tf.errors.InvalidArgumentError, match=words) as caught:
        run(summary)
    assert caught.value.op is summary.op
