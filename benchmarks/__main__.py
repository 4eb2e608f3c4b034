"""`python -m benchmarks`: the command line. What it does is in the other files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import machine, picture, report
from benchmarks.agreement import DisagreementError
from benchmarks.claims import Claim, any_order, one_long_row, one_step
from benchmarks.comparison import Comparison, compare_peers
from benchmarks.configurations import CELLS, CONFIGURATIONS, MAIN, MODES
from benchmarks.footprint import training_memory
from benchmarks.measuring import Plan
from benchmarks.peers import PEERS
from benchmarks.processes import ROOT, Workers, environments
from benchmarks.under_load import while_busy

_CLAIMS = {
    "long-row": one_long_row,
    "order": any_order,
    "one-step": one_step,
    "memory": training_memory,
    "load": while_busy,
}
_QUICK = Plan(rounds=3, burst=0.06, patience=1.5)
_ALL = "all"


_PEERS = [name for name, peer in PEERS.items() if peer.role in {"ours", "peer", "apart"}]


def _names(names: Iterable[str]) -> str:
    return ",".join(names)


def _python(help: str) -> Any:
    return typer.Option(help=help, exists=True, dir_okay=False)


class _Progress:
    """A bar on a terminal, a line for each finished piece everywhere."""

    def __init__(self, console: Console, total: int) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        # refreshed between bursts only: a thread that draws would take time from what is measured
        self._bar = Progress(*columns, console=console, auto_refresh=False)
        self._task = self._bar.add_task("starting", total=total)

    def told(self, text: str) -> None:
        self._bar.update(self._task, description=text, refresh=True)

    def wrote(self, text: str) -> None:
        self._bar.console.print(text, highlight=False)

    def finished(self, text: str) -> None:
        self.wrote(text)
        self._bar.update(self._task, advance=1, refresh=True)

    def __enter__(self) -> _Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


def main(
    only: Annotated[str, typer.Option(help=f"Configurations: {_names(CONFIGURATIONS)}.")] = _ALL,
    cells: Annotated[str, typer.Option(help=f"Cells: {_names(CELLS)}.")] = _ALL,
    modes: Annotated[str, typer.Option(help=f"Modes: {_names(MODES)}.")] = _ALL,
    peers: Annotated[str, typer.Option(help=f"Peers: {_names(_PEERS)}.")] = _ALL,
    claims: Annotated[str, typer.Option(help=f"Further measurements: {_names(_CLAIMS)}, or none.")] = _ALL,
    quick: Annotated[bool, typer.Option("--quick", help="LSTM, A to G, no load, few short bursts.")] = False,
    rounds: Annotated[int | None, typer.Option(help="Bursts of each peer in each case.", min=1)] = None,
    patience: Annotated[float | None, typer.Option(help="Seconds to wait for quiet in each case.", min=0.0)] = None,
    jax_python: Annotated[Path | None, _python("A Python with JAX: its scan is measured too.")] = None,
    tf_python: Annotated[Path | None, _python("A Python with TensorFlow 2: its dynamic_rnn is too.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for results.json and results.png.")] = ROOT / "benchmarks/results",
) -> None:
    """Measure dynrnn's layers side by side with their peers; print tables, write results.json and results.png."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    plan = _QUICK if quick else Plan()
    plan = plan._replace(rounds=rounds or plan.rounds, patience=plan.patience if patience is None else patience)
    keys = _chosen("only", only, CONFIGURATIONS, MAIN if quick else CONFIGURATIONS)
    cases = [
        (cell, mode, key)
        for cell in _chosen("cells", cells, CELLS, ["lstm"] if quick else CELLS)
        for mode in _chosen("modes", modes, MODES, MODES)
        for key in keys
        if only != _ALL or key in MAIN or cell == "lstm"
    ]
    wanted = _chosen("peers", peers, _PEERS, _PEERS)
    usual = [name for name in _CLAIMS if not (quick and name == "load")]
    further = [] if claims == "none" else _chosen("claims", claims, _CLAIMS, usual)
    facts = machine.facts()
    with (
        _Progress(console, len(cases) + len(further)) as progress,
        Workers(environments(jax_python, tf_python)) as workers,
    ):
        comparisons = [_compare(workers, case, plan, wanted, progress) for case in cases]
        agreeing = [comparison for comparison in comparisons if comparison is not None]
        found = [claim for name in further for claim in _claims(workers, name, plan, progress)]
        results = report.Results(facts, workers.facts, plan, agreeing, found)
    report.show(console, results)
    out.mkdir(parents=True, exist_ok=True)
    report.save(out / "results.json", results)
    if agreeing:
        picture.draw(out / "results.png", agreeing)
    console.print(f"Written to {out}.")
    if len(agreeing) < len(comparisons):
        raise typer.Exit(1)


def _compare(
    workers: Workers, case: tuple[str, str, str], plan: Plan, wanted: Sequence[str], progress: _Progress
) -> Comparison | None:
    """Measure a case; None, and a line that says so, where somebody computes something else."""
    title = " ".join(case)
    try:
        comparison = compare_peers(
            workers, case, plan=plan, wanted=wanted, told=lambda text: progress.told(f"{title}: {text}")
        )
    except DisagreementError as error:
        progress.finished(f"{title}: {error}")
        workers.drop()
        return None
    progress.finished(report.line(comparison))
    return comparison


def _claims(workers: Workers, name: str, plan: Plan, progress: _Progress) -> list[Claim]:
    claims = _CLAIMS[name](workers, plan, progress.told)
    for claim in claims:
        progress.wrote(f"{claim.text}: {claim.value:.2f} {claim.unit}")
    progress.finished(f"{name}: done")
    return claims


def _chosen(option: str, text: str, known: Iterable[str], default: Iterable[str]) -> list[str]:
    """The names in a list with commas, all of them known; the default for "all"."""
    names = list(default) if text == _ALL else text.split(",")
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"--{option}: expected names of {_names(known)}, got {name!r}")
    return names


if __name__ == "__main__":
    typer.run(main)
