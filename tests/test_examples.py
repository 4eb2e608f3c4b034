"""The examples print what TensorFlow prints: golden/examples holds the output of 2.21 (compat.v1), and its maker.

Those in examples/native are PyTorch programs; the tour shows what they print.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NATIVE = sorted((ROOT / "examples" / "native").glob("*.py"))
OVER_PROCESSES = ROOT / "examples" / "native" / "train_over_processes.py"
GOLDEN = ROOT / "tests" / "golden" / "examples"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_what_tensorflow_prints(example):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "dynrnn", "run", str(example)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout == (GOLDEN / f"{example.stem}.txt").read_text()


def test_every_example_is_in_the_list():
    listed = (ROOT / "examples" / "README.md").read_text()
    assert EXAMPLES and all(f"`{example.name}`" in listed for example in EXAMPLES)
    assert NATIVE and all(f"`native/{example.name}`" in listed for example in NATIVE)


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_readme_shows_what_the_demo_prints(readme):
    assert (GOLDEN / "final_state.txt").read_text() in (ROOT / readme).read_text()


def test_training_over_two_processes_prints_what_the_tour_shows():
    command = "torchrun --standalone --nproc-per-node 2 examples/native/train_over_processes.py"
    shown = re.search(f"```sh\n{command}\n```\n\n```text\n(.*?)```", (ROOT / "docs" / "tour.md").read_text(), re.DOTALL)
    assert shown
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", *command.split()[1:]],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout == shown[1], done.stderr


def test_training_over_processes_says_how_it_is_started():
    done = subprocess.run([sys.executable, str(OVER_PROCESSES)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and done.stdout == ""
    assert "torchrun --standalone --nproc-per-node 2 examples/native/train_over_processes.py" in done.stderr
    assert "Traceback" not in done.stderr
