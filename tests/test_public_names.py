"""The native face's public names, as a golden list; loading them, and not loading torch before one is used."""

import subprocess
import sys
from pathlib import Path

import pytest

import dynrnn

NAMES = (Path(__file__).parent / "golden" / "public_names.txt").read_text().split()


def test_the_public_names_are_these():
    assert sorted(dynrnn.__all__) == sorted(NAMES)
    assert set(NAMES) <= set(dir(dynrnn))


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there_and_documented(name):
    value = getattr(dynrnn, name)
    assert name == "__version__" or (value.__doc__ and value.__name__ == name)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'dynrnn' has no attribute 'LSTMCel'"):
        dynrnn.LSTMCel  # noqa: B018


def test_importing_the_package_loads_no_torch():
    code = "import sys, dynrnn; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
