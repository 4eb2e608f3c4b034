"""Every test builds in a graph of its own."""

import pytest

from dynrnn.tf1.graph import Graph


@pytest.fixture(autouse=True)
def fresh_graph():
    with Graph().as_default() as graph:
        yield graph
