"""Memory that is kept from call to call, as everybody trains in it: calls read nothing that others left there."""

import pytest
import torch
from kernels.kernel_cases import Run, agree, case_for, every_variant, needs_module
from torch import nan

from dynrnn.kernels import call, short
from dynrnn.kernels.room import room_of
from dynrnn.rnn.pieces import cut_rows

pytestmark = needs_module
RAGGED = torch.tensor([20, 0, 4, 20, 1, 18, 0, 2, 20, 3, 17, 19, 15])
RESETS = torch.arange(20) % 7 == torch.arange(13).unsqueeze(1) % 9
RUNS = {
    "full": Run(),
    "ragged": Run(RAGGED),
    "reverse, time-major": Run(RAGGED, time_major=True, reverse=True),
    "empty": Run(torch.zeros(13, dtype=torch.int64)),
    "pieces": Run(pieces=cut_rows(RESETS, RAGGED)),
}


@pytest.fixture
def users_memory():
    """Memory as it is outside of tests, which fill all that is fresh and therefore keep none for backward."""
    torch.use_deterministic_algorithms(False)
    yield
    torch.use_deterministic_algorithms(True)


@pytest.fixture
def used_memory(users_memory, monkeypatch):
    """The same with NaN where earlier calls left something."""
    rooms = [room_of(2**size, torch.zeros(())) for size in range(8, 22) for _ in range(2)]
    for room in rooms:
        room.fill_(nan)
    for module in (call, short):
        monkeypatch.setattr(module, "room_of", lambda *operands: room_of(*operands).fill_(nan))


@every_variant
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_gradients_are_those_of_the_reference_in_memory_that_was_used(name, run, threads, used_memory):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for units, size in ((1, 1), (33, 7), (90, 0)):
            agree(name, run, case_for(name, run, units, batch=13, time=20, size=size), units)
    finally:
        torch.set_num_threads(before)


@every_variant
def test_a_single_step_is_that_of_the_reference_in_memory_that_was_used(name, used_memory):
    for units in (1, 16, 33):
        for dtype in (torch.float32, torch.float64):
            agree(name, Run(), case_for(name, Run(), units, dtype, batch=1, time=1), units)


def test_room_is_used_again_once_it_is_free_and_never_before(users_memory):
    rooms = [room_of(300_000, torch.zeros(())) for _ in range(2)]
    places = {room.data_ptr() for room in rooms}
    assert len(places) == 2 and all(room.shape == (300_000,) for room in rooms)
    rooms[0].fill_(1), rooms[1].fill_(2)
    assert rooms[0].eq(1).all()
    part, rooms[:] = rooms[0][10:], []
    again = room_of(300_000, torch.zeros(()))
    assert again.data_ptr() != part.data_ptr() - 40
    assert part.eq(1).all()
