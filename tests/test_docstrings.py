"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import pkgutil

import pytest

import dynrnn
import dynrnn.tf1 as tf

MODULES = [
    module.name
    for module in pkgutil.walk_packages(dynrnn.__path__, "dynrnn.")
    if not module.name.endswith(("__main__", "._kernels"))
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_say(name: str) -> None:
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    for example in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        with tf.Graph().as_default():
            runner.run(example, out=report.append)
    assert not runner.failures, "".join(report)


def test_there_are_examples_to_run() -> None:
    found = [doctest.DocTestFinder().find(importlib.import_module(name), name) for name in MODULES]
    assert sum(bool(test.examples) for tests in found for test in tests) > 80
