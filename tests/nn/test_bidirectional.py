"""Two cells over the same rows, one from each end: each gives what `dynamic_rnn` gives; messages say which it was."""

import re

import pytest
import torch
from nn.cell_kinds import assert_same_bits, inputs_of, make, state_of

import dynrnn as dr

LENGTHS = [3, 0, 5, 1]
RESETS = [[t == 2 or t == b for t in range(6)] for b in range(4)]


@pytest.mark.parametrize("names", [("lstm", "gru"), ("lstm", "nested"), ("product", "layer_norm")], ids="-".join)
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize(
    "extras",
    [{}, {"return_states": True}, {"resets": RESETS}, {"checkpoint_every": 2, "parallel_iterations": 1}],
    ids=lambda extras: "-".join(extras) or "plain",
)
def test_each_direction_is_a_pass_of_its_own(names, time_major, extras):
    cells, inputs = [make(name) for name in names], inputs_of(4, 6)
    initial, reset = [state_of(cell, 4) for cell in cells], [state_of(cell, 4, seed=1) for cell in cells]
    if time_major:
        inputs = inputs.transpose(0, 1)
        extras = {**extras, "resets": torch.tensor(RESETS).t()} if "resets" in extras else extras
    how = {"sequence_length": LENGTHS, "time_major": time_major, **extras}
    states = {"initial_state_fw": initial[0], "initial_state_bw": initial[1]}
    states |= {"reset_state_fw": reset[0], "reset_state_bw": reset[1]} if "resets" in extras else {}
    found = dr.bidirectional_dynamic_rnn(*cells, inputs, **states, **how)
    for direction in (0, 1):
        one = {"initial_state": initial[direction], "reverse": bool(direction)}
        one |= {"reset_state": reset[direction]} if "resets" in extras else {}
        wanted = dr.dynamic_rnn(cells[direction], inputs, **one, **how)
        assert_same_bits(tuple(pair[direction] for pair in found), wanted)


@pytest.mark.parametrize("cell", ["gru", "nested"])
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sequence_length": [9, 1]}, ValueError, "sequence_length[0]=9 exceeds max_time=3"),
        ({"resets": "a"}, TypeError, "resets must be a list, an array or a tensor of bools, got 'a'"),
        ({"checkpoint_every": 0}, ValueError, "checkpoint_every must be at least 1, got 0"),
        ({"time_major": 1}, TypeError, "time_major must be a bool, got 1"),
        ({"reset_state_bw": torch.zeros(2, 4)}, ValueError, "reset_state_bw has no effect without resets"),
        ({"cell_bw": None}, TypeError, "cell_bw must be a module or a function"),
        ({"initial_state_bw": torch.zeros(3, 4).double()}, ValueError, "initial_state_bw has shape [3, 4]"),
        (
            {"resets": [[False] * 3] * 2, "reset_state_bw": torch.zeros(2, 4)},
            TypeError,
            "reset_state_bw is float32, expected float64",
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_messages_name_the_function_and_the_direction_before_anything_is_computed(cell, arguments, error, message):
    calls, first = [], make(cell)

    class Watched(type(first)):
        def forward(self, inputs, state=None):
            calls.append(inputs)
            return super().forward(inputs, state)

    first.__class__ = Watched
    given = {"cell_bw": make("gru"), **arguments}
    with pytest.raises(error, match=re.escape(f"bidirectional_dynamic_rnn: {message}")):
        dr.bidirectional_dynamic_rnn(first, given.pop("cell_bw"), inputs_of(2, 3), **given)
    assert not calls


def test_inputs_and_the_forward_state_are_named_too():
    cell = make("gru")
    with pytest.raises(TypeError, match="bidirectional_dynamic_rnn: inputs are float32, but cell weights are float64"):
        dr.bidirectional_dynamic_rnn(cell, cell, inputs_of(2, 3).float())
    with pytest.raises(ValueError, match=r"bidirectional_dynamic_rnn: initial_state_fw has shape \[3, 4\]"):
        dr.bidirectional_dynamic_rnn(cell, cell, inputs_of(2, 3), initial_state_fw=torch.zeros(3, 4).double())
    with pytest.raises(ValueError, match="bidirectional_dynamic_rnn: initial_state_bw must be given, because"):
        dr.bidirectional_dynamic_rnn(cell, lambda inputs, state: (inputs, state), inputs_of(2, 3))
