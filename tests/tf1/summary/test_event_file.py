import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

import dynrnn.tf1 as tf
from dynrnn.tf1.summary import event_file
from dynrnn.tf1.summary.event_file import EventFile


def steps(path):
    """As TensorBoard reads them."""
    return [event.step for event in EventFileLoader(str(path)).Load()]


def written(folder, count):
    file = EventFile(str(folder), "")
    for step in range(1, count + 1):
        file.add(tf.Event(step=step))
    file.close()
    return file.path


def test_a_file_begins_with_its_version_and_its_name_tells_when_and_where(tmp_path):
    path = written(tmp_path / "new" / "folder", 0)
    (event,) = EventFileLoader(path).Load()
    assert event.file_version == "brain.Event:2" and event.wall_time > 1e9
    assert os.path.basename(path).startswith("events.out.tfevents.1") and os.path.isfile(path)


def test_every_event_is_in_the_file_when_it_is_added(tmp_path):
    file = EventFile(str(tmp_path), ".end")
    for step in range(1, 20):
        file.add(tf.Event(step=step))
        assert steps(file.path) == list(range(step + 1))
    file.close()
    file.close()
    assert file.path.endswith(".end")


PROGRAM = """
import sys
import dynrnn.tf1 as tf
writer = tf.summary.FileWriter(sys.argv[1])
print("ready", flush=True)
for step in range(10**9):
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss" * 50, simple_value=step)]), step + 1)
    if step == 500:
        print("written", flush=True)
"""


def test_a_killed_program_leaves_whole_records(tmp_path):
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    with program.stdout as output:
        assert [output.readline().strip() for _ in range(2)] == ["ready", "written"]
    program.send_signal(signal.SIGKILL)
    program.wait()
    (path,) = tmp_path.iterdir()
    found = [event.step for event in tf.train.summary_iterator(str(path))]  # which fails on a broken record
    assert found == list(range(len(found))) and len(found) > 500


def test_threads_share_a_file(tmp_path):
    file = EventFile(str(tmp_path), "")
    workers = [threading.Thread(target=lambda: [file.add(tf.Event(step=1)) for _ in range(300)]) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    file.close()
    assert len(steps(file.path)) == 1 + 4 * 300


def test_a_record_that_a_full_disk_cuts_off_is_taken_back(tmp_path, monkeypatch):
    file = EventFile(str(tmp_path), "")
    whole, calls = os.write, []

    def full(descriptor, data):
        calls.append(len(data))
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return whole(descriptor, data[:5])

    with monkeypatch.context() as patch:
        patch.setattr(event_file.os, "write", full)
        with pytest.raises(OSError, match="No space"):
            file.add(tf.Event(step=1))
    file.add(tf.Event(step=2))
    file.close()
    assert steps(file.path) == [0, 2]


def test_a_name_that_is_taken_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(event_file, "_count", iter([7, 7, 8]))
    monkeypatch.setattr(event_file.time, "time", lambda: 1500000000.0)
    first, second = written(tmp_path, 1), written(tmp_path, 2)
    assert first.endswith(".7") and second.endswith(".8") and len(steps(first)) == 2


def test_reading_gives_the_events(tmp_path):
    assert [event.step for event in tf.train.summary_iterator(written(tmp_path, 3))] == [0, 1, 2, 3]


def test_reading_a_damaged_file_fails_after_the_whole_records(tmp_path):
    data = Path(written(tmp_path, 3)).read_bytes()
    short, wrong = tmp_path / "short", tmp_path / "wrong"
    short.write_bytes(data[:-3])
    wrong.write_bytes(data[:-6] + bytes([data[-6] ^ 1]) + data[-5:])
    for path, words in ((short, "truncated"), (wrong, "crc32")):
        events = tf.train.summary_iterator(path)
        assert [next(events).step for _ in range(3)] == [0, 1, 2]
        with pytest.raises(tf.errors.DataLossError, match=words):
            next(events)


def test_reading_no_file_fails(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="nothing"):
        next(tf.train.summary_iterator(str(tmp_path / "nothing")))
