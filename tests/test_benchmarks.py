"""The benchmarks' harness: figures, layouts, checks, each peer and measurement on tiny sizes; no time is judged."""

import doctest
import importlib
import json
import os
import pkgutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch
import typer
from rich.console import Console

import benchmarks
from benchmarks import claims, footprint, machine, measuring, picture, report, under_load
from benchmarks.agreement import DisagreementError, compare
from benchmarks.comparison import check, compare_peers, peers_for
from benchmarks.configurations import CONFIGURATIONS, MAIN, RAGGED, Configuration
from benchmarks.cpu_time import Reading, Window
from benchmarks.layouts import from_tf1, to_tf1
from benchmarks.measuring import Plan, measure
from benchmarks.memory import peak_of
from benchmarks.peers import PEERS
from benchmarks.problem import GATES, Problem
from benchmarks.summary import summarize
from benchmarks.worker import Burst, Work, Worker

ROOT = Path(__file__).parents[1]
OTHERS = {"jax", "tensorflow"}  # environments of their own
MODULES = [name for _, name, _ in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")]
MEASURED = [name for name, peer in PEERS.items() if peer.environment not in OTHERS and peer.role != "exact"]
TINY = Plan(rounds=1, burst=1e-4, rest=0.0, patience=0.0)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Two threads that wait for each other are slow where other processes run."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Here:
    """Workers in this process."""

    def __init__(self):
        self._workers = {name: Worker(name, 1) for name in ("torch", "onnxruntime")}

    def has(self, peer):
        return PEERS[peer].environment in self._workers

    def prepare(self, work):
        return self._workers[PEERS[work.peer].environment].prepare(work)

    def burst(self, work, seconds):
        return self._workers[PEERS[work.peer].environment].burst(work, seconds)

    def drop(self):
        for worker in self._workers.values():
            worker.drop()

    def fresh(self, environment):
        return self

    def ask(self, request, *arguments):
        assert request == "peak"
        return 1 << 20

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Scripted:
    """Workers whose bursts are given beforehand, with a note of who was asked."""

    def __init__(self, quiet):
        self.quiet, self.asked = list(quiet), []

    def burst(self, work, seconds):
        self.asked.append(work)
        quiet = self.quiet.pop(0) if self.quiet else True
        return Burst(1.0 if quiet else 50.0, 1, Window(1.0, 1.0, 0.0 if quiet else 1.0), quiet)


def bursts(*pairs):
    return [Burst(seconds, 1, Window(1.0, 1.0, 0.0), quiet) for seconds, quiet in pairs]


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith(("jax_scan", "tf1_overhead"))])
def test_examples_in_docstrings_hold(name):
    if name.endswith("onnx_node"):
        pytest.importorskip("onnxruntime", reason="only `make bench` installs it")
    if not name.endswith("__main__"):
        assert not doctest.testmod(importlib.import_module(name)).failed


def test_a_process_keeps_to_as_many_processors_as_it_is_told():
    code = "import sys; from benchmarks import cpu_time as own; own.keep_to(int(sys.argv[1])); print(own.processors())"
    for count in (1, 1 << 20):
        found = subprocess.run([sys.executable, "-c", code, str(count)], cwd=ROOT, capture_output=True, text=True)
        assert found.stdout.strip() == str(min(count, len(os.sched_getaffinity(0)))), found.stderr


def test_the_worker_of_jax_takes_no_more_processors_than_threads():
    code = "from benchmarks import worker; worker.main('jax', 1); print(worker.processors(), file=sys.stderr)"
    command = [sys.executable, "-c", f"import sys; {code}"]
    found = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert found.stderr.strip() == "1" and found.returncode == 0


def test_summary_takes_quiet_bursts_where_they_are_the_greater_part():
    assert summarize(bursts((3.0, True), (9.0, False), (4.0, True))).median == 3.5
    disturbed = summarize(bursts((3.0, True), (9.0, False), (8.0, False)))
    assert disturbed.median == 8.0 and disturbed.disturbed and disturbed.quiet == 1


def test_window_counts_our_own_work_as_ours():
    reading = Reading()
    while reading.since().own < 0.05:
        pass
    window = reading.since()
    assert window.own >= 0.05 and window.wall > 0 and window.foreign >= 0


def test_disturbed_windows_are_taken_again_while_patience_lasts(monkeypatch):
    monkeypatch.setattr(measuring, "Reading", lambda: QuietReading())
    works = [Work(name, CONFIGURATIONS["B"].problem("rnn"), "inference") for name in ("dynrnn", "padded")]
    patient = Scripted([False, True, False])
    timings = measure(patient, works, Plan(rounds=2, rest=0.0, patience=60.0))
    assert len(patient.asked) == 6 and {timing.quiet for timing in timings.values()} == {2}
    hasty = Scripted([False] * 4)
    timings = measure(hasty, works, Plan(rounds=2, rest=0.0, patience=0.0))
    assert len(hasty.asked) == 4 and all(timing.disturbed for timing in timings.values())


class QuietReading:
    def since(self):
        return Window(1.0, 1.0, 0.0)


def test_peers_take_turns_in_another_order_each_round():
    works = [Work(name, CONFIGURATIONS["B"].problem("rnn"), "inference") for name in PEERS]
    scripted = Scripted([])
    measure(scripted, works, Plan(rounds=3, rest=0.0, patience=0.0))
    rounds = [scripted.asked[start : start + len(works)] for start in range(0, 3 * len(works), len(works))]
    assert all(set(taken) == set(works) for taken in rounds) and len(set(map(tuple, rounds))) == 3


def test_peak_counts_what_a_call_takes_and_gives_back():
    def call():
        np.ones(8 << 20).sum()  # 64 MiB

    assert 60 << 20 < peak_of(call) < 80 << 20


@pytest.mark.parametrize("key", CONFIGURATIONS)
def test_lengths_are_the_same_in_every_run_and_one_row_is_full(key):
    configuration = CONFIGURATIONS[key]
    problem = configuration.problem("lstm")
    assert problem == configuration.problem("lstm") and problem.batch == configuration.batch
    assert min(problem.lengths) >= 1 and max(problem.lengths) == configuration.time
    assert {*MAIN, *RAGGED} == set(CONFIGURATIONS)


@pytest.mark.parametrize("cell", GATES)
def test_tf1_layout_and_back(cell):
    weights = Problem(cell, 2, 3, 5, (2,)).arrays().weights
    back = from_tf1(cell, to_tf1(cell, weights), 3)
    assert np.array_equal(back["weight_ih"], weights["weight_ih"])
    assert np.array_equal(back["weight_hh"], weights["weight_hh"])
    assert np.array_equal(back["bias_ih"], weights["bias_ih"] + weights["bias_hh"])


def test_wrong_outputs_and_gradients_are_refused_and_padding_is_not_looked_at():
    right, grads = np.ones((2, 1, 3)), {"bias_ih": np.ones(3)}
    assert compare("p", (1,), (right, grads), (right * [[[1.0]], [[5.0]]], grads)) == 0.0
    for outputs, found in ((right * 1.1, grads), (right * np.nan, grads), (right, {"bias_ih": np.ones(3) * 1.1})):
        with pytest.raises(DisagreementError, match="may differ by"):
            compare("p", (2,), (right, grads), (outputs, found))
    with pytest.raises(DisagreementError, match="shape"):
        compare("p", (2,), (right, None), (right[:1], None))


@pytest.mark.parametrize("mode", ["inference", "recording", "training"])
@pytest.mark.parametrize("cell", GATES)
@pytest.mark.parametrize("peer", MEASURED)
def test_each_peer_computes_what_is_expected(peer, cell, mode):
    if PEERS[peer].environment == "onnxruntime":
        pytest.importorskip("onnxruntime", reason="only `make bench` installs it")
    problem = Problem(cell, 4, 2, 5, (3, 4, 1))
    if PEERS[peer].training or mode == "inference":
        errors = check(Here(), [peer], problem, mode)
        assert errors.keys() == ({peer} if peer != "product" else set())


def test_a_case_and_its_report(monkeypatch, tmp_path):
    monkeypatch.setitem(CONFIGURATIONS, "A", Configuration("A", 3, 4, 2, 5))
    wanted = ["dynrnn", "tf1_face", "padded", "packed"]
    cases = [("gru", mode, "A") for mode in ("inference", "training")]
    found = [compare_peers(Here(), case, plan=TINY, wanted=wanted) for case in cases]
    assert [set(case.timings) for case in found] == [{*wanted, "product"}] * 2
    assert found[0].best_peer in {"padded", "packed"} and found[0].ratio > 0 and found[0].asked == 1.5
    assert found[0].tensorflow_ratio is None and 0 < found[0].limit < 1
    claim = claims.Claim("what", 2.0, "times", 1.0, {"one": 2.0})
    results = report.Results(machine.facts(), {"torch": {"torch": "2"}}, TINY, found, [claim])
    report.save(tmp_path / "results.json", results)
    document = json.loads((tmp_path / "results.json").read_text())
    assert document["comparisons"][0]["peers"]["dynrnn"]["median"] == found[0].timings["dynrnn"].median
    assert not document["claims"][0]["passes"]
    picture.draw(tmp_path / "results.png", found)
    assert (tmp_path / "results.png").stat().st_size > 1000
    with (console := Console(width=200)).capture() as shown:
        report.show(console, results)
    assert "A: B3 T4 I2 H5" in shown.get() and "2.00 times" in shown.get()


def test_peers_without_training_or_environment_are_left_out():
    assert "onnxruntime" not in peers_for(Here(), "training") and "jax" not in peers_for(Here(), "inference")


def test_others_take_processor_time():
    reading = Reading()
    with under_load.others():
        pass
    assert reading.since().foreign > 0.05


@pytest.mark.parametrize(
    "function",
    [claims.one_long_row, claims.any_order, claims.one_step, footprint.training_memory, under_load.while_busy],
)
def test_each_further_measurement_runs(function, monkeypatch):
    pytest.importorskip("onnxruntime", reason="only `make bench` installs it")
    for key in "ABCE":
        monkeypatch.setitem(CONFIGURATIONS, key, Configuration(key, 3, 4, 2, 5))
    for name, value in (("_LONG", 8), ("_SHORT", 2), ("_ROWS", 3)):
        monkeypatch.setattr(claims, name, value)
    monkeypatch.setattr(claims, "_STEPS", 2)
    monkeypatch.setattr(under_load, "_KEYS", ("B",))
    monkeypatch.setattr(under_load, "others", nullcontext)  # it has a test of its own
    found = function(Here(), TINY, lambda text: None)
    assert found and all(claim.figures for claim in found)


def test_the_command_measures_in_processes_of_its_own(tmp_path):
    options = "--only B --cells rnn --modes inference --peers dynrnn,padded --claims none --rounds 1 --patience 0"
    command = [sys.executable, "-m", "benchmarks", *options.split(), "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "rnn inference B: dynrnn" in done.stdout
    document = json.loads((tmp_path / "results.json").read_text())
    assert document["environments"]["torch"]["torch"] and document["comparisons"][0]["configuration"]["key"] == "B"


def test_unknown_names_are_refused():
    command = importlib.import_module("benchmarks.__main__")
    assert command._chosen("cells", "gru,rnn", GATES, GATES) == ["gru", "rnn"]
    with pytest.raises(typer.BadParameter, match="--cells: expected names of lstm,gru,rnn, got 'lstn'"):
        command._chosen("cells", "lstm,lstn", GATES, GATES)
