"""What every test runs under: fresh memory is NaN, so that nothing reads what was never written."""

import importlib.util
import sys

import pytest
import torch

MODULE = "dynrnn._kernels"


def pytest_addoption(parser):
    help = "the compiled module to test with, in place of the installed one: a file, or 'none' for no module at all"
    parser.addoption("--kernels", metavar="FILE", help=help)
    # at once: before pytest_configure, conftest files of folders on the command line import dynrnn
    _replace_module(parser.parse_known_args(sys.argv[1:]).kernels)


def _replace_module(chosen):
    if chosen == "none":
        sys.modules[MODULE] = None  # an import of it raises ModuleNotFoundError
    elif chosen:
        spec = importlib.util.spec_from_file_location(MODULE, chosen)
        sys.modules[MODULE] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[MODULE])


def pytest_report_header():
    if MODULE in sys.modules:
        found = sys.modules[MODULE] and sys.modules[MODULE].__file__
    else:
        found = (spec := importlib.util.find_spec(MODULE)) and spec.origin
    return f"{MODULE}: {found or 'none'}"


@pytest.fixture(autouse=True, scope="session")
def fresh_memory_is_nan():
    torch.use_deterministic_algorithms(True)
    assert torch.utils.deterministic.fill_uninitialized_memory
    yield
    torch.use_deterministic_algorithms(False)
