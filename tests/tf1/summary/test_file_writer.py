import gc
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

import dynrnn.tf1 as tf


def events(folder):
    """The events of a folder's only file, without the one that tells its version."""
    (path,) = Path(folder).iterdir()
    return list(LegacyEventFileLoader(str(path)).Load())[1:]


def point(value=1.0, tag="loss"):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)])


def test_a_training_loop_is_what_tensorboard_shows(tmp_path):
    x = tf.placeholder(tf.float32, [None])
    tf.summary.scalar("loss", tf.reduce_mean(x))
    tf.summary.histogram("x", x)
    merged = tf.summary.merge_all()
    with tf.Session() as sess, tf.summary.FileWriter(str(tmp_path / "train"), sess.graph) as writer:
        for step in range(5):
            writer.add_summary(sess.run(merged, {x: np.full(4, step)}), step)
    shown = EventAccumulator(str(tmp_path / "train"), size_guidance={"histograms": 0}).Reload()  # 0: all
    assert [(point.step, point.value) for point in shown.Scalars("loss")] == [(step, step) for step in range(5)]
    assert [(found.step, found.histogram_value.num) for found in shown.Histograms("x")] == [(i, 4) for i in range(5)]


def test_ten_thousand_summaries_are_all_there(tmp_path):
    loss = tf.summary.scalar("loss", tf.constant(1.5))
    with tf.Session() as sess:
        text = sess.run(loss)
        writer = tf.summary.FileWriter(str(tmp_path), max_queue=10, flush_secs=120)
        for step in range(10_000):
            writer.add_summary(text, step)
        assert [event.step for event in events(tmp_path)] == list(range(10_000))  # before it is closed
        writer.close()


def test_a_step_is_a_whole_number_or_none(tmp_path):
    with tf.summary.FileWriter(tmp_path) as writer:
        for step in (None, 3, np.int64(4), np.float32(5.7)):
            writer.add_summary(point(), global_step=step)
        with pytest.raises(ValueError, match="x"):
            writer.add_summary(point(), "x")
    assert [event.step for event in events(tmp_path)] == [0, 3, 4, 5]
    assert all(event.wall_time > 1e9 for event in events(tmp_path))


def test_metadata_is_written_once_for_a_tag(tmp_path):
    text = tf.summary.text("t", tf.constant("hello"))
    with tf.Session() as sess, tf.summary.FileWriter(tmp_path) as writer:
        own = tf.Summary.FromString(sess.run(text))
        for summary in (sess.run(text), own, sess.run(text)):
            writer.add_summary(summary)
    assert [event.summary.value[0].HasField("metadata") for event in events(tmp_path)] == [True, False, False]
    assert own.value[0].HasField("metadata")


def test_other_events_are_written(tmp_path):
    with tf.summary.FileWriter(tmp_path) as writer:
        writer.add_event(tf.Event(step=1, wall_time=5.0, summary=point()))
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START, msg="go"), 2)
        writer.add_run_metadata(tf.RunMetadata(), "step3", 3)
        with pytest.raises(ValueError, match="tag was already used"):
            writer.add_run_metadata(tf.RunMetadata(), "step3", 4)
    first, second, third = events(tmp_path)
    assert (first.step, first.wall_time) == (1, 5.0)
    assert (second.step, second.session_log.status, second.session_log.msg) == (2, 1, "go")
    assert (third.step, third.tagged_run_metadata.tag) == (3, "step3")


def test_a_graph_is_accepted_and_not_written(tmp_path, fresh_graph):
    with tf.summary.FileWriter(tmp_path, fresh_graph) as writer:
        writer.add_graph(fresh_graph, 3)
        writer.add_graph(None, graph_def=fresh_graph)
    tf.summary.FileWriter(tmp_path / "more", graph_def=fresh_graph).close()
    assert events(tmp_path / "more") == []


WRONG = {
    "None": (lambda writer: writer.add_summary(None), TypeError, "got None"),
    "text": (lambda writer: writer.add_summary("abc"), TypeError, "got 'abc'"),
    "event": (lambda writer: writer.add_event(point()), TypeError, "Expected a tf.Event"),
    "graph": (lambda writer: writer.add_graph(3), TypeError, "must be an instance of `Graph`"),
    "no graph": (lambda writer: writer.add_graph(None), TypeError, "must be an instance of `Graph`"),
    "graphs": (lambda writer: writer.add_graph(tf.Graph(), graph_def=tf.Graph()), ValueError, "but not both"),
    "metadata": (lambda writer: writer.add_run_metadata(3, "t"), TypeError, "must be a tf.RunMetadata"),
    "log": (lambda writer: writer.add_session_log(3), TypeError, "must be a tf.SessionLog"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_event_is_refused_and_not_written(case, tmp_path):
    use, error, words = WRONG[case]
    with tf.summary.FileWriter(tmp_path) as writer, pytest.raises(error, match=words):
        use(writer)
    assert events(tmp_path) == []


def test_a_closed_writer_warns_and_writes_nothing_until_it_is_reopened(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path), filename_suffix=".mine")
    writer.add_summary(point(), 1)
    writer.reopen()  # does nothing: it is open
    writer.close()
    writer.close()
    for use in (lambda: writer.add_summary(point(), 2), lambda: writer.add_event(tf.Event()), writer.flush):
        with pytest.warns(UserWarning, match="closed FileWriter") as caught:
            use()
        assert caught[0].filename == __file__
    assert [event.step for event in events(tmp_path)] == [1]
    writer.reopen()
    writer.add_summary(point(), 3)
    writer.close()
    names = sorted(os.listdir(tmp_path))
    assert len(names) == 2 and all(name.endswith(".mine") for name in names) and writer.get_logdir() == str(tmp_path)
    last = max(Path(tmp_path).iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert [event.step for event in tf.train.summary_iterator(last)] == [0, 3]


def test_a_writer_that_is_dropped_closes_its_file_silently(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        writer = tf.summary.FileWriter(tmp_path)
        writer.add_summary(point(), 1)
        writer.flush()
        del writer
        gc.collect()
    assert [event.step for event in events(tmp_path)] == [1]


def test_a_cache_has_one_writer_for_each_folder(tmp_path):
    cache = tf.summary.FileWriterCache
    first = cache.get(str(tmp_path))
    assert cache.get(str(tmp_path)) is first and cache.get(str(tmp_path / "other")) is not first
    cache.clear()
    with pytest.warns(UserWarning, match="closed FileWriter"):
        first.flush()
    assert cache.get(str(tmp_path)) is not first
    cache.clear()
