"""How much memory training takes at its peak, ours beside torch's. Each figure comes from a process of its own."""

from __future__ import annotations

from benchmarks.claims import Claim, Told
from benchmarks.configurations import CONFIGURATIONS
from benchmarks.measuring import Plan
from benchmarks.processes import Workers
from benchmarks.worker import Work

_PEERS = ("dynrnn", "packed", "padded")
_MIB = 1 << 20


def training_memory(workers: Workers, plan: Plan, told: Told) -> list[Claim]:
    """The growth of resident memory in one training call, beyond inputs and weights: less than torch packed's."""
    claims = []
    for key in ("A", "C", "E"):
        problem, peaks = CONFIGURATIONS[key].problem("lstm"), {}
        for peer in _PEERS:
            told(f"memory of training {key}, {peer}")
            with workers.fresh("torch") as process:
                peaks[peer] = process.ask("peak", Work(peer, problem, "training")) / _MIB
        text = f"training {key}: peak memory {peaks['dynrnn']:.0f} MiB, packed {peaks['packed']:.0f}, " + (
            f"padded {peaks['padded']:.0f}; against packed"
        )
        claims.append(Claim(text, peaks["dynrnn"] / peaks["packed"], "of it", 1.0, peaks))
    return claims
