"""PackedSequences, jagged tensors and lists of sequences: in and out, against torch's modules and the padded run."""

import copy
import itertools

import pytest
import torch
from nn.module_cases import INPUT, KINDS, SHAPES, close, draw_hx, gradients, make, states
from torch.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    unpack_sequence,
)

from dynrnn.nn.arrange import arrange

LENGTHS = [2, 5, 1, 5]

every_kind = pytest.mark.parametrize("name", KINDS)


def padded(lengths=LENGTHS, dtype=torch.float64):
    return torch.randn(len(lengths), max(lengths), INPUT, dtype=dtype, requires_grad=True)


def rows_of(inputs, lengths=LENGTHS):
    return [inputs[row, :length] for row, length in enumerate(lengths)]


@every_kind
@pytest.mark.parametrize(("layers", "bidirectional", "bias", "batch_first"), SHAPES)
@pytest.mark.parametrize("sorted_by", ["torch", "caller"])
def test_a_packed_sequence_goes_through_as_through_torchs_module(
    name, layers, bidirectional, bias, batch_first, sorted_by
):
    ours, theirs = make(name, num_layers=layers, bidirectional=bidirectional, bias=bias, batch_first=batch_first)
    lengths = LENGTHS if sorted_by == "torch" else sorted(LENGTHS, reverse=True)
    inputs, hx = padded(lengths), draw_hx(theirs, 4)
    packed = pack_padded_sequence(inputs, torch.tensor(lengths), True, enforce_sorted=sorted_by == "caller")
    output, final = ours(packed, hx)
    expected, expected_final = theirs(packed, hx)
    assert isinstance(output, PackedSequence)
    for ours_field, theirs_field in zip(output[1:], expected[1:], strict=True):
        assert (ours_field is theirs_field) or torch.equal(ours_field, theirs_field)
    close((output.data, *states(final)), (expected.data, *states(expected_final)))
    leaves = [inputs, *states(hx)]
    mine = gradients((output.data, *states(final)), [*leaves, *ours.parameters()])
    close(mine, gradients((expected.data, *states(expected_final)), [*leaves, *theirs.parameters()]), 1e-11)


@every_kind
def test_packed_and_padded_say_the_same_in_the_callers_order(name):
    ours, theirs = make(name, num_layers=2, bidirectional=True, batch_first=True)
    inputs, hx = padded(), draw_hx(theirs, 4)
    whole, final = ours(inputs, hx, lengths=LENGTHS)
    packed, packed_final = ours(pack_padded_sequence(inputs, LENGTHS, True, enforce_sorted=False), hx)
    again, lengths = pad_packed_sequence(packed, batch_first=True)
    close(again, whole)
    close(states(packed_final), states(final))
    assert lengths.tolist() == LENGTHS


def test_a_packed_sequence_without_a_state_begins_with_zeros():
    ours, theirs = make("lstm")
    packed = pack_sequence(rows_of(padded()), enforce_sorted=False)
    close(ours(packed)[0].data, theirs(packed)[0].data)


def test_round_trips_through_torchs_functions():
    ours, _ = make("gru", batch_first=True)
    inputs = padded()
    rows = unpack_sequence(ours(pack_sequence(rows_of(inputs), enforce_sorted=False))[0])
    whole, _ = ours(inputs, lengths=LENGTHS)
    for row, length in enumerate(LENGTHS):
        close(rows[row], whole[row, :length])


def test_a_packed_sequence_has_a_second_derivative():
    ours, _ = make("lstm", bidirectional=True)

    def run(data):
        packed = PackedSequence(data, torch.tensor([2, 1]), torch.tensor([1, 0]), torch.tensor([1, 0]))
        output, (h, c) = ours(packed)
        return output.data, h, c

    assert torch.autograd.gradgradcheck(run, torch.randn(3, INPUT, dtype=torch.float64, requires_grad=True))


@every_kind
@pytest.mark.parametrize("lengths", [[2, 5, 0, 3], [0, 0], [1], []], ids=str)
@pytest.mark.parametrize("collection", [list, tuple])
def test_a_list_of_sequences_comes_back_as_a_list(name, lengths, collection):
    ours, _ = make(name, num_layers=2, bidirectional=True, batch_first=True)
    inputs = torch.randn(len(lengths), max([*lengths, 1]), INPUT, dtype=torch.float64)
    output, final = ours(collection(rows_of(inputs, lengths)))
    whole, expected = ours(inputs, lengths=lengths)
    assert isinstance(output, list) and [len(row) for row in output] == lengths
    for row, length in enumerate(lengths):
        close(output[row], whole[row, :length])
    close(states(final), states(expected))


@every_kind
@pytest.mark.parametrize("lengths", [[2, 5, 0, 3], [1, 1]], ids=str)
def test_a_jagged_tensor_comes_back_jagged_with_the_same_offsets(name, lengths):
    ours, theirs = make(name, num_layers=2, bidirectional=True)
    rows = [row.detach() for row in rows_of(torch.randn(len(lengths), 5, INPUT, dtype=torch.float64), lengths)]
    nested = torch.nested.nested_tensor(rows, layout=torch.jagged)
    hx = draw_hx(theirs, len(lengths))
    output, final = ours(nested, hx)
    expected, expected_final = ours(rows, hx)
    assert output.layout == torch.jagged and output.offsets() is nested.offsets()
    assert output.shape[:2] == nested.shape[:2]  # the same ragged size, so that the two can be added, say
    for mine, other in zip(output.unbind(), expected, strict=True):
        assert torch.equal(mine, other)
    assert all(torch.equal(one, other) for one, other in zip(states(final), states(expected_final), strict=True))


def test_gradients_flow_through_a_jagged_tensor():
    ours, _ = make("gru", bidirectional=True)
    rows = [torch.randn(length, INPUT, dtype=torch.float64, requires_grad=True) for length in (3, 1)]
    nested = torch.nested.as_nested_tensor(rows, layout=torch.jagged)
    mine = gradients((ours(nested)[0].values(),), [*rows, *ours.parameters()])
    close(mine, gradients((torch.cat(ours(rows)[0]),), [*rows, *ours.parameters()]))


def test_a_jagged_tensor_with_holes_keeps_them():
    ours, _ = make("rnn")
    padded_rows = torch.randn(3, 4, INPUT, dtype=torch.float64)
    padded_rows[0, 3] = float("nan")  # in a hole
    nested = torch.nested.narrow(padded_rows, 1, torch.tensor([0, 1, 2]), torch.tensor([3, 2, 1]), layout=torch.jagged)
    output, state = ours(nested)
    expected, same = ours([padded_rows[0, :3], padded_rows[1, 1:3], padded_rows[2, 2:3]])
    assert output.offsets() is nested.offsets() and torch.equal(output.lengths(), nested.lengths())
    for mine, other in zip(output.unbind(), expected, strict=True):
        assert torch.equal(mine, other)
    assert torch.equal(state, same)


def test_what_holds_no_padding_takes_no_lengths_and_no_padding_value():
    ours, _ = make("lstm")
    rows = rows_of(padded())
    forms = {
        "a PackedSequence": pack_sequence(rows, enforce_sorted=False),
        "a list of sequences": rows,
        "a nested tensor": torch.nested.as_nested_tensor(rows, layout=torch.jagged),
    }
    for (kind, value), option in itertools.product(forms.items(), ({"lengths": LENGTHS}, {"padding_value": 1.0})):
        wrong = (
            "has its own lengths; leave lengths= out" if "lengths" in option else "has no padding that padding_value"
        )
        with pytest.raises(ValueError, match=f"LSTM: {kind} {wrong}"):
            ours(value, **option)


def test_other_nested_tensors_are_refused():
    ours, _ = make("lstm")
    rows = [row.detach() for row in rows_of(padded())]
    nested = torch.nested.as_nested_tensor(rows, layout=torch.jagged)
    with pytest.raises(ValueError, match=r"must have layout=torch\.jagged and dimensions \[batch, time, input_size\]"):
        ours(nested.transpose(1, 2))


def test_each_sequence_of_a_list_is_checked():
    ours, _ = make("lstm")
    with pytest.raises(ValueError, match=r"LSTM: input\[1\] must have shape \[time, 3\], got \[3\]"):
        ours([torch.zeros(2, 3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64)])
    with pytest.raises(ValueError, match=r"input\[0\] must have input_size = 3 as its last dimension, got \[2, 4\]"):
        ours([torch.zeros(2, 4, dtype=torch.float64)])
    with pytest.raises(TypeError, match=r"input\[0\] must be a tensor, .* got int"):
        ours([1, 2])


def test_the_module_keeps_nothing_of_a_call():
    ours, _ = make("lstm")
    before = copy.deepcopy(vars(ours))
    ours(rows_of(padded()))
    assert vars(ours).keys() == before.keys()


@pytest.mark.parametrize("kind", ["list", "jagged", "packed"])
def test_rows_are_walked_without_padding(kind):
    rows = [torch.randn(length, INPUT) for length in (1, 90, 2, 0 if kind == "list" else 3)]
    values = {
        "list": lambda: rows,
        "jagged": lambda: torch.nested.nested_tensor(rows, layout=torch.jagged),
        "packed": lambda: pack_sequence(rows, enforce_sorted=False),
    }[kind]()
    layout = arrange("LSTM", values, None, False, torch.zeros(4, INPUT), 0.0)
    assert layout.inputs.shape == (1, sum(len(row) for row in rows), INPUT)
    module = make("lstm", num_layers=2, bidirectional=True)[0].float()
    fused, reference = module(values)[0], module(values, implementation="reference")[0]
    parts = {"list": list, "jagged": lambda value: [value.values()], "packed": lambda value: [value.data]}[kind]
    for one, other in zip(parts(fused), parts(reference), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=2e-6)
