"""Side by side: for each configuration, cell and mode, all peers on one problem, checked and then timed together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchmarks.agreement import compare
from benchmarks.configurations import CONFIGURATIONS, asked
from benchmarks.measuring import Plan, measure
from benchmarks.peers import PEERS, PRODUCT_SIDE, expected_of
from benchmarks.problem import Problem
from benchmarks.processes import Workers
from benchmarks.summary import Timing, fastest
from benchmarks.worker import Work

Told = Callable[[str], None]
PRODUCT_OPERATIONS = 2 * PRODUCT_SIDE**3


class Comparison(NamedTuple):
    """The figures of one case: timings by peer, and by how much each peer's outputs were off."""

    cell: str
    key: str
    mode: str
    steps: int
    operations: int
    timings: dict[str, Timing]
    errors: dict[str, float]

    @property
    def limit(self) -> float:
        """Seconds that the products alone would take at the rate of a large product."""
        return self.operations * self.timings["product"].median / PRODUCT_OPERATIONS

    @property
    def best_peer(self) -> str | None:
        """The fastest of those that do the same work as the module."""
        return fastest({name: timing for name, timing in self.timings.items() if self._rivals(name)})

    @property
    def ratio(self) -> float | None:
        """How many times as fast as the best peer the module is."""
        if self.best_peer is None or "dynrnn" not in self.timings:
            return None
        return self.timings[self.best_peer].median / self.timings["dynrnn"].median

    @property
    def asked(self) -> float:
        return asked(self.cell, self.key, self.mode)

    @property
    def tensorflow_ratio(self) -> float | None:
        """How many times as fast as TensorFlow the TF1 face runs the same program."""
        if not {"tf1_face", "tensorflow"} <= self.timings.keys():
            return None
        return self.timings["tensorflow"].median / self.timings["tf1_face"].median

    def disturbed(self, *names: str | None) -> bool:
        """Say whether the figure of any of these was taken while others used the processors."""
        return any(self.timings[name].disturbed for name in names if name in self.timings)

    def _rivals(self, name: str) -> bool:
        return PEERS[name].role == "peer" and expected_of(name, self.cell) == "exact"


def peers_for(workers: Workers, mode: str, wanted: Sequence[str] | None = None) -> list[str]:
    """The peers that can run in a mode with the environments there are, and the large product."""
    names = []
    for name, peer in PEERS.items():
        able = workers.has(name) and (peer.training or mode == "inference") and peer.role != "exact"
        if able and (wanted is None or name in wanted or name == "product"):
            names.append(name)
    return names


def compare_peers(
    workers: Workers,
    case: tuple[str, str, str],
    *,
    plan: Plan,
    wanted: Sequence[str] | None = None,
    told: Told = lambda text: None,
) -> Comparison:
    """Prepare, check and time all peers of one case: a cell, a mode and a configuration's key.

    Raises DisagreementError where one computes something else.
    """
    cell, mode, key = case
    problem = CONFIGURATIONS[key].problem(cell)
    names = peers_for(workers, mode, wanted)
    errors = check(workers, names, problem, mode, told=told)
    works = {Work(name, problem, mode): name for name in names}
    timings = measure(workers, list(works), plan, told=lambda work: told(work.peer))
    workers.drop()
    return Comparison(
        cell,
        key,
        mode,
        problem.steps,
        problem.operations(mode),
        {name: timings[work] for work, name in works.items()},
        errors,
    )


def check(
    workers: Workers, names: Iterable[str], problem: Problem, mode: str, *, told: Told = lambda text: None
) -> dict[str, float]:
    """Prepare each peer's work and compare its results with float64's; return how far its outputs are off."""
    expected: dict = {}
    errors = {}
    for name in names:
        told(f"{name}: checking")
        found = workers.prepare(Work(name, problem, mode))
        if found[0] is None:
            continue
        exact = expected_of(name, problem.cell)
        if exact not in expected:
            expected[exact] = workers.prepare(Work(exact, problem, mode))
        errors[name] = compare(name, problem.lengths, expected[exact], found)
    return errors
