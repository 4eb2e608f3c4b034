"""What every test runs under: fresh memory is NaN, so that nothing reads what was never written."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def fresh_memory_is_nan():
    torch.use_deterministic_algorithms(True)
    assert torch.utils.deterministic.fill_uninitialized_memory
    yield
    torch.use_deterministic_algorithms(False)
