"""Pictures: what they mark, what they refuse."""

import io

import pytest
import torch

import dynrnn as dr

pytest.importorskip("matplotlib", reason="pictures are an extra")
LENGTHS = [5, 2, 0]


def run(**options):
    cell = dr.LSTMCell(4, 3)
    return dr.dynamic_rnn(cell, torch.randn(3, 5, 3), sequence_length=LENGTHS, **options)


def labels(figure):
    return [axes.get_ylabel() for axes in figure.axes]


def test_each_row_has_its_heat_map_its_end_and_its_state():
    outputs, state = run()
    figure = dr.plot(outputs, state, LENGTHS)
    panels = [axes for axes in figure.axes if axes.get_ylabel().startswith("row")]
    assert [axes.get_ylabel() for axes in panels] == ["row 0\nlength 5", "row 1\nlength 2", "row 2\nlength 0"]
    assert [axes.lines[0].get_xdata()[0] for axes in panels] == [4.5, 1.5, -0.5]
    assert panels[1].images[0].get_array().flatten().tolist() == pytest.approx(
        outputs[1].detach().t().flatten().tolist()
    )
    shown = [
        axes.images[0].get_array().flatten().tolist() for axes in figure.axes if axes.images and not axes.get_ylabel()
    ]
    assert any(values == pytest.approx(state.h[1].detach().tolist()) for values in shown)
    picture = io.BytesIO()
    figure.savefig(picture)
    assert picture.getvalue().startswith(b"\x89PNG")


@pytest.mark.parametrize("layout", ["batch-major", "time-major"])
def test_no_lengths_other_layouts_and_plain_states(layout):
    outputs, state = dr.dynamic_rnn(dr.GRUCell(4, 3), torch.randn(3, 5, 3))
    if layout == "time-major":
        outputs = outputs.transpose(0, 1)
    figure = dr.plot(outputs, state, time_major=layout == "time-major")
    assert labels(figure)[0] == "row 0\nlength 5"
    dr.plot(torch.zeros(2, 0, 3), torch.zeros(2, 3), [0, 0]).savefig(io.BytesIO())
    dr.plot(torch.zeros(0, 3, 3), torch.zeros(0, 3)).savefig(io.BytesIO())


def test_gates_over_time():
    *_, gates = run(return_gates=True)
    figure = dr.plot_gates(gates, LENGTHS, row=1)
    assert labels(figure)[:4] == ["i", "j", "f", "o"]
    assert figure.axes[2].images[0].get_array().flatten().tolist() == pytest.approx(
        gates.f[1].detach().t().flatten().tolist()
    )
    figure.savefig(io.BytesIO())
    with pytest.raises(IndexError, match="row must be one of 3 rows, got 3"):
        dr.plot_gates(gates, LENGTHS, row=3)
    with pytest.raises(TypeError, match="gates must be LSTMGates or GRUGates, got tuple"):
        dr.plot_gates((gates,), LENGTHS)


def test_what_does_not_fit_is_refused():
    outputs, state = run()
    with pytest.raises(ValueError, match=r"plot: outputs must have shape \[batch, time, units\], got \[3, 4\]"):
        dr.plot(outputs[:, 0], state, LENGTHS)
    with pytest.raises(ValueError, match=r"plot: state must have shape \[3, units\]"):
        dr.plot(outputs, state.h[:2], LENGTHS)
    with pytest.raises(ValueError, match="exceeds max_time=5"):
        dr.plot(outputs, state, [9, 1, 1])
