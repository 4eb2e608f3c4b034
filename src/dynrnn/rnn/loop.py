"""The loop for a user's step, of which nothing is known but how to call it: full batch, up to the longest row.

Flat lists of tensors go in and out; the faces do the nesting. The loop for our own cells is in `reference.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from dynrnn.errors import describe
from dynrnn.rnn.lengths import check_lengths, length_mask, length_range, step_target
from dynrnn.rnn.stacking import scatter_steps, stack_steps
from dynrnn.rnn.step_inputs import Product, Span, step_inputs, step_products

Step = Callable[[list[Tensor], list[Tensor]], tuple[Sequence[Tensor], Sequence[Tensor]]]
OutputSpec = tuple[Sequence[int | None], torch.dtype]


def run_steps(
    step: Step,
    inputs: Sequence[Tensor],
    state: Sequence[Tensor],
    *,
    lengths: Tensor | None,
    output_specs: Sequence[OutputSpec] | None,
    time_major: bool = False,
    reverse: bool = False,
    product: Product | None = None,
    parallel_iterations: int | None = None,
) -> tuple[list[Tensor], list[Tensor]]:
    """Call `step(inputs_t, state) -> (outputs_t, new_state)` for every time step up to the longest row.

    `inputs` are `[batch, time, ...]` (time first with `time_major`), of any dtypes and ranks; `inputs_t` are their
    `[batch, ...]` at one step. `state` leaves have any dtype; each is `[batch, ...]`, or anything if `lengths` is None,
    and a leaf of rank 0 is handed from step to step as it is. Outputs `[batch, ...]` may have any dtype.
    `lengths` and `reverse` are as in `run_layer`. Past its end a row is given its last valid input again (an empty row:
    the longest row's), and what the step makes of it is dropped: its outputs are 0 and its state stands still, so that
    neither padding nor what it leads to reaches a result or a gradient.

    `output_specs` are one `(shape after batch, dtype)` an output; the shapes are held against what the step returns
    (None fits any size), and where no step runs, the outputs are zeros made from them (None: size 0). Without specs
    the first step says what the outputs are, and at least one step must run.

    With `product`, the step is given `product(rows)` in place of inputs: tensors `[batch, ...]`, computed beforehand
    from the rows `[n, ...]` of many steps, `parallel_iterations` at a time (None: all at once; without `product` there
    is nothing to compute). It is given valid rows only, and returns tensors `[n, ...]` of which each row depends on its
    own input alone.

    Returns `(outputs, final_state)`: outputs stacked over the whole time axis in the layout of the inputs.

    Raises ValueError or TypeError, naming the argument, where shapes or lengths do not fit, and where the step returns
    other than the promised number of outputs and the shapes and dtypes of the state it was given.

    Example:
        >>> def count(inputs, state):
        ...     return [inputs[0] * 2], [state[0] + 1]
        >>> inputs, counter = torch.arange(6).reshape(2, 3), torch.zeros(2, dtype=torch.int64)
        >>> outputs, final = run_steps(count, [inputs], [counter], lengths=torch.tensor([3, 1]),
        ...                            output_specs=[((), torch.int64)])
        >>> outputs[0].tolist(), final[0].tolist()
        ([[0, 2, 4], [6, 0, 0]], [3, 1])
    """
    batch, max_time = _check_arguments(inputs, state, lengths, time_major)
    shortest, longest = length_range(lengths, batch, max_time)
    if longest == 0:
        if output_specs is None:
            raise ValueError("run_steps: output_specs must be given where no step runs, got None")
        return _no_steps(inputs, state, output_specs), list(state)
    span = Span(lengths, batch, max_time, shortest, longest, time_major, reverse)
    if product is None:
        steps = step_inputs(inputs, span)
    else:
        steps = step_products(product, inputs, span, at_once=parallel_iterations)
    checker = _StepChecker(batch, state, output_specs)
    masks = _Masks(lengths, shortest, longest, inputs[0].device)
    rows: list[list[Tensor]] = []  # the outputs of each step
    current = list(state)
    for index, inputs_t in enumerate(steps):
        outputs_t, new = step(list(inputs_t), list(current))
        checker.check(outputs_t, new)
        current = list(new) if index < shortest else masks.freeze(index - shortest, new, current)
        rows.append(list(outputs_t))
    time_axis = 0 if time_major else 1
    if reverse and span.is_full:
        rows.reverse()
    columns = [list(column) for column in zip(*rows, strict=True)]
    if span.lengths is None or span.is_full:
        return [stack_steps(column, max_time, time_axis=time_axis) for column in columns], current
    if reverse:
        target = step_target(span.lengths, max_time, time_major=time_major, reverse=True).to(inputs[0].device)
        return [scatter_steps(column, target, inputs[0].shape[:2]) for column in columns], current
    valid = length_mask(span.lengths, max_time).to(inputs[0].device)
    valid = valid.t() if time_major else valid
    return [_blanked(stack_steps(column, max_time, time_axis=time_axis), valid) for column in columns], current


class _Masks:
    """Which rows still run at each step of the ragged tail, shaped for leaves of each rank."""

    def __init__(self, lengths: Tensor | None, shortest: int, longest: int, device: torch.device) -> None:
        self._by_rank: dict[int, tuple[Tensor, ...]] = {}
        if lengths is not None and shortest < longest:
            self._mask = length_mask(lengths, longest)[:, shortest:].t().contiguous().to(device)

    def freeze(self, step: int, new: Sequence[Tensor], old: list[Tensor]) -> list[Tensor]:
        """Keep the old state of rows that have ended; leaves of rank 0 belong to no row and always move on."""
        return [
            now if now.ndim == 0 or now is before else torch.where(self._of_rank(now.ndim)[step], now, before)
            for now, before in zip(new, old, strict=True)
        ]

    def _of_rank(self, rank: int) -> tuple[Tensor, ...]:
        if rank not in self._by_rank:
            self._by_rank[rank] = self._mask.view(*self._mask.shape, *[1] * (rank - 1)).unbind(0)
        return self._by_rank[rank]


def _blanked(stacked: Tensor, valid: Tensor) -> Tensor:
    """Outputs whose padding, where rows that had ended were stepped, is zeros."""
    return torch.where(valid.view(*valid.shape, *[1] * (stacked.ndim - 2)), stacked, stacked.new_zeros(()))


def _no_steps(inputs: Sequence[Tensor], state: Sequence[Tensor], output_specs: Sequence[OutputSpec]) -> list[Tensor]:
    """Zeros for a batch in which no row runs, hung on inputs and state so that a loss over them has a backward."""
    layout, device = inputs[0].shape[:2], inputs[0].device
    outputs = [
        torch.zeros(*layout, *(size or 0 for size in tail), dtype=dtype, device=device) for tail, dtype in output_specs
    ]
    for value in (*inputs, *state):
        if value.requires_grad:
            nothing = value.flatten()[:0].sum()  # 0, and reads no padding
            outputs = [
                output + nothing.to(output.dtype) if output.is_floating_point() else output for output in outputs
            ]
    return outputs


class _StepChecker:
    """Holds what a step returns against what was promised; a step that keeps to it costs a comparison a tensor."""

    def __init__(self, batch: int, state: Sequence[Tensor], output_specs: Sequence[OutputSpec] | None) -> None:
        self._batch = batch
        self._specs = output_specs
        self._states = _signature(state)
        self._outputs: list | None = None  # set by the first step; all others must agree with it

    def check(self, outputs: Sequence[Tensor], state: Sequence[Tensor]) -> None:
        if self._outputs is None:
            self._outputs = self._promised(_signature(outputs))
        if not _agrees(outputs, self._outputs):
            _explain("outputs", self._outputs, _signature(outputs))
        if not _agrees(state, self._states):
            _explain("state", self._states, _signature(state))

    def _promised(self, found: list) -> list:
        """The signature of the first step's outputs, with the sizes that the specs fix."""
        promised = []
        specs = self._specs
        if specs is None:
            specs = [([None] * (len(one[0]) - 1), one[1]) if isinstance(one, tuple) else ((), one) for one in found]
        for index, (tail, dtype) in enumerate(specs):
            shape = (self._batch, *tail)
            if index < len(found) and isinstance(found[index], tuple):
                got, dtype = found[index]
                if len(got) == len(shape):
                    shape = tuple(size if want is None else want for want, size in zip(shape, got, strict=True))
            promised.append((shape, dtype))
        return promised


def _signature(values: Sequence[Tensor]) -> list:
    return [(value.shape, value.dtype) if isinstance(value, Tensor) else type(value) for value in values]


def _agrees(values: Sequence[Tensor], promised: list) -> bool:
    if len(values) != len(promised):
        return False
    for value, one in zip(values, promised):  # noqa: B905 - equally long by now
        if not isinstance(value, Tensor) or value.shape != one[0] or value.dtype != one[1]:
            return False
    return True


def _explain(what: str, expected: list, found: list) -> None:
    if len(found) != len(expected):
        raise ValueError(f"run_steps: step must return {len(expected)} {what}, got {len(found)}")
    for index, (want, got) in enumerate(zip(expected, found, strict=True)):
        name = f"{what}[{index}]"
        if not isinstance(got, tuple):
            raise TypeError(f"run_steps: step must return {name} as a tensor, got {got.__name__}")
        if got != want:
            error = ValueError if got[0] != want[0] else TypeError
            raise error(f"run_steps: step must return {describe(name, *want)}, got {describe(name, *got)}")


def _check_arguments(
    inputs: Sequence[Tensor], state: Sequence[Tensor], lengths: Tensor | None, time_major: bool
) -> tuple[int, int]:
    """Refuse what would be silently wrong; return the batch size and the length of the time axis."""
    if not inputs:
        raise ValueError("run_steps: inputs must hold at least one tensor, which says how many steps there are")
    for index, value in enumerate(inputs):
        if value.ndim < 2 or value.shape[:2] != inputs[0].shape[:2]:
            layout = "[time, batch, ...]" if time_major else "[batch, time, ...]"
            raise ValueError(
                f"run_steps: inputs must all have the same {layout}, got inputs[0] {list(inputs[0].shape)} and "
                f"inputs[{index}] {list(value.shape)}"
            )
    batch, max_time = inputs[0].shape[1::-1] if time_major else inputs[0].shape[:2]
    check_lengths("run_steps", lengths, batch, max_time)
    for index, value in enumerate(state if lengths is not None else ()):
        if value.ndim and value.shape[0] != batch:
            raise ValueError(
                f"run_steps: state[{index}] must have batch = {batch} rows, as inputs have, got {list(value.shape)}"
            )
    return batch, max_time
