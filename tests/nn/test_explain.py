"""`explain_dispatch` says the way that a call takes, and `implementation=` takes it or raises."""

import pytest
import torch
from nn.cell_kinds import SIZE, ProductCell

import dynrnn as dr
from dynrnn.kernels import isas, missing

INPUTS = torch.ones(2, 3, 4)
FUSED = f"through the fused kernels ({isas()[0] if isas() else ''}), because there is one for"
needs_kernels = pytest.mark.skipif(missing() is not None, reason="there are no kernels")


def own_cell(inputs, state):
    return inputs, state


class OwnStep(dr.GRUCell):
    def forward(self, inputs, state=None):
        return super().forward(2 * inputs, state)


def hooked():
    cell = dr.GRUCell(5)
    cell.register_forward_hook(lambda *arguments: None)
    return cell


@needs_kernels
@pytest.mark.parametrize(
    ("make", "inputs", "sentence"),
    [
        (lambda: dr.LSTMCell(5), INPUTS, f"LSTMCell runs {FUSED} lstm in float32 on the CPU."),
        (lambda: dr.GRU(4, 5).double(), INPUTS.double(), f"GRU runs {FUSED} gru in float64 on the CPU."),
        (
            lambda: dr.ResidualWrapper(dr.BasicRNNCell(4, activation=torch.relu)),
            INPUTS,
            f"ResidualWrapper runs {FUSED} basic_rnn in float32 on the CPU.",
        ),
        (
            lambda: dr.LSTMCell(5, activation=torch.relu),
            INPUTS,
            "LSTMCell runs through the reference loop, because no kernel of lstm has the activation relu.",
        ),
        (
            lambda: dr.RNN(4, 5).bfloat16(),
            INPUTS.bfloat16(),
            "RNN runs through torch's own operator on cpu, because inputs are bfloat16, and the kernels compute in "
            "float32 and float64.",
        ),
        (
            lambda: dr.MultiRNNCell([dr.GRUCell(4), dr.ZoneoutWrapper(dr.LSTMCell(5)), dr.LayerNormLSTMCell(3)]),
            INPUTS,
            f"MultiRNNCell runs layer by layer: GRUCell {FUSED} gru in float32 on the CPU; LSTMCell step by step, "
            "because zoneout changes the state at every step; LayerNormLSTMCell through the reference loop, because "
            "there is no kernel for layer_norm_lstm.",
        ),
        (lambda: own_cell, INPUTS, "own_cell runs step by step, because it is a cell of your own."),
        (
            ProductCell,
            torch.ones(2, 3, SIZE),
            "ProductCell runs step by step, with its input products computed beforehand, because it is a cell of your "
            "own.",
        ),
        (lambda: OwnStep(5), INPUTS, "OwnStep runs step by step, because it has a step of its own."),
        (hooked, INPUTS, "GRUCell runs step by step, because a hook watches its steps."),
    ],
)
def test_it_says_the_way_and_why(make, inputs, sentence):
    assert dr.explain_dispatch(make(), inputs) == sentence


def test_dropout_on_the_state_is_by_steps_in_training_only():
    cell = dr.DropoutWrapper(dr.GRUCell(5), state_dropout=0.5)
    assert "step by step, because dropout changes the state" in dr.explain_dispatch(cell, INPUTS)
    assert "step by step" not in dr.explain_dispatch(cell.eval(), INPUTS)


def test_autocast_has_its_say():
    with torch.autocast("cpu", torch.bfloat16):
        sentence = dr.explain_dispatch(dr.LSTMCell(5), INPUTS)
    assert missing() or sentence.endswith("inputs are bfloat16, and the kernels compute in float32 and float64.")


def test_wrong_arguments_are_refused_as_the_call_refuses_them():
    with pytest.raises(TypeError, match="inputs are int64; embed or cast them"):
        dr.explain_dispatch(dr.LSTMCell(5), INPUTS.long())
    with pytest.raises(ValueError, match="lengths must have shape"):
        dr.explain_dispatch(dr.LSTM(4, 5), INPUTS, lengths=[1])
    with pytest.raises(ValueError, match="explain_dispatch: time_major is for cells; a module has batch_first"):
        dr.explain_dispatch(dr.LSTM(4, 5), INPUTS, time_major=True)


@pytest.mark.parametrize("cell", [dr.LSTMCell(5), own_cell, dr.ZoneoutWrapper(dr.GRUCell(5))], ids=["a", "b", "c"])
def test_lengths_layout_and_request_are_checked_for_every_cell(cell):
    with pytest.raises(ValueError, match=r"explain_dispatch: lengths\[0\]=99 exceeds max_time=3"):
        dr.explain_dispatch(cell, INPUTS, lengths=[99, 1])
    with pytest.raises(ValueError, match="implementation must be one of auto, fused, reference, got 'bogus'"):
        dr.explain_dispatch(cell, INPUTS, implementation="bogus")
    with pytest.raises(TypeError, match="explain_dispatch: time_major must be a bool, got 1"):
        dr.explain_dispatch(cell, INPUTS, time_major=1)


@needs_kernels
def test_fused_is_refused_by_cells_that_are_called_step_by_step():
    with pytest.raises(ValueError, match='"fused" is not available: own_cell is called step by step'):
        dr.explain_dispatch(own_cell, INPUTS, implementation="fused")


def test_reference_gives_the_numbers_of_the_reference_loop():
    cell, module = dr.LSTMCell(5, 4), dr.LSTM(4, 5, batch_first=True)
    for run, explain in (
        (lambda **how: dr.dynamic_rnn(cell, INPUTS, sequence_length=[3, 1], **how), cell),
        (lambda **how: module(INPUTS, lengths=[3, 1], **how), module),
    ):
        assert "reference loop" in dr.explain_dispatch(explain, INPUTS, implementation="reference")
        torch.testing.assert_close(run(implementation="reference")[0], run()[0], rtol=0, atol=2e-6)


@needs_kernels
def test_fused_is_taken_by_cells_directions_and_modules():
    fw, bw = dr.GRUCell(5), dr.MultiRNNCell([dr.ResidualWrapper(dr.LSTMCell(4)), dr.BasicRNNCell(5)])
    for how in ("auto", "fused"):
        outputs, _ = dr.bidirectional_dynamic_rnn(fw, bw, INPUTS, sequence_length=[3, 1], implementation=how)
        assert outputs[0].shape == outputs[1].shape == (2, 3, 5)
        for kind in (dr.LSTM, dr.GRU, dr.RNN):
            assert kind(4, 5)(INPUTS, implementation=how)[0].shape == (2, 3, 5)


@needs_kernels
@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (own_cell, "own_cell is called step by step, because it is a cell of your own"),
        (dr.ZoneoutWrapper(dr.GRUCell(5)), "GRUCell is called step by step, because zoneout changes the state"),
        (dr.MultiRNNCell([dr.GRUCell(5), dr.LayerNormLSTMCell(5)]), "there is no kernel for layer_norm_lstm"),
        (dr.LSTMCell(5, activation=torch.relu), "no kernel of lstm has the activation relu"),
    ],
)
def test_fused_that_is_not_available_is_refused_before_anything_is_computed(cell, reason):
    with pytest.raises(ValueError, match=f'implementation="fused" is not available: .*{reason}'):
        dr.dynamic_rnn(cell, INPUTS, initial_state=None if hasattr(cell, "zero_state") else 0 * INPUTS[:, 0],
                       implementation="fused")  # fmt: skip


def test_a_module_refuses_another_word_and_what_it_cannot_have():
    with pytest.raises(ValueError, match="implementation must be one of auto, fused, reference, got 'quick'"):
        dr.LSTM(4, 5)(INPUTS, implementation="quick")
    with pytest.raises(RuntimeError if missing() else ValueError, match="is not available"):
        dr.LSTM(4, 5).bfloat16()(INPUTS.bfloat16(), implementation="fused")
