"""DistributedDataParallel: lengths are sharded along dim 0 as the inputs are; the numbers are those of one process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from nn.distributed_training import RUNS, train

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("distributed_training.py")
TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}  # the processes' sums are added in another order


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What two processes left behind, by name and dtype."""
    path = tmp_path_factory.mktemp("distributed") / "results.pt"
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    paths = os.pathsep.join([str(ROOT / "tests"), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    done = subprocess.run([*start, PROGRAM, path], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return dict(zip(RUNS, torch.load(path), strict=True))


@pytest.mark.parametrize(("name", "dtype"), RUNS, ids=lambda value: str(value).removeprefix("torch."))
def test_two_processes_give_the_losses_and_the_weights_of_one(results, name, dtype):
    losses, weights = results[name, dtype]
    expected_losses, expected_weights = train(name, dtype)
    assert losses.isfinite().all() and losses.all()
    torch.testing.assert_close(losses, expected_losses, rtol=0, atol=TOLERANCE[dtype])
    torch.testing.assert_close(weights, expected_weights, rtol=0, atol=TOLERANCE[dtype])
