import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.legacy import names, notice


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    """Every test hears each warning again."""
    monkeypatch.setattr(notice, "_told", set())


def told(old, make):
    today = names.CHANGED[old]
    with pytest.warns(notice.LegacySpellingWarning, match=rf"^tf\.{old} is TensorFlow 0\.x's spelling of tf\.{today}$"):
        return make()


def values(summary):
    with tf.Session() as sess:
        return tf.Summary.FromString(sess.run(summary)).value


CASES = {
    "scalar_summary": (lambda: tf.scalar_summary("my loss", 1.5), "ScalarSummary", ["my loss"]),
    "histogram_summary": (lambda: tf.histogram_summary("w", [1.0, 2.0]), "HistogramSummary", ["w"]),
    "image_summary": (
        lambda: tf.image_summary("i", tf.zeros([2, 2, 2, 1])),
        "ImageSummary",
        ["i/image/0", "i/image/1"],
    ),
    "audio_summary": (lambda: tf.audio_summary("s", tf.zeros([1, 4]), 8000), "AudioSummary", ["s/audio/0"]),
}


@pytest.mark.parametrize("old", CASES)
def test_a_tag_is_as_given_whatever_the_scopes_are(old):
    make, name, tags = CASES[old]
    with tf.name_scope("scope"):
        summary = told(old, make)
    assert summary.op.name == f"scope/{name}" and [value.tag for value in values(summary)] == tags
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [summary]


def test_scalars_may_come_several_at_once():
    summary = told("scalar_summary", lambda: tf.scalar_summary(["a", "b"], [1.5, 2.0], name="mine", collections=["c"]))
    assert [(value.tag, value.simple_value) for value in values(summary)] == [("a", 1.5), ("b", 2.0)]
    assert summary.name == "mine:0" and tf.get_collection("c") == [summary]


def test_old_merges_merge():
    assert told("merge_all_summaries", tf.merge_all_summaries) is None
    parts = told("scalar_summary", lambda: [tf.scalar_summary(tag, 1.0) for tag in "ab"])
    merged = told("merge_summary", lambda: tf.merge_summary(parts))
    everything = tf.merge_all_summaries()  # which was told above
    assert merged.name == "MergeSummary:0" and everything.name == "MergeSummary_1:0"
    assert [value.tag for value in values(merged)] == [value.tag for value in values(everything)] == ["a", "b"]


def test_the_old_writer_writes(tmp_path):
    with tf.Session() as sess:
        writer = told("train.SummaryWriter", lambda: tf.train.SummaryWriter(str(tmp_path), sess.graph_def))
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=np.float32(1.5))]), 7)
    writer.close()
    (path,) = tmp_path.iterdir()
    assert isinstance(writer, tf.summary.FileWriter)
    assert [event.step for event in tf.train.summary_iterator(path)] == [0, 7]
