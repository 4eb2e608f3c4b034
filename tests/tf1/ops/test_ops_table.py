"""Every op row, by its samples: values, dtypes, static shapes, objects of their own, first and second gradients."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from tf1.ops.samples import Built, Sample, all_rows, all_samples, build, numeric_gradient

from dynrnn.graph.dtype import to_torch
from dynrnn.graph.executor import Plan, Runtime, kernel
from dynrnn.graph.gradients import IndexedSlices, gradients
from dynrnn.tf1.ops.convert import constant, convert_to_tensor
from dynrnn.tf1.session import Session

SAMPLES = all_samples()
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)


def run(built: Built, fetches: Any, arrays: Sequence[np.ndarray]) -> Any:
    return Session(graph=built.graph).run(fetches, dict(zip(built.inputs, arrays, strict=True)))


@pytest.mark.parametrize("type", sorted(all_rows()))
def test_every_row_has_a_sample(type: str):
    assert type in {sample.type for sample in SAMPLES}


@pytest.mark.parametrize(
    ("sample", "static"),
    [(sample, static) for sample in SAMPLES for static in sample.static],
    ids=lambda value: value.id if isinstance(value, Sample) else value,
)
def test_values_have_the_dtype_and_shape_that_the_graph_said(sample: Sample, static: str):
    built = build(sample, static)
    results = run(built, built.outputs, sample.arrays)
    for tensor, result in zip(built.outputs, results, strict=True):
        if tensor.dtype.kind != "s":
            assert np.asarray(result).dtype == tensor.dtype.numpy
        assert tensor.shape.is_compatible_with(np.shape(result)), f"said {tensor.shape}, gave {np.shape(result)}"
        if static == "known" and sample.exact:
            assert tensor.shape.is_fully_defined(), f"known input shapes gave the static shape {tensor.shape}"
    if sample.expected is not None:
        expected = sample.expected(*sample.arrays) if callable(sample.expected) else sample.expected
        several = isinstance(expected, (list, tuple)) and len(results) > 1
        for result, value in zip(results, expected if several else [expected], strict=True):
            _assert_close(result, value, sample.tolerance)


def _assert_close(result: Any, value: Any, tolerance: float) -> None:
    assert np.shape(result) == np.shape(value)
    if tolerance == 0 or np.asarray(result).dtype.kind not in "fcV":
        np.testing.assert_array_equal(result, value)
    else:
        np.testing.assert_allclose(result, value, rtol=tolerance, atol=tolerance)


@each_sample
def test_outputs_are_new_objects_and_inputs_stay_as_they_were(sample: Sample):
    built = build(sample)
    row = built.node.row
    if row.bodies or row.signature is None or row.type in ("Const", "Placeholder"):
        pytest.skip("no plain function of values")
    runtime = Runtime()
    values = Plan(built.inputs, built.node.inputs, runtime).run([to_torch(array.copy()) for array in sample.arrays])
    before = [value.clone() if isinstance(value, torch.Tensor) else value.copy() for value in values]
    results = kernel(built.node, runtime)(*values)
    results = results if isinstance(results, tuple) else (results,)
    for position, result in enumerate(results):
        assert all(result is not value for value in values), f"output {position} is an input's object"
        assert all(result is not other for other in results[:position]), f"output {position} is another output's object"
    for value, copy in zip(values, before, strict=True):
        np.testing.assert_array_equal(value, copy)


def _positions(sample: Sample) -> list[int]:
    return [i for i, array in enumerate(sample.arrays) if array.dtype == np.float64]


@each_sample
def test_gradients_exist_where_the_row_says_so(sample: Sample):
    built = build(sample)
    ys = [out for out in built.outputs if out.dtype.is_differentiable and out.op is built.node]
    direct = all(tensor.op.type == "Placeholder" for tensor in built.node.inputs)
    if not ys or not _positions(sample) or sample.gradient is not None or not direct:
        pytest.skip("no gradient is defined, or the sample decides")
    found = gradients(built.graph, ys, [built.inputs[i] for i in _positions(sample)])
    assert any(grad is not None for grad in found) is built.node.row.differentiable


@each_sample
def test_gradients_agree_with_differences(sample: Sample):
    built = build(sample)
    positions = _positions(sample)
    ys = [out for out in built.outputs if out.dtype.name == "float64"]
    wanted = built.node.row.differentiable if sample.gradient is None else sample.gradient
    if not wanted or not positions or not ys:
        pytest.skip("no gradient is defined")
    first = _check_gradients(built, ys, positions, seed=1)
    if sample.second:
        _check_gradients(built, first, positions, seed=2, constant_too=True)


def _dense(grad: Any, shape: tuple[int, ...]) -> Any:
    """A gradient as a tensor, where it comes as values and indices."""
    return convert_to_tensor(IndexedSlices(*grad, constant(shape))) if isinstance(grad, tuple) else grad


def _check_gradients(
    built: Built, ys: list[Any], positions: list[int], *, seed: int, constant_too: bool = False
) -> list[Any]:
    """Compare the gradient of a weighted sum of `ys` with differences of that sum; return the gradient's tensors.

    constant_too: `ys` may depend on no input, and have no gradient then.
    """
    arrays, session = built.sample.arrays, Session(graph=built.graph)
    feed = dict(zip(built.inputs, arrays, strict=True))
    random = np.random.RandomState(seed)
    weights = [random.uniform(0.5, 1.5, np.shape(value)) for value in session.run(ys, feed)]
    with built.graph.as_default():
        grad_ys = [constant(weight, y.dtype) for weight, y in zip(weights, ys, strict=True)]
        found = gradients(built.graph, ys, [built.inputs[i] for i in positions], grad_ys=grad_ys)
        found = [_dense(grad, arrays[i].shape) for i, grad in zip(positions, found, strict=True)]
    if constant_too and all(grad is None for grad in found):
        return []
    assert all(grad is not None for grad in found), "a float input gets no gradient"

    def total(moved: Sequence[np.ndarray]) -> float:
        results = session.run(ys, dict(zip(built.inputs, moved, strict=True)))
        return sum(float((weight * result).sum()) for weight, result in zip(weights, results, strict=True))

    for position, value in zip(positions, session.run(found, feed), strict=True):
        # Central differences with a step of 1e-6 carry a rounding error of about 1e-9 of the sum.
        np.testing.assert_allclose(value, numeric_gradient(total, arrays, position), rtol=2e-6, atol=2e-6)
    return list(found)
