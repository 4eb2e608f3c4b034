"""The examples print what TensorFlow prints: golden/examples holds the output of 2.21 (compat.v1), and its maker."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
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


@pytest.mark.parametrize("readme", ["README.md", "README.zh.md"])
def test_readme_shows_what_the_demo_prints(readme):
    assert (GOLDEN / "final_state.txt").read_text() in (ROOT / readme).read_text()
