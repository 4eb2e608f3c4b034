"""What wrappers of one cell share."""

import pytest
import torch

import dynrnn as dr

DOUBLE = {"dtype": torch.float64}
WRAPPERS = [dr.DropoutWrapper, dr.ZoneoutWrapper, dr.ResidualWrapper]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_wrappers_have_their_cells_sizes_and_states(wrapper):
    cell = wrapper(dr.LSTMCell(3, 3, **DOUBLE))
    assert cell.state_size == dr.LSTMState(3, 3) and cell.output_size == 3
    assert cell.zero_state(2).c.dtype == torch.float64
    with pytest.raises(TypeError, match=f"{wrapper.__name__}: cell must be a module or a function"):
        wrapper(None)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_state_is_refused_as_the_inner_cell_refuses_it(wrapper):
    cell, inputs = wrapper(dr.GRUCell(3, 3, **DOUBLE)), torch.ones(2, 4, 3, **DOUBLE)
    with pytest.raises(TypeError, match="dynamic_rnn: initial_state is int64, expected float64"):
        dr.dynamic_rnn(cell, inputs, initial_state=torch.zeros(2, 3, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"dynamic_rnn: initial_state has shape \[3, 3\], expected \[2, 3\]"):
        dr.dynamic_rnn(cell, inputs, initial_state=torch.zeros(3, 3, **DOUBLE))


def test_a_wrapper_of_yours_may_have_a_state_of_its_own():
    class Counted(dr.ResidualWrapper):
        @property
        def state_size(self):
            return (self.cell.state_size, 1)

        def zero_state(self, batch_size, *, dtype=None, device=None):
            inner = self.cell.zero_state(batch_size, dtype=dtype, device=device)
            return inner, torch.zeros(batch_size, 1, dtype=torch.int64)

        def forward(self, inputs, state=None):
            output, new = super().forward(inputs, state[0])
            return output, (new, state[1] + 1)

    cell, inputs = Counted(dr.GRUCell(3, 3, **DOUBLE)), torch.ones(2, 4, 3, **DOUBLE)
    _, (_, count) = dr.dynamic_rnn(cell, inputs, sequence_length=[4, 1])
    assert count.tolist() == [[4], [1]]
    again = (torch.zeros(2, 3, **DOUBLE), count)
    assert dr.dynamic_rnn(cell, inputs, sequence_length=[4, 1], initial_state=again)[1][1].tolist() == [[8], [2]]
