"""The value of a TensorArray in a run: who shares it, and what it is to torch."""

import numpy as np
import pytest
import torch

from dynrnn.errors import InvalidArgumentError
from dynrnn.graph.dtype import as_dtype
from dynrnn.tf1.control_flow.array_values import ArrayValue


def value(size: int = 3, dtype: str = "float32", **options) -> ArrayValue:
    settings = {"identical": True, "dynamic": False, "clear": False, "name": "array", **options}
    return ArrayValue(size, as_dtype(dtype), **settings)


def test_a_detached_array_keeps_its_elements_without_their_history():
    x = torch.ones(2, requires_grad=True)
    array = value()
    array.write(0, x * 2)
    cut = array.detached()
    assert not cut.read(0).requires_grad
    assert array.read(0).requires_grad
    torch.testing.assert_close(cut.read(0), array.read(0).detach(), rtol=0, atol=0)
    cut.write(1, x * 3)
    assert cut.read(1).requires_grad
    torch.testing.assert_close(array.read(1), torch.zeros(2), rtol=0, atol=0)


def test_what_was_read_away_stays_away_when_detached():
    array = value(clear=True)
    array.write(0, torch.ones(2))
    array.read(0)
    with pytest.raises(InvalidArgumentError, match="index 0 twice"):
        array.detached().read(0)


def test_elements_are_let_go_when_read_and_when_closed():
    array = value(clear=True)
    for index in range(2):
        array.write(index, torch.ones(2))
    array.read(0)
    assert array.elements[0] is None
    array.close()
    assert array.elements == [None] * 3


def test_an_expected_shape_makes_zeros_before_anything_is_written():
    array = value(0, dims=(None, 2), dynamic=True)
    array.expect((4, 2))
    assert array.gather([], (None, 2)).shape == (0, 4, 2)
    assert array.concat((None, 2)).shape == (0, 2)
    with pytest.raises(InvalidArgumentError, match=r"value shape is \[5, 2\]"):
        array.write(0, torch.ones(5, 2))


@pytest.mark.parametrize("text", [True, False])
def test_an_array_holds_values_of_its_dtype(text):
    strings, numbers = np.array([b"a"], object), torch.ones(1)
    array = value(dtype="string" if text else "float32")
    assert array.holds(strings) is text
    assert array.holds(numbers) is not text
    assert not array.holds(torch.ones(1, dtype=torch.int32))


def test_torch_takes_an_array_for_a_zero():
    array = value()
    assert torch.add(array, 2.0) == 2.0
    assert torch.stack([array, torch.ones(())]).tolist() == [0.0, 1.0]
    assert torch.ones_like(array) == 1.0
