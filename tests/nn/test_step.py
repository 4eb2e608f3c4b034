"""Cells of a user's whose step is cut at the input product: which ones are, and what that changes."""

import pytest
import torch
from nn.cell_kinds import SIZE, ProductCell, assert_close, inputs_of, leaves_of, loss_of, make, state_of
from torch import nn

import dynrnn as dr
from dynrnn import _nest
from dynrnn.nn.step import has_input_product

LENGTHS = [3, 0, 5, 1]


class Whole(ProductCell):
    """The same cell, of whose product nobody knows."""

    input_product = None

    def forward(self, inputs, state):
        return self.recur(ProductCell.input_product(self, inputs), state)


class Doubled(ProductCell):
    def forward(self, inputs, state):
        output, state = super().forward(inputs, state)
        return output * 2, state


class OtherRecur(ProductCell):
    def recur(self, product, state):
        output, state = super().recur(product, state)
        return output * 2, state


class OtherRecurAndForward(OtherRecur):
    def recur(self, product, state):
        return super().recur(product, state)

    def forward(self, inputs, state):
        return self.recur(self.input_product(inputs), state)


class WithoutForward(dr.RNNCell):
    """An RNNCell needs no forward; a product may be a submodule."""

    state_size = output_size = 4

    def __init__(self):
        super().__init__()
        self.input_product = nn.Linear(SIZE, 4, dtype=torch.float64)

    def recur(self, product, state):
        new = torch.tanh(product - state)
        return new, new


class NoModule:
    state_size = SIZE

    def input_product(self, inputs):
        return inputs * 2

    def recur(self, product, state):
        return product, state + product

    def __call__(self, inputs, state):
        return self.recur(self.input_product(inputs), state)


def watched():
    cell = ProductCell()
    cell.register_forward_hook(lambda *_: None)
    return cell


def replaced():
    cell = ProductCell()
    cell.forward = lambda inputs, state: (inputs, state)
    return cell


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ProductCell, True), (OtherRecur, True), (OtherRecurAndForward, True), (WithoutForward, True), (NoModule, True),
        (Doubled, False), (Whole, False), (watched, False), (replaced, False), (lambda: nn.Linear(2, 2), False),
        (lambda: (lambda inputs, state: (inputs, state)), False),
    ],
)  # fmt: skip
def test_which_cells_are_cut_at_the_product(kind, expected):
    assert has_input_product(kind()) is expected


@pytest.mark.parametrize("kind", [Doubled, OtherRecur, OtherRecurAndForward, replaced])
def test_whatever_is_written_anew_is_what_runs(kind):
    torch.manual_seed(1)
    cell, inputs = kind(), inputs_of(2, 3)
    outputs, _ = dr.dynamic_rnn(cell, inputs)
    step, _ = cell(inputs[:, 0], dr.dynamic_rnn(cell, inputs[:, :0])[1])
    assert_close(outputs[:, 0], step)


def test_a_cell_without_forward_steps_by_its_two_parts():
    cell, inputs = WithoutForward(), inputs_of(2, 1)
    output, state = cell(inputs[:, 0])
    assert_close(output, torch.tanh(cell.input_product(inputs[:, 0])))
    assert_close(dr.dynamic_rnn(cell, inputs)[1], state)
    with pytest.raises(NotImplementedError, match="RNNCell must have a forward, or an input_product and a recur"):
        dr.RNNCell()(inputs[:, 0])


@pytest.mark.parametrize("keywords", [{}, {"reverse": True}, {"parallel_iterations": 2}, {"checkpoint_every": 2}])
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_results_and_gradients_are_those_of_the_cell_that_is_called_whole(keywords, lengths):
    cell, whole = make("product"), Whole()
    whole.load_state_dict(cell.state_dict())
    inputs, state = inputs_of(4, 6), state_of(cell, 4)
    results = []
    for one in (cell, whole):
        found = dr.dynamic_rnn(one, inputs, sequence_length=lengths, initial_state=state, **keywords)
        results.append((found, list(torch.autograd.grad(loss_of(*found), leaves_of(one, inputs, state)))))
    assert_close(results[0], results[1])


@pytest.mark.parametrize(
    ("keywords", "calls"),
    [
        ({}, [9]),
        ({"reverse": True}, [9]),
        ({"parallel_iterations": 2}, [5, 4, 3]),  # rows 0 and 3 have ended, and are computed once more for later steps
        ({"checkpoint_every": 3}, [3, 7, 2]),  # the first step, to see what it takes gradients for
        ({"time_major": True}, [9]),
    ],
)
def test_the_product_is_computed_from_valid_steps_alone(keywords, calls):
    cell, inputs, seen = NoModule(), inputs_of(4, 6).detach(), []
    for row, length in enumerate(LENGTHS):
        inputs[row, length:] = torch.nan

    def input_product(rows):
        assert not rows.isnan().any()
        seen.append(len(rows))
        return rows * 2

    cell.input_product = input_product
    inputs = inputs.transpose(0, 1) if keywords.get("time_major") else inputs
    _, state = dr.dynamic_rnn(cell, inputs.requires_grad_(), sequence_length=LENGTHS, **keywords)
    assert seen == calls
    inputs = inputs.transpose(0, 1) if keywords.get("time_major") else inputs
    assert_close(state, torch.stack([2 * row[:length].sum(0) for row, length in zip(inputs, LENGTHS, strict=True)]))
    state.sum().backward()


class TwoInputs(nn.Module):
    """Inputs of other ranks and dtypes, a product of other ranks, a kernel whose gradient would show any NaN."""

    state_size = (3, torch.Size([2, 2]))

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 3, dtype=torch.float64)
        self.kernel = nn.Parameter(torch.linspace(-1, 1, 16, dtype=torch.float64).view(4, 4))

    def input_product(self, inputs):
        grid = (inputs["grid"].flatten(1) @ self.kernel).view(-1, 2, 2)
        return [self.embedding(inputs["word"]), (torch.sigmoid(grid), inputs["word"])]

    def recur(self, product, state):
        (vector, (grid, word)), (sums, cells) = product, state
        cells = torch.tanh(cells @ grid)
        new = sums + vector * cells.sum((1, 2)).unsqueeze(1)
        return {"sums": new, "word": word}, (new, cells)

    def forward(self, inputs, state):
        return self.recur(self.input_product(inputs), state)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("every", [None, 2])
def test_nested_inputs_with_poisoned_padding(reverse, every):
    torch.manual_seed(2)
    cell = TwoInputs()
    words, grids = torch.randint(5, (4, 6)), torch.randn(4, 6, 2, 2, dtype=torch.float64)
    dirty_words, dirty = words.clone(), grids.clone()
    for row, length in enumerate(LENGTHS):
        dirty_words[row, length:] = 1000  # out of the table's range
        dirty[row, length:] = torch.nan
    results = []
    for word, grid in ((words, grids), (dirty_words, dirty)):
        grid.requires_grad_()
        found = dr.dynamic_rnn(
            cell, {"word": word, "grid": grid}, sequence_length=LENGTHS, reverse=reverse, checkpoint_every=every,
            return_states=True,
        )  # fmt: skip
        loss = loss_of(found[0]["sums"], found[1])
        results.append((found, list(torch.autograd.grad(loss, [grid, *cell.parameters()]))))
    for one, other in zip(_nest.flatten(results[0]), _nest.flatten(results[1]), strict=True):
        assert torch.equal(one, other)
    assert not any(results[1][1][0][row, length:].any() for row, length in enumerate(LENGTHS))
    for row, length in enumerate(LENGTHS):
        alone = {"word": words[row : row + 1, :length], "grid": grids[row : row + 1, :length]}
        outputs, state = dr.dynamic_rnn(Alone(cell), alone, reverse=reverse)
        assert_close(results[0][0][0]["sums"][row : row + 1, :length], outputs["sums"])
        assert_close(_nest.map_structure(lambda v, row=row: v[row : row + 1], results[0][0][1]), state)


class Alone(nn.Module):
    """A cell as a module that has nothing but its step and its sizes."""

    def __init__(self, cell):
        super().__init__()
        self.state_size, self.step = cell.state_size, cell.forward

    def forward(self, inputs, state):
        return self.step(inputs, state)


def test_where_no_step_runs_products_say_what_the_outputs_are():
    cell, inputs = TwoInputs(), {"word": torch.zeros(2, 0).long(), "grid": torch.zeros(2, 0, 2, 2).double()}
    outputs, (sums, _) = dr.dynamic_rnn(cell, inputs)
    assert outputs["sums"].shape == (2, 0, 3) and outputs["word"].dtype == torch.int64 and not sums.any()


@pytest.mark.parametrize("reverse", [False, True])
def test_vmap_over_rows_and_lengths_is_the_batch(reverse):
    cell, inputs = make("product"), inputs_of(4, 6)
    wanted = dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS, reverse=reverse)

    def one(row, length):
        found = dr.dynamic_rnn(cell, row[None], sequence_length=length[None], reverse=reverse)
        return _nest.map_structure(lambda value: value[0], found)

    assert_close(torch.func.vmap(one)(inputs, torch.tensor(LENGTHS)), wanted)


@pytest.mark.parametrize("wrapper", [dr.ZoneoutWrapper, lambda cell: dr.DropoutWrapper(cell, state_dropout=0.5)])
@pytest.mark.parametrize("kind", ["product", "lstm"])
def test_wrappers_that_step_their_cell_keep_its_product_apart(wrapper, kind):
    torch.manual_seed(0)
    cell = wrapper(make(kind))
    inputs, state = inputs_of(4, 6), state_of(make(kind), 4)
    runs = []
    for iterations in (None, 1):
        torch.manual_seed(5)
        runs.append(dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS, initial_state=state,
                                   parallel_iterations=iterations))  # fmt: skip
    assert_close(runs[1], runs[0])
    whole = wrapper(Alone(make(kind)))
    torch.manual_seed(5)
    assert_close(dr.dynamic_rnn(whole, inputs, sequence_length=LENGTHS, initial_state=state), runs[0])


@pytest.mark.parametrize(
    ("product", "error", "message"),
    [
        (lambda rows: rows[:1], ValueError, "product[0] with a row for each of the 9 it was given, got [1, 3]"),
        (lambda rows: (rows, 1.0), TypeError, "product[1] as a tensor, got float"),
        (lambda rows: (rows,) * (len(rows) - 1), ValueError, "NoModule must return an input_product nested as before"),
    ],
)
def test_a_product_that_is_none_of_its_rows_is_refused(product, error, message):
    cell = NoModule()
    cell.input_product, cell.recur = product, lambda product, state: (state, state)
    iterations = 2 if "nested" in message else None
    with pytest.raises(error) as caught:
        dr.dynamic_rnn(cell, inputs_of(4, 6), sequence_length=LENGTHS, parallel_iterations=iterations,
                       initial_state=torch.zeros(4, SIZE).double())  # fmt: skip
    assert message in str(caught.value)
