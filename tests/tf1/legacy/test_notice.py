import subprocess
import sys

import pytest

from dynrnn.tf1.legacy import notice


def test_a_refused_warning_is_given_again(monkeypatch):
    monkeypatch.setattr(notice, "_told", set())
    for _ in range(2):  # pytest makes warnings errors, and a call that failed has told nobody
        with pytest.raises(notice.LegacySpellingWarning, match=r"old is TensorFlow 0\.x's spelling of today"):
            notice.tell("old", "today")


def test_a_program_is_told_on_stderr_without_asking(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\nfor _ in range(3):\n    x = tf.pack([1, 2])\nprint(x.shape)\n")
    done = subprocess.run(
        [sys.executable, "-m", "dynrnn", "run", str(program)], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "(2,)\n")
    told = done.stderr.splitlines()
    assert told[0] == f"{program}:3: LegacySpellingWarning: tf.pack is TensorFlow 0.x's spelling of tf.stack"
    assert len(told) == 2  # the second line quotes the program
