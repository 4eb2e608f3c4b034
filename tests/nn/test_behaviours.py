"""What users of recurrent networks run into, each with the values and the messages that are promised for it."""

import re

import numpy as np
import pytest
import torch

import dynrnn as dr

X = (np.arange(12).reshape(2, 3, 2) / 10).astype("f4")
HALF = {"initializer": lambda value: torch.nn.init.constant_(value, 0.5)}


def full(value, width=2):
    return torch.full((2, width), value)


def close(found, expected):
    torch.testing.assert_close(found, torch.tensor(expected), rtol=0, atol=1e-6)


def refused(error, message, cell=None, inputs=X, **arguments):
    with pytest.raises(error, match=re.escape(message)):
        dr.dynamic_rnn(cell or dr.BasicRNNCell(2, 2), inputs, **arguments)


@pytest.mark.parametrize(
    ("kind", "state", "row", "output"),
    [
        ("BasicRNNCell", full(0.7), [0.938349], [0.874053, 0.938349, 0]),
        ("LSTMCell", dr.LSTMState(full(0.3), full(0.7)), [1.614337, 0.747401], None),
        ("GRUCell", full(0.7), [0.727676], None),
    ],
)
def test_zero_length_rows(kind, state, row, output):  # 1
    outputs, final = dr.dynamic_rnn(getattr(dr, kind)(2, **HALF), X, sequence_length=[0, 2], initial_state=state)
    assert (outputs[0] == 0).all()
    given, final = ([one] if isinstance(one, torch.Tensor) else list(one) for one in (state, final))
    for before, after, value in zip(given, final, row, strict=True):
        assert torch.equal(before[0], after[0])
        close(after[1], [value, value])
    if output is not None:
        close(outputs[1, :, 0], output)


def test_lengths_longer_than_the_time_axis():  # 3
    refused(ValueError, "sequence_length[0]=9 exceeds max_time=3", sequence_length=[9, 1])


def test_negative_fractional_and_boolean_lengths():  # 4
    refused(ValueError, "sequence_length[1]=-2 is negative", sequence_length=[1, -2])
    refused(TypeError, "sequence_length[0]=2.7", sequence_length=torch.tensor([2.7, 1.0]))
    refused(TypeError, "did you pass a mask?", sequence_length=torch.tensor([True, False]))
    refused(TypeError, "sequence_length[1]=nan", sequence_length=[1.0, float("nan")])
    cell = dr.BasicRNNCell(2, 2)
    wanted = dr.dynamic_rnn(cell, X, sequence_length=[2, 1])[0]
    assert torch.equal(dr.dynamic_rnn(cell, X, sequence_length=torch.tensor([2.0, 1.0]))[0], wanted)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        (
            np.array([[3], [1]]),
            "sequence_length must have shape [2] (batch), got [2, 1]; use sequence_length.squeeze(1)",
        ),
        (3, "sequence_length must have shape [2] (batch), got []"),
        ([3, 1, 2], "sequence_length must have shape [2] (batch), got [3]"),
        ([1, 1, 1, 1], "sequence_length must have shape [2] (batch), got [4]"),
        ([[1, 1, 1], [1, 0, 0]], "got [2, 3]; this looks like a mask, use mask.sum(1)"),
    ],
)
def test_wrong_shape_or_batch_of_lengths(lengths, message):  # 5
    refused(ValueError, message, sequence_length=lengths)


def test_the_final_state_is_the_state_at_the_last_valid_step():  # 8
    outputs, state = dr.dynamic_rnn(dr.LSTMCell(2, **HALF), X, sequence_length=[3, 1])
    close(state.c, [[0.449311] * 2, [0.375593] * 2])
    close(state.h, [[0.266464] * 2, [0.235784] * 2])
    assert torch.equal(outputs[0, 2], state.h[0]) and torch.equal(outputs[1, 0], state.h[1])
    assert torch.equal(dr.last_output(outputs, [3, 1]), state.h)


def test_bidirectional_reversal_by_length():  # 9
    cells = dr.BasicRNNCell(1, 2, **HALF), dr.BasicRNNCell(1, 2, **HALF)
    (fw, bw), (state_fw, state_bw) = dr.bidirectional_dynamic_rnn(*cells, X, sequence_length=[3, 1])
    close(fw[..., 0], [[0.049958, 0.268252, 0.525658], [0.57167, 0, 0]])
    close(bw[..., 0], [[0.259366, 0.430858, 0.421899], [0.57167, 0, 0]])
    close(state_fw[:, 0], [0.525658, 0.57167])
    close(state_bw[:, 0], [0.259366, 0.57167])
    assert torch.equal(state_bw, bw[:, 0])
    (_, bw), (_, state_bw) = dr.bidirectional_dynamic_rnn(*cells, X, sequence_length=torch.tensor([0, 2]).int())
    close(bw[1, :, 0], [0.759712, 0.691069, 0])
    close(state_bw[:, 0], [0, 0.759712])
    dr.bidirectional_dynamic_rnn(*cells, X)


@pytest.mark.parametrize(
    "lengths",
    [[3, 1], (3, 1), np.array([3, 1], np.int16), [np.int32(3), np.int32(1)], [torch.tensor(3), torch.tensor(1)]]
    + [torch.tensor([3, 1], dtype=kind) for kind in (torch.int8, torch.int32, torch.int64, torch.uint8, torch.uint16)],
    ids=str,
)
def test_lengths_as_whatever_holds_integers(lengths):  # 12
    cell = dr.BasicRNNCell(2, 2, **HALF)
    wanted = dr.dynamic_rnn(cell, X, sequence_length=[3, 1])
    found = dr.dynamic_rnn(cell, X, sequence_length=lengths)
    assert torch.equal(found[0], wanted[0]) and torch.equal(found[1], wanted[1])


@pytest.mark.parametrize(
    ("cell", "state", "error", "message"),
    [
        (
            "lstm",
            (torch.zeros(2, 2), torch.zeros(3, 2)),
            ValueError,
            "initial_state.h has shape [3, 2], expected [2, 2]",
        ),
        ("lstm", torch.zeros(2, 2), ValueError, "must be an LSTMState of 2 (c, h), got one tensor [2, 2]"),
        ("lstm", (torch.zeros(2, 2),), ValueError, "got a tuple of 1"),
        ("lstm", (torch.zeros(1, 2, 2),) * 2, ValueError, "looks like torch's (h, c) of [layers, batch, units]"),
        ("lstm", (torch.zeros(2, 2), 0.5), TypeError, "initial_state.h must be a tensor, got float"),
        (
            "lstm",
            (torch.zeros(2, 2), torch.zeros(2, 2).double()),
            TypeError,
            "initial_state.h is float64, expected float32",
        ),
        (
            "proj",
            (torch.zeros(2, 3), torch.zeros(2, 4)),
            ValueError,
            "this looks like torch's (h, c), where (c, h) is meant",
        ),
        ("gru", (torch.zeros(2, 2),) * 2, ValueError, "initial_state must be one tensor [2, 2], got a tuple of 2"),
        ("gru", torch.zeros(1, 2, 2), ValueError, "a cell's state has no axis of layers, so pass state[layer]"),
        ("gru", torch.zeros(2, 3), ValueError, "initial_state has shape [2, 3], expected [2, 2]"),
        ("multi", (torch.zeros(2, 2),) * 2, ValueError, "initial_state[1] must be an LSTMState of 2 (c, h)"),
        ("multi", (torch.zeros(2, 2),), ValueError, "initial_state must be a tuple of 2 (["),
    ],
)
def test_wrong_initial_states(cell, state, error, message):  # 14
    cells = {
        "lstm": dr.LSTMCell(2, 2),
        "proj": dr.LSTMCell(4, 2, num_proj=3),
        "gru": dr.GRUCell(2, 2),
        "multi": dr.MultiRNNCell([dr.GRUCell(2, 2), dr.LSTMCell(2, 2)]),
    }
    refused(error, message, cells[cell], initial_state=state)


def test_initial_states_of_every_right_form():  # 14
    cell, c, h = dr.LSTMCell(2, 2), full(0.1), full(0.2)
    wanted = dr.dynamic_rnn(cell, X, initial_state=dr.LSTMState(c, h))[0]
    for state in ((c, h), [c, h], (c.numpy(), h.numpy())):
        assert torch.equal(dr.dynamic_rnn(cell, X, initial_state=state)[0], wanted)


def test_a_state_whose_batch_is_the_time_axis_says_so():
    refused(ValueError, "pass time_major=True", dr.GRUCell(2, 2), initial_state=torch.zeros(3, 2))


@pytest.mark.parametrize("detach", [True, False])
def test_pieces_are_the_whole(detach):  # 16
    cell, inputs = dr.LSTMCell(4, 2), torch.randn(2, 6, 2)
    outputs, state = dr.dynamic_rnn(cell, inputs, sequence_length=[6, 2])
    stream = dr.Stream(cell, detach=detach)
    pieces = [
        stream(piece, sequence_length=lengths)
        for piece, lengths in zip(inputs.split(4, 1), dr.chunk_lengths([6, 2], 4), strict=True)
    ]
    torch.testing.assert_close(torch.cat(pieces, 1), outputs, rtol=0, atol=1e-7)
    for found, wanted in zip(stream.state, state, strict=True):
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-7)


def test_integer_and_mismatched_inputs():  # 17
    ones = torch.ones(2, 3, 2)
    message = "inputs are int64; embed or cast them (cell weights are float32)"
    refused(TypeError, message, inputs=ones.long())
    refused(TypeError, message, dr.MultiRNNCell([dr.ResidualWrapper(dr.GRUCell(2, 2))]), ones.long())
    refused(
        TypeError, "inputs are float64, but cell weights are float32; cast the inputs or the cell", inputs=ones.double()
    )
    refused(ValueError, "expected a last dimension of 2", inputs=torch.ones(2, 3, 5))
    refused(ValueError, "inputs must have shape [batch, time, input_size], got [2, 3]", inputs=torch.ones(2, 3))
    refused(TypeError, "inputs must be a tensor, got float", inputs=0.5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", ["BasicRNNCell", "LSTMCell", "GRUCell", "LayerNormLSTMCell"])
def test_other_floating_dtypes_work_end_to_end(kind, dtype):  # 17
    cell = getattr(dr, kind)(3, dtype=dtype)
    outputs, _ = dr.dynamic_rnn(cell, torch.ones(2, 3, 2, dtype=dtype), sequence_length=[3, 1])
    assert outputs.dtype == dtype
    outputs.float().sum().backward()
    assert {parameter.grad.dtype for parameter in cell.parameters()} == {dtype}


def test_all_cell_states():  # 19
    outputs, state, states = dr.dynamic_rnn(dr.LSTMCell(2), X, sequence_length=[3, 1], return_states=True)
    assert isinstance(states, dr.LSTMState) and states.c.shape == (2, 3, 2)
    assert torch.equal(states.c[:, -1], state.c) and torch.equal(states.h[:, -1], state.h)
    assert torch.equal(states.h[0], outputs[0]) and torch.equal(states.h[1, 0], outputs[1, 0])


def test_reset_inside_a_sequence():  # 20
    cell, row = dr.LSTMCell(4, 2), torch.randn(1, 6, 2)
    resets = torch.arange(6).unsqueeze(0) == 3
    outputs, state = dr.dynamic_rnn(cell, row, resets=resets)
    halves, states = dr.dynamic_rnn(cell, row.reshape(2, 3, 2))
    torch.testing.assert_close(outputs[0], halves.reshape(6, 4), rtol=0, atol=1e-6)
    torch.testing.assert_close(state.c[0], states.c[1], rtol=0, atol=1e-6)


def test_fixed_order_of_peepholes_clips_and_projection():  # 27
    cell = dr.LSTMCell(4, 2, use_peepholes=True, num_proj=3, cell_clip=0.1, proj_clip=0.05)
    outputs, state = dr.dynamic_rnn(cell, X)
    assert state.c.shape == (2, 4) and state.h.shape == (2, 3) and outputs.shape == (2, 3, 3)
    assert state.c.abs().max() <= 0.1 and state.h.abs().max() <= 0.05
    with pytest.raises(ValueError, match=r"proj_clip=0\.2 has no effect without num_proj"):
        dr.LSTMCell(4, proj_clip=0.2)


def test_custom_cells_stop_at_the_longest_row_and_do_no_needless_work():  # 28
    class Counting(dr.RNNCell):
        state_size = 2

        def __init__(self):
            super().__init__()
            self.rows, self.steps = [], 0

        def input_product(self, inputs):
            self.rows.append(len(inputs))
            return 2 * inputs

        def recur(self, product, state):
            self.steps += 1
            return state, state + product

    for lengths, rows in (([3, 1, 0], 4), ([2, 2, 2], 6)):
        cell = Counting()
        inputs = torch.ones(3, 9, 2)
        state = dr.dynamic_rnn(cell, inputs, sequence_length=lengths)[1]
        assert (cell.rows, cell.steps) == ([rows], max(lengths))  # one product, of valid steps alone
        assert state[:, 0].tolist() == [2 * length for length in lengths]


def test_seeded_runs_repeat_with_dropout_and_deterministic_algorithms():  # 30
    cell = dr.DropoutWrapper(dr.LSTMCell(4, 2), input_dropout=0.3, output_dropout=0.3, state_dropout=0.2)
    runs = []
    for _ in range(2):
        torch.manual_seed(7)
        outputs, _ = dr.dynamic_rnn(cell, X, sequence_length=[3, 2])
        runs.append((outputs, *torch.autograd.grad(outputs.sum(), list(cell.parameters()))))
    assert all(torch.equal(one, other) for one, other in zip(*runs, strict=True))


@pytest.mark.parametrize("kind", ["BasicRNNCell", "LSTMCell", "GRUCell", "LayerNormLSTMCell"])
@pytest.mark.parametrize("size", [1e30, -1e30, 1e4, 0.0])
def test_extreme_values_saturate(kind, size):  # 32
    cell = getattr(dr, kind)(3, 2)
    inputs = torch.full((2, 4, 2), size, requires_grad=True)
    outputs, _ = dr.dynamic_rnn(cell, inputs, sequence_length=[4, 2])
    outputs.sum().backward()
    assert torch.isfinite(outputs).all() and torch.isfinite(inputs.grad).all()
    assert all(torch.isfinite(parameter.grad).all() for parameter in cell.parameters())


def test_one_cell_object_in_two_layers():  # 36
    cell = dr.LSTMCell(2)
    with pytest.raises(ValueError, match="the same cell object is used for layers 0 and 1"):
        dr.MultiRNNCell([cell] * 2)
    shared = dr.MultiRNNCell([cell] * 2, share=True)
    dr.dynamic_rnn(shared, X)
    assert len(list(shared.parameters())) == 2


def test_residual_on_equal_and_on_mismatched_widths():  # 44
    outputs, _ = dr.dynamic_rnn(dr.ResidualWrapper(dr.BasicRNNCell(2, **HALF)), X, sequence_length=[3, 1])
    close(outputs[0], [[0.049958, 0.149958], [0.491274, 0.591274], [1.029914, 1.129915]])
    close(outputs[1], [[1.17167, 1.27167], [0, 0], [0, 0]])
    refused(
        ValueError, "inputs of size [2] and outputs of size [4] cannot be added", dr.ResidualWrapper(dr.LSTMCell(4))
    )


def test_seeing_inside_the_loop():  # 45
    seen = []
    cell = dr.LSTMCell(2, 2)
    outputs, state, gates = dr.dynamic_rnn(
        cell, X, sequence_length=[2, 1], return_gates=True, on_step=lambda *step: seen.append(step)
    )
    assert [step[0] for step in seen] == [0, 1]
    assert [step[3].tolist() for step in seen] == [[True, True], [True, False]]
    assert all(torch.equal(output, outputs[:, t]) for t, output, _, _ in seen)
    assert torch.equal(seen[-1][2].c, state.c)
    i, j, f, o = gates
    c = torch.zeros(2, 2)
    for t in range(3):
        c = f[:, t] * c + i[:, t] * j[:, t]
        torch.testing.assert_close(o[:, t] * torch.tanh(c), outputs[:, t], rtol=0, atol=1e-6)
    assert not any(gate[1, 1:].any() for gate in gates)
    refused(ValueError, "return_gates: BasicRNNCell has no gates", return_gates=True)
    refused(ValueError, "return_gates: ZoneoutWrapper", dr.ZoneoutWrapper(cell), return_gates=True)
