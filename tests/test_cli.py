import re
import subprocess
import sys

import pytest

import dynrnn


def dynrnn_command(*args, python=("-m", "dynrnn")):
    return subprocess.run([sys.executable, *python, *args], capture_output=True, text=True, timeout=60)


def test_version():
    done = dynrnn_command("--version")
    assert (done.returncode, done.stdout) == (0, f"dynrnn {dynrnn.__version__}\n")


def test_help_names_the_commands():
    done = dynrnn_command("--help")
    assert done.returncode == 0
    assert re.search(r"run +Run a TensorFlow 1 program unchanged", done.stdout)
    assert re.search(r"check +Report which TensorFlow names", done.stdout)


@pytest.mark.parametrize("args", [["no_such_command"], ["run"], ["check"], ["run", "--no-such-option", "program.py"]])
def test_wrong_call_is_a_usage_error(args):
    done = dynrnn_command(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: dynrnn" in done.stderr


def test_check_tells_what_a_program_uses(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\ntf.zeros(1)\ntf.zeroes(1)\n")
    done = dynrnn_command("check", str(program))
    assert (done.returncode, done.stderr) == (1, "")
    assert f"  tf.zeroes  {program}:3  closest: tf.zeros" in done.stdout
    assert done.stdout.endswith("2 TensorFlow names in 1 file: 1 supported, 1 missing\n")
    assert dynrnn_command("check", str(tmp_path / "nowhere.py")).returncode == 2


def test_help_of_run_is_dynrnns_and_not_a_programs():
    assert "PROGRAM" in dynrnn_command("run", "--help").stdout


@pytest.mark.parametrize("module", ["torch", "numpy", "rich", "fissix"])
def test_command_line_loads_nothing_heavy(module):
    done = dynrnn_command(python=("-c", f"import sys, dynrnn.cli; print({module!r} in sys.modules)"))
    assert done.stdout == "False\n"
