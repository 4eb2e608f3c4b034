import sys

import pytest

import dynrnn.tf1 as tf


def status(*args, **kwargs):
    with pytest.raises(SystemExit) as caught:
        tf.app.run(*args, **kwargs)
    return caught.value.code


def test_main_gets_what_the_flags_leave(argv):
    argv("--steps=4", "a", "--unknown=3", "b")
    tf.flags.DEFINE_integer("steps", 3, "")
    seen = []
    assert status(lambda rest: seen.append((rest, tf.flags.FLAGS.steps))) is None
    assert seen == [(["program.py", "a", "--unknown=3", "b"], 4)]


def test_exit_status_is_what_main_returns(argv):
    assert status(main=lambda _: 3) == 3


def test_command_line_may_be_given(argv):
    tf.flags.DEFINE_integer("steps", 3, "")
    assert status(lambda rest: f"{rest} {tf.flags.FLAGS.steps}", argv=["x", "--steps", "5", "y"]) == "['x', 'y'] 5"


def test_main_is_looked_up_in_the_program(argv, monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "main", lambda _: 4, raising=False)
    assert status() == 4


def test_flag_that_does_not_parse_is_reported_without_a_trace(argv, capsys):
    argv("--steps=x")
    tf.flags.DEFINE_integer("steps", 3, "")
    assert status(lambda _: None) == 1
    assert "FATAL Flags parsing error:\n  flag --steps=x: invalid literal for int()" in capsys.readouterr().err
