import subprocess
import sys

import pytest

import dynrnn.tf1 as tf

WITHOUT = """
import sys
sys.modules["tensorboard"] = None  # as if it were not installed
import dynrnn.tf1 as tf
assert not [name for name in sys.modules if name.startswith(("tensorboard.", "google.", "PIL"))]
loss = tf.constant(1.5)
tf.summary.scalar("loss", loss)
tf.summary.histogram("w", [1.0])
merged = tf.summary.merge_all()
assert repr(tf.Summary) == "<message class tf.Summary>" and not isinstance(3, tf.Summary)
with tf.Session() as sess:
    print(sess.run(loss))
    for use in (
        lambda: sess.run(merged),
        lambda: tf.summary.FileWriter("."),
        lambda: tf.Summary(),
        lambda: next(tf.train.summary_iterator("x")),
    ):
        try:
            use()
        except ImportError as error:
            print("pip install dynrnn[tensorboard]" in str(error))
"""


def test_without_tensorboard_programs_that_only_build_summaries_run():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.stdout.split() == ["1.5", "True", "True", "True", "True"], done.stderr


def test_messages_are_made_as_programs_make_them():
    summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=1.5)])
    summary.value.add(tag="accuracy", simple_value=0.5)
    assert tf.Summary.FromString(summary.SerializeToString()) == summary
    assert isinstance(summary, tf.Summary) and isinstance(summary, tf.summary.Summary)
    assert not isinstance(summary, tf.Event) and isinstance(tf.Event(summary=summary), tf.Event)


@pytest.mark.parametrize(
    "name", ["HistogramProto", "LogMessage", "SummaryMetadata", "summary.SummaryDescription", "summary.SessionLog"]
)
def test_every_message_class_makes_its_message(name):
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    assert isinstance(found(), found)


def test_a_field_or_name_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no_such"):
        tf.Summary(no_such=1)
    with pytest.raises(AttributeError, match="no_such"):
        tf.Summary.no_such  # noqa: B018
    with pytest.raises(AttributeError, match="_secret"):
        tf.Summary._secret  # noqa: B018
