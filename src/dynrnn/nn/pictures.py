"""Pictures of a pass: where each row ends, where its final state was taken, and what the gates did over time.

They need matplotlib (`pip install dynrnn[pictures]`), which is loaded when the first picture is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from dynrnn import _nest
from dynrnn.nn.arguments import as_flag
from dynrnn.nn.lengths import check_lengths
from dynrnn.nn.values import as_tensor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK = "#222222"
_MARK = "#e07000"


def plot(outputs: Tensor, state: Any, lengths: Any = None, *, time_major: bool = False) -> Figure:
    """Draw each row of a padded batch as a heat map: time from left to right, units from top to bottom.

    A line marks where the row ends, and what is past it is hatched; a box marks the output that the row's final state
    comes from, and the final state stands beside it. `outputs` is `[batch, time, units]`, or time first; `state` is
    what `dynamic_rnn` returns (of an LSTMState, h is drawn); `lengths` is what it takes (None: all rows are full).
    Returns a matplotlib Figure: `.savefig("pass.png")` writes it. Raises ImportError without matplotlib, ValueError for
    another shape and what `dynamic_rnn` raises for lengths.

    Example:
        >>> import torch
        >>> from dynrnn import LSTMCell, dynamic_rnn
        >>> outputs, state = dynamic_rnn(LSTMCell(4), torch.randn(2, 5, 3), sequence_length=[5, 2])
        >>> figure = plot(outputs, state, [5, 2])  # doctest: +SKIP
    """
    time_major = as_flag("plot", "time_major", time_major)
    outputs = as_tensor(outputs, "plot: outputs")
    if outputs.ndim != 3:
        axes = "[time, batch, units]" if time_major else "[batch, time, units]"
        raise ValueError(f"plot: outputs must have shape {axes}, got {list(outputs.shape)}")
    rows = (outputs.transpose(0, 1) if time_major else outputs).detach().float().cpu()
    batch, max_time = rows.shape[:2]
    steps = _steps("plot", lengths, batch, max_time)
    final = _final(state, batch)
    size = max([1e-6, *(float(value.abs().max()) for value in (rows, final) if value.numel())])
    figure = _figure(7.5, 0.6 + 1.1 * max(1, batch))
    panels = figure.subplots(
        max(1, batch), 2, squeeze=False, sharex="col", gridspec_kw={"width_ratios": [max(8, max_time), 1]}
    )
    for row, (left, right) in zip(range(batch), panels, strict=False):
        image = _heat(left, rows[row].t(), size)
        _mark_end(left, steps[row], max_time)
        _heat(right, final[row].unsqueeze(1), size)
        right.set_xticks([])
        left.set_ylabel(f"row {row}\nlength {steps[row]}", rotation=0, ha="right", va="center", fontsize=9)
        for side in right.spines.values():
            side.set(color=_MARK, linewidth=2)
        if row == batch - 1:
            left.set_xlabel("time")
            right.set_xlabel("state")
            figure.colorbar(image, ax=panels.ravel().tolist(), fraction=0.03, pad=0.02)
    figure.suptitle("outputs, their ends, and where each final state comes from", fontsize=10, color=_INK)
    return figure


def plot_gates(gates: Any, lengths: Any = None, *, row: int = 0, time_major: bool = False) -> Figure:
    """Draw each gate of one row as a heat map: time from left to right, units from top to bottom.

    `gates` are what `return_gates` gives for one cell, LSTMGates or GRUGates; for MultiRNNCell take one layer's.
    `lengths` as in `plot`. Returns a matplotlib Figure. Raises ImportError without matplotlib, TypeError for other
    gates, IndexError for a row that is not there.

    Example:
        >>> import torch
        >>> from dynrnn import GRUCell, dynamic_rnn
        >>> *_, gates = dynamic_rnn(GRUCell(4), torch.randn(2, 5, 3), sequence_length=[5, 2], return_gates=True)
        >>> figure = plot_gates(gates, [5, 2], row=1)  # doctest: +SKIP
    """
    names = getattr(gates, "_fields", None)
    if names is None or not all(isinstance(gate, Tensor) for gate in gates):
        raise TypeError(f"plot_gates: gates must be LSTMGates or GRUGates, got {type(gates).__name__}")
    batch_axis = 1 if as_flag("plot_gates", "time_major", time_major) else 0
    batch, max_time = gates[0].shape[batch_axis], gates[0].shape[1 - batch_axis]
    if not -batch <= row < batch:
        raise IndexError(f"plot_gates: row must be one of {batch} rows, got {row}")
    steps = _steps("plot_gates", lengths, batch, max_time)[row]
    figure = _figure(7.5, 0.6 + 1.0 * len(names))
    panels = figure.subplots(len(names), 1, squeeze=False, sharex=True)[:, 0]
    images = []
    for name, gate, panel in zip(names, gates, panels, strict=True):
        images.append(_heat(panel, gate.detach().float().cpu().select(batch_axis, row).t(), 1.0))
        _mark_end(panel, steps, max_time, box=False)
        panel.set_ylabel(name, rotation=0, ha="right", va="center")
    panels[-1].set_xlabel("time")
    figure.colorbar(images[0], ax=panels.tolist(), fraction=0.03, pad=0.02)
    figure.suptitle(f"gates of row {row}, length {steps}", fontsize=10, color=_INK)
    return figure


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure  # slow, and optional

    return Figure(figsize=(width, height), layout="constrained", dpi=120)


def _steps(owner: str, lengths: Any, batch: int, max_time: int) -> list[int]:
    return [max_time] * batch if lengths is None else check_lengths(owner, "lengths", lengths, batch, max_time).tolist()


def _final(state: Any, batch: int) -> Tensor:
    """The tensor of a state that is the cell's output: h, or the only one, or the last one there is."""
    value = getattr(state, "h", None)
    value = _nest.flatten(state)[-1] if value is None else value
    if not isinstance(value, Tensor) or value.ndim != 2 or value.shape[0] != batch:
        got = list(value.shape) if isinstance(value, Tensor) else type(value).__name__
        raise ValueError(f"plot: state must have shape [{batch}, units] (batch first), got {got}")
    return value.detach().float().cpu()


def _heat(panel: Axes, values: Tensor, size: float) -> Any:
    """`values` `[units, time]` from -size in blue to size in red."""
    shown = values if values.shape[1] else values.new_zeros(values.shape[0], 1)
    image = panel.imshow(shown.tolist(), aspect="auto", cmap="RdBu_r", vmin=-size, vmax=size, interpolation="nearest")
    panel.set_yticks([])
    return image


def _mark_end(panel: Axes, length: int, max_time: int, *, box: bool = True) -> None:
    """A line after the last valid step, hatching past it, a box around the step itself."""
    end = length - 0.5
    panel.axvline(end, color=_INK, linewidth=1.5)
    if length < max_time:
        panel.axvspan(end, max_time - 0.5, facecolor="#dddddd", edgecolor="#999999", hatch="///", linewidth=0)
    if box and length:
        panel.axvspan(end - 1, end, facecolor="none", edgecolor=_MARK, linewidth=2)
    panel.set_xlim(-0.5, max(max_time, 1) - 0.5)
    panel.locator_params(axis="x", integer=True)
