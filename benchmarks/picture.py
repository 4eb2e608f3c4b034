"""The results as one picture: how many times longer than its products alone each peer takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.comparison import Comparison
from benchmarks.peers import PEERS

_MARKERS = {"ours": "o", "peer": "s", "apart": "x"}


def draw(path: Path, comparisons: Sequence[Comparison]) -> None:
    """Save a panel for each cell and mode that was measured: configurations across, times over the limit upwards."""
    cells = list(dict.fromkeys(found.cell for found in comparisons))
    modes = list(dict.fromkeys(found.mode for found in comparisons))
    figure = Figure(figsize=(1.5 + 5 * len(cells), 0.8 + 3.6 * len(modes)), layout="constrained")
    panels = figure.subplots(len(modes), len(cells), squeeze=False, sharey=True)
    for row, mode in enumerate(modes):
        for column, cell in enumerate(cells):
            chosen = [found for found in comparisons if (found.cell, found.mode) == (cell, mode)]
            _panel(panels[row][column], f"{cell.upper()} {mode}", chosen)
        panels[row][0].set_ylabel("time over that of the products alone")
    handles = {
        str(handle.get_label()): handle for axes in figure.axes for handle in axes.get_legend_handles_labels()[0]
    }
    figure.legend(handles.values(), handles.keys(), loc="outside right upper")
    figure.savefig(path, dpi=120)


def _panel(axes: Axes, title: str, comparisons: Sequence[Comparison]) -> None:
    colours = dict(zip(PEERS, colormaps["tab20"].colors, strict=False))
    axes.set_title(title)
    axes.set_yscale("log")
    axes.axhline(1.0, color="grey", linewidth=1)
    axes.set_xticks(range(len(comparisons)), [found.key for found in comparisons])
    axes.grid(axis="y", which="both", alpha=0.2)
    for name, peer in PEERS.items():
        points = [
            (place, found.timings[name].median / found.limit)
            for place, found in enumerate(comparisons)
            if name in found.timings and peer.role in _MARKERS
        ]
        if points:
            size = 9 if name == "dynrnn" else 6
            style = {"marker": _MARKERS[peer.role], "markersize": size, "linestyle": "none", "color": colours[name]}
            axes.plot(*zip(*points, strict=True), label=name, **style)
