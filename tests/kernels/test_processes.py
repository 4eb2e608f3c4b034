"""The kernels among other processes: a fork in the middle, cores that others hold, modules that travel."""

import os
import subprocess
import sys

import pytest
from kernels.kernel_cases import needs_module

pytestmark = needs_module
TIMEOUT = 120  # seconds; a hang is what it is there for

SETUP = """
import os, sys, time
import numpy
import torch
from dynrnn import kernels
from dynrnn.cells import LSTM, LSTMOptions

torch.set_num_threads(2)
torch.manual_seed(0)
options = LSTMOptions(64)
params = {param.name: torch.randn(param.shape, requires_grad=True) for param in LSTM.params(32, options)}
inputs, lengths = torch.randn(16, 40, 32), torch.randint(0, 41, (16,))

def train():
    outputs = kernels.run_layer(LSTM, params, inputs, None, lengths=lengths, options=options, reference=None)[0]
    return [outputs.detach(), *torch.autograd.grad(outputs.square().sum(), params.values())]

def same(found, expected):  # by numpy, because torch's own threads hang after a fork
    pairs = zip(found, expected)
    return all(numpy.allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-4) for one, other in pairs)
"""

FORK = """
expected = train()  # both threads have worked
doubled = 2 * expected[0]
child = os.fork()
if not child:
    try:  # autograd refuses to run in such a child, so the kernels run without it
        from dynrnn.kernels import call
        from dynrnn.kernels.layouts import layout_of
        setting = call.Setting(layout_of("lstm", options))
        weights, state = [value.detach() for value in params.values()], (None, None)
        given = (setting, call.Rows(None, None, lengths), inputs, state, weights)
        (outputs, *_), saved = call.forward(*given, keep=True)
        grads = call.backward(*given, outputs, [doubled, None, None], (False, False, False, True, True), saved)
        found = [outputs, *grads[3:]]
    except BaseException as error:
        print(type(error), error, file=sys.stderr)
        os._exit(2)
    os._exit(0 if same(found, expected) else 1)
_, status = os.waitpid(child, 0)
assert status == 0, status
assert same(train(), expected)
print("the same in both")
"""

FORKS = """
import signal, threading

from dynrnn.kernels import call
from dynrnn.kernels.layouts import layout_of
torch.set_num_threads(1)
setting = call.Setting(layout_of("lstm", LSTMOptions(16)))
small, rows = [torch.randn(24, 64), torch.randn(64)], call.Rows(None, None, None)

def run():  # brief, so that much of it is spent where it takes and gives back memory
    return call.forward(setting, rows, inputs[:2, :3, :8], (None, None), small)[0][0].numpy()

def loop():
    while not done:
        run()

expected, done = run(), []
other = threading.Thread(target=loop)
other.start()
statuses = []
for _ in range(200):
    child = os.fork()  # sooner or later the other thread is somewhere inside
    if not child:
        signal.alarm(5)
        os._exit(not numpy.array_equal(run(), expected))
    statuses.append(os.waitpid(child, 0)[1])
    if statuses[-1]:
        break
done.append(True)
other.join()
assert not any(statuses), statuses
print("no child hangs")
"""

LOAD = """
import subprocess
expected = train()
others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
try:
    time.sleep(0.5)
    assert all(same(train(), expected) for _ in range(5))
finally:
    for other in others:
        other.kill()
        other.wait()
print("the same under load")
"""


def run(program):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SETUP + program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    return done.stdout


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@forks
def test_a_fork_in_the_middle_works_on_in_both_processes():
    assert run(FORK) == "the same in both\n"


@forks
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer's memory may stay locked")
def test_a_fork_while_another_thread_is_inside_leaves_nothing_locked():
    assert run(FORKS) == "no child hangs\n"


def test_a_run_under_load_ends_with_the_same_numbers():
    assert run(LOAD) == "the same under load\n"
