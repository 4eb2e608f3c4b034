"""Nothing depends on torch's default device: every face gives its bits under another one, if its tensors stay here."""

import itertools

import pytest
import torch
from nn.cell_kinds import assert_same_bits, inputs_of, leaves_of, make, state_of
from torch.nn.utils.rnn import pack_padded_sequence

import dynrnn as dr
from dynrnn import _nest
from dynrnn.kernels import missing

LENGTHS, BATCH, TIME = [3, 0, 5, 1], 4, 6
RESETS = [[t == 2 or t == b for t in range(TIME)] for b in range(BATCH)]
WAYS = ["auto", "reference"] if missing() is None else ["reference"]
KINDS = {"LSTM": dr.LSTM, "GRU": dr.GRU, "RNN": dr.RNN}


def assert_same_elsewhere(run):
    wanted = run()
    with torch.device("meta"):
        found = run()
    assert_same_bits(found, wanted)


def module_of(kind, **options):
    torch.manual_seed(0)
    return KINDS[kind](3, 4, num_layers=2, dtype=torch.float64, device="cpu", **options)


def loss_of(found):
    return torch.stack([value.square().sum() for value in _nest.flatten(found)]).sum()


@pytest.mark.parametrize("name", ["lstm", "layer_norm", "nested", "product", "multi-mixed"])
@pytest.mark.parametrize(
    "extras",
    [
        {},
        {"return_states": True},
        {"reverse": True, "return_states": True},
        {"parallel_iterations": 2},
        {"resets": RESETS},
        {"resets": RESETS, "reverse": True},
        {"checkpoint_every": 2},
        {"checkpoint_every": 2, "resets": RESETS, "reverse": True},
    ],
    ids=lambda extras: "-".join(extras) or "plain",
)
def test_cells_and_their_gradients(name, extras):
    cell, inputs, state = make(name), inputs_of(BATCH, TIME), state_of(make(name), BATCH)
    if "resets" in extras:
        extras = {**extras, "reset_state": state_of(cell, BATCH, seed=1)}
    leaves = leaves_of(cell, inputs, state)
    for way, lengths in itertools.product(WAYS, [None, LENGTHS, [0] * BATCH]):

        def run(way=way, lengths=lengths):
            how = {"sequence_length": lengths, "initial_state": state, "implementation": way}
            found = dr.dynamic_rnn(cell, inputs, **how, **extras)
            return found, list(torch.autograd.grad(loss_of(found), leaves, allow_unused=True, materialize_grads=True))

        assert_same_elsewhere(run)


@pytest.mark.parametrize("name", ["lstm", "nested", "multi-mixed"])
def test_on_step_both_directions_and_pieces(name):
    cell, inputs = make(name), inputs_of(BATCH, TIME).detach()

    def run():
        seen: list = []

        def on_step(*step):
            seen.append(step[1:])

        for lengths in (None, LENGTHS):
            dr.dynamic_rnn(cell, inputs, sequence_length=lengths, on_step=on_step)
            seen.append(dr.bidirectional_dynamic_rnn(cell, cell, inputs, sequence_length=lengths))
            chunks = dr.truncated_bptt(cell, inputs, 4, sequence_length=lengths)
            seen += [(chunk.outputs, chunk.state, _or_none(chunk.lengths)) for chunk in chunks]
        stream = dr.Stream(cell)
        for rows in ([0, 2], [True, False, False, False], []):
            seen.append(stream(inputs, sequence_length=LENGTHS))
            stream.reset(rows)
        return [*seen, stream.state, dr.chunk_lengths(LENGTHS, 2)]

    assert_same_elsewhere(run)


def _or_none(lengths):
    return [] if lengths is None else lengths


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_modules_over_all_forms_of_inputs(kind, way, bidirectional):
    module = module_of(kind, bidirectional=bidirectional, batch_first=True)
    padded = inputs_of(BATCH, TIME)
    values = padded.detach()
    rows = [values[0, :3], values[1, :0], values[2, :5], values[3, :1]]
    packed = pack_padded_sequence(values, torch.tensor([3, 1, 5, 2]), batch_first=True, enforce_sorted=False)
    jagged = torch.nested.nested_tensor(rows, layout=torch.jagged)
    with_holes = torch.nested.nested_tensor_from_jagged(
        values.flatten(0, 1), torch.tensor([0, 6, 12, 18, 24]), torch.tensor(LENGTHS)
    )

    def run():
        found = []
        for inputs, lengths in (
            (padded, None), (padded, LENGTHS), (padded[0], None), (padded[0], 2), (rows, None), ([], None),
        ):  # fmt: skip
            found.append(module(inputs, lengths=lengths, implementation=way))
        found.append(module(padded, lengths=LENGTHS, padding_value=1.0, implementation=way))
        output, state = module(packed, implementation=way)
        found.append((output.data, state))
        for inputs in (jagged, with_holes):
            output, state = module(inputs, implementation=way)
            found.append((output.values(), state))
        grads = torch.autograd.grad(loss_of(found), [padded, *module.parameters()])
        return [*found, *grads]

    assert_same_elsewhere(run)
    with torch.autocast("cpu", torch.bfloat16):  # rows are laid out as a padded batch
        module.float()
        assert_same_elsewhere(lambda: module([row.float() for row in rows])[0])


@pytest.mark.parametrize("kind", KINDS)
def test_modules_in_float16_streams_frozen_weights_and_explanations(kind):
    module, inputs = module_of(kind).bfloat16(), inputs_of(TIME, BATCH).bfloat16()  # by torch's operator

    def run():
        found = [module(inputs), module(inputs, lengths=[TIME] * BATCH)]
        stream = dr.Stream(module)
        found.append(stream(inputs, sequence_length=LENGTHS))
        stream.reset([1])
        with torch.no_grad(), dr.frozen(module):
            found.append(module(inputs, lengths=LENGTHS))
        dr.explain_dispatch(module, inputs, lengths=LENGTHS)
        return [*found, stream.state]

    assert_same_elsewhere(run)


@pytest.mark.parametrize("name", ["lstm", "layer_norm", "nested", "product"])
def test_mapped_rows(name):
    cell, inputs, lengths = make(name), inputs_of(BATCH, TIME), torch.tensor(LENGTHS)

    def one(row, length):
        found = dr.dynamic_rnn(cell, row[None], sequence_length=length[None])
        return _nest.map_structure(lambda value: value[0], found)

    assert_same_elsewhere(lambda: torch.func.vmap(one)(inputs, lengths))
    resets = torch.tensor(RESETS[:2])
    run = lambda rows: dr.dynamic_rnn(cell, rows[None].expand(2, -1, -1), resets=resets)[1]  # noqa: E731
    assert_same_elsewhere(lambda: torch.func.vmap(run)(inputs))


@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=str)
def test_what_is_taken_from_a_pass(lengths):
    outputs = inputs_of(BATCH, TIME)
    assert_same_elsewhere(lambda: dr.last_output(outputs, lengths))


def test_pictures():
    pytest.importorskip("matplotlib")
    cell, inputs = make("gru"), inputs_of(BATCH, TIME)
    with torch.device("meta"):
        outputs, state, gates = dr.dynamic_rnn(cell, inputs, sequence_length=LENGTHS, return_gates=True)
        dr.plot(outputs, state, LENGTHS)
        dr.plot(outputs[:, :0], state)
        dr.plot_gates(gates, LENGTHS, row=2)


def test_parameters_follow_the_default_device_as_torchs_do():
    with torch.device("meta"):
        for module in (dr.LSTM(3, 4), dr.GRUCell(4, 3), dr.LayerNormLSTMCell(4, 3)):
            assert all(value.is_meta for value in module.parameters())
