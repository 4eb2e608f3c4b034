"""Results as tables on a terminal and as JSON in a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.claims import Claim
from benchmarks.comparison import Comparison
from benchmarks.configurations import CONFIGURATIONS, TENSORFLOW
from benchmarks.measuring import Plan
from benchmarks.peers import PEERS
from benchmarks.summary import Timing

_LEGEND = """\
steps: the sum of the lengths. limit: the products of these steps alone, at the rate of a large product.
dynrnn: its LSTM, GRU and RNN. frozen: inside dynrnn.frozen. dynamic_rnn: the native loop with a cell.
tf1_face: dynrnn.tf1. reference: plain torch.
presorted: packed beforehand, and left packed. x best: dynrnn against the fastest (underlined) of its peers.
x TF: tf1_face against tensorflow, the same program. ~: others used the processors; the figure means little."""


class Results(NamedTuple):
    """All that a run has found."""

    machine: dict[str, Any]
    environments: dict[str, dict[str, Any]]
    plan: Plan
    comparisons: list[Comparison]
    claims: list[Claim]


def line(found: Comparison) -> str:
    """One line about a case, for those who wait."""
    text, ours, best = f"{found.cell} {found.mode} {found.key}", found.timings.get("dynrnn"), found.best_peer
    if ours is None or best is None:
        return text
    mark = "~" if found.disturbed("dynrnn", best) else ""
    return (
        f"{text}: dynrnn {_milliseconds(ours.median)} ms, {best} {_milliseconds(found.timings[best].median)} ms: "
        f"{found.ratio:.2f}{mark} times as fast (target {found.asked:g})"
    )


def show(console: Console, results: Results) -> None:
    """Print the machine, a table for each cell and mode, and a table of the further claims."""
    processor, count = results.machine["processor"], results.machine["processors"]
    console.print(f"{processor}, {count} processors; {_versions(results.environments)}", highlight=False)
    cases = dict.fromkeys((found.cell, found.mode) for found in results.comparisons)
    for cell, mode in cases:
        chosen = [found for found in results.comparisons if (found.cell, found.mode) == (cell, mode)]
        console.print(comparison_table(f"{cell.upper()} {mode}, milliseconds a call", chosen))
    if results.comparisons:
        console.print(_LEGEND, highlight=False)
    if results.claims:
        console.print(claim_table(results.claims))


def comparison_table(title: str, comparisons: Sequence[Comparison]) -> Table:
    """A row a configuration, a column a peer; the best peer is underlined."""
    peers = [name for name in PEERS if name != "product" and any(name in found.timings for found in comparisons)]
    table = Table(title=title, title_justify="left")
    table.add_column("configuration", no_wrap=True)
    with_tf = any(found.tensorflow_ratio for found in comparisons)
    headers = ("steps", "limit", *peers, "x best", "target", "of limit", *(["x TF", "target"] if with_tf else []))
    for header in headers:
        table.add_column(header, justify="right")
    for found in comparisons:
        cells = [str(CONFIGURATIONS[found.key]), str(found.steps), _milliseconds(found.limit)]
        for name in peers:
            text = _timing(found.timings.get(name))
            cells.append(f"[underline]{text}[/]" if name == found.best_peer else text)
        cells += [*_judged(found, found.ratio, found.asked, "dynrnn", found.best_peer), _share(found)]
        if with_tf:
            cells += _judged(found, found.tensorflow_ratio, TENSORFLOW, "tf1_face", "tensorflow")
        table.add_row(*cells)
    return table


def _judged(found: Comparison, ratio: float | None, asked: float, *names: str | None) -> tuple[str, str]:
    """A ratio and its target: green or red, or marked where a disturbed figure went into it."""
    if ratio is None:
        return "-", f"{asked:g}"
    if found.disturbed(*names):
        return f"{ratio:.2f}~", f"{asked:g}"
    return f"[{'green' if ratio >= asked else 'red'}]{ratio:.2f}[/]", f"{asked:g}"


def _share(found: Comparison) -> str:
    """How much of the limit's rate the module reaches."""
    return f"{found.limit / found.timings['dynrnn'].median:.0%}" if "dynrnn" in found.timings else "-"


def claim_table(claims: Sequence[Claim]) -> Table:
    table = Table(title="Further measurements", title_justify="left")
    for header in ("what", "found", "at most"):
        table.add_column(header, justify="left" if header == "what" else "right")
    for claim in claims:
        colour = "default" if claim.asked is None or claim.disturbed else "green" if claim.passes else "red"
        mark = "~" if claim.disturbed else ""
        bound = "-" if claim.asked is None else f"{claim.asked:g}"
        table.add_row(claim.text, f"[{colour}]{claim.value:.2f} {claim.unit}{mark}[/]", bound)
    return table


def _timing(timing: Timing | None) -> str:
    return "-" if timing is None else _milliseconds(timing.median) + ("~" if timing.disturbed else "")


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def _versions(environments: dict[str, dict[str, Any]]) -> str:
    return ", ".join(
        f"{name} {value}"
        for facts in environments.values()
        for name, value in facts.items()
        if name not in {"python", "threads"}
    )


def save(path: Path, results: Results) -> None:
    """Write everything as JSON; times are in seconds."""
    document = {
        "machine": results.machine,
        "environments": results.environments,
        "plan": results.plan._asdict(),
        "comparisons": [_comparison(found) for found in results.comparisons],
        "claims": [{**claim._asdict(), "passes": claim.passes} for claim in results.claims],
    }
    path.write_text(json.dumps(document, indent=2) + "\n")


def _comparison(found: Comparison) -> dict[str, Any]:
    return {
        "cell": found.cell,
        "configuration": CONFIGURATIONS[found.key]._asdict(),
        "mode": found.mode,
        "steps": found.steps,
        "operations": found.operations,
        "limit": found.limit,
        "best_peer": found.best_peer,
        "ratio": found.ratio,
        "asked": found.asked,
        "tensorflow_ratio": found.tensorflow_ratio,
        "peers": {
            name: {**timing._asdict(), "difference": found.errors.get(name)} for name, timing in found.timings.items()
        },
    }
