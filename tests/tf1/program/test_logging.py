import logging

import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def alone(log, monkeypatch):
    """No handlers but TensorFlow's own: pytest's are taken off the root logger while the test runs."""

    class NoHandlers(list):
        def append(self, handler):
            pass

    monkeypatch.setattr(logging.getLogger(), "handlers", NoHandlers())


def test_levels_are_those_of_python():
    assert [tf.logging.DEBUG, tf.logging.INFO, tf.logging.WARN, tf.logging.ERROR, tf.logging.FATAL] == [
        10, 20, 30, 40, 50,
    ]  # fmt: skip


def test_lines_look_as_tensorflows(alone, capsys):
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.logging.info("step %d of %s", 3, "many")
    tf.logging.warn("w")
    tf.logging.warning("w2")
    tf.logging.error("e")
    tf.logging.fatal("f")
    tf.logging.debug("dropped")
    tf.logging.log(tf.logging.WARN, "l %d", 1)
    tf.logging.vlog(tf.logging.INFO, "v")
    tf.logging.TaskLevelStatusMessage("t")
    tf.logging.flush()
    assert capsys.readouterr().err.splitlines() == [
        "INFO:tensorflow:step 3 of many",
        "WARNING:tensorflow:w",
        "WARNING:tensorflow:w2",
        "ERROR:tensorflow:e",
        "CRITICAL:tensorflow:f",
        "WARNING:tensorflow:l 1",
        "INFO:tensorflow:v",
        "ERROR:tensorflow:t",
    ]


def test_verbosity_is_warn_at_first(log, capsys):
    tf.logging.info("dropped")
    assert tf.logging.get_verbosity() == tf.logging.WARN
    tf.logging.set_verbosity("DEBUG")
    assert tf.logging.get_verbosity() == tf.logging.DEBUG
    assert capsys.readouterr().err == ""


def test_lines_that_repeat_are_thinned_out(alone, capsys):
    tf.logging.set_verbosity(tf.logging.INFO)
    for i in range(5):
        tf.logging.log_every_n(tf.logging.INFO, "every %d", 2, i)
        tf.logging.log_first_n(tf.logging.INFO, "first %d", 2, i)
        tf.logging.log_if(tf.logging.INFO, "if %d", i == 3, i)
    lines = [line.removeprefix("INFO:tensorflow:") for line in capsys.readouterr().err.splitlines()]
    assert lines == ["every 0", "first 0", "first 1", "every 2", "if 3", "every 4"]


def test_handlers_of_the_program_are_used_instead(log, caplog, capsys):
    with caplog.at_level(tf.logging.INFO, "tensorflow"):
        tf.logging.info("seen")
    assert caplog.messages == ["seen"] and not log.handlers and log.propagate
    assert capsys.readouterr().err == ""


def test_records_name_the_programs_line(log, caplog):
    tf.logging.warning("here")
    tf.logging.log(tf.logging.ERROR, "and here")
    assert {(record.filename, record.funcName) for record in caplog.records} == {
        ("test_logging.py", "test_records_name_the_programs_line")
    }


def test_level_that_the_program_set_stays(log):
    log.setLevel(logging.DEBUG)
    assert tf.logging.get_verbosity() == tf.logging.DEBUG


def test_arguments_that_do_not_fit_do_not_stop_the_program(alone, capsys):
    tf.logging.error("%d", "x")
    assert "not str" in capsys.readouterr().err


def test_verbosity_that_is_no_level_is_an_error(log):
    with pytest.raises(ValueError, match="LOUD"):
        tf.logging.set_verbosity("LOUD")
