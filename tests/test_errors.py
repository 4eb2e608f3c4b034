"""The error classes of `tf.errors`, and how error texts print tensors and suggest names."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from dynrnn import errors

CLASSES = [
    ("CancelledError", "CANCELLED", 1),
    ("UnknownError", "UNKNOWN", 2),
    ("InvalidArgumentError", "INVALID_ARGUMENT", 3),
    ("DeadlineExceededError", "DEADLINE_EXCEEDED", 4),
    ("NotFoundError", "NOT_FOUND", 5),
    ("AlreadyExistsError", "ALREADY_EXISTS", 6),
    ("PermissionDeniedError", "PERMISSION_DENIED", 7),
    ("ResourceExhaustedError", "RESOURCE_EXHAUSTED", 8),
    ("FailedPreconditionError", "FAILED_PRECONDITION", 9),
    ("AbortedError", "ABORTED", 10),
    ("OutOfRangeError", "OUT_OF_RANGE", 11),
    ("UnimplementedError", "UNIMPLEMENTED", 12),
    ("InternalError", "INTERNAL", 13),
    ("UnavailableError", "UNAVAILABLE", 14),
    ("DataLossError", "DATA_LOSS", 15),
    ("UnauthenticatedError", "UNAUTHENTICATED", 16),
]
NAMES = [name for name, _, _ in CLASSES]


class Operation:
    """An op that cannot be pickled, as one that belongs to a graph."""

    name = "rnn/MatMul"
    type = "MatMul"

    def __reduce__(self):
        raise TypeError("an operation does not travel")


@pytest.mark.parametrize(("name", "constant", "code"), CLASSES, ids=NAMES)
def test_each_class_has_tensorflows_number(name, constant, code):
    error = getattr(errors, name)("definition", None, "it failed")
    assert getattr(errors, constant) == error.error_code == code
    assert (error.node_def, error.op, error.message, str(error)) == ("definition", None, "it failed", "it failed")


@pytest.mark.parametrize("name", NAMES)
def test_each_class_is_caught_as_an_op_error_and_no_other(name):
    cls = getattr(errors, name)
    assert issubclass(cls, errors.OpError)
    assert not any(issubclass(cls, getattr(errors, other)) for other in NAMES if other != name)


def test_the_base_class_takes_the_number():
    error = errors.OpError(None, None, "broken", errors.ABORTED)
    assert (error.message, error.error_code) == ("broken", 10)


def test_arguments_may_be_given_by_name():
    error = errors.NotFoundError(node_def=None, op=None, message="no file")
    assert str(pickle.loads(pickle.dumps(error))) == "no file"


@pytest.mark.parametrize("field", ["node_def", "op", "message", "error_code"])
def test_the_fields_cannot_be_set(field):
    with pytest.raises(AttributeError):
        setattr(errors.AbortedError(None, None, "x"), field, 1)


def test_the_text_names_the_op():
    assert str(errors.InternalError(None, Operation(), "it failed")) == "it failed [[node rnn/MatMul]]"


def test_an_op_that_the_message_names_is_not_named_twice():
    text = "[[node rnn/MatMul]] failed"
    assert str(errors.InternalError(None, Operation(), text)) == text


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", NAMES)
def test_each_class_pickles(name, protocol):
    error = getattr(errors, name)(None, None, "it failed")
    copied = pickle.loads(pickle.dumps(error, protocol))
    assert type(copied) is type(error)
    assert (copied.message, copied.error_code, copied.args) == (error.message, error.error_code, error.args)


@pytest.mark.parametrize("travel", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
def test_a_pickled_error_keeps_the_name_of_its_op(travel):
    error = errors.OpError(SimpleNamespace(attr=lambda: 0), Operation(), "it failed", errors.UNKNOWN)
    copied = travel(error)
    assert (copied.op.name, copied.op.type, copied.node_def) == ("rnn/MatMul", "MatMul", None)
    assert (str(copied), copied.error_code) == (str(error), 2)


def test_a_pickled_error_keeps_its_notes():
    error = errors.UnknownError(None, None, "it failed")
    error.add_note("in step 3")
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["in step 3"]


def test_subclasses_keep_the_number():
    class Mine(errors.OutOfRangeError):
        pass

    assert Mine(None, None, "the end").error_code == 11


@pytest.mark.parametrize(
    ("shape", "dtype", "text"),
    [
        ([2, 3], "float32", "x [2, 3] float32"),
        ((2, None), "float32", "x [2, ?] float32"),
        ([], "int64", "x [] int64"),
        (None, "bool", "x <unknown> bool"),
        (torch.Size([4]), torch.float64, "x [4] float64"),
        (iter([1]), np.dtype("int32"), "x [1] int32"),
        ([np.int64(5)], np.float16, "x [5] float16"),
        ([1], SimpleNamespace(name="float32_ref"), "x [1] float32_ref"),
    ],
)
def test_describe_prints_name_shape_and_dtype(shape, dtype, text):
    assert errors.describe("x", shape, dtype) == text


def test_nearest_orders_by_likeness_and_stops_at_n():
    names = ["softmax", "LSTMCell", "BasicLSTMCell", "LSTMBlockCell", "GRUCell"]
    assert errors.nearest("LSTMCel", names)[0] == "LSTMCell"
    assert len(errors.nearest("LSTMCel", names, 2)) == 2


@pytest.mark.parametrize("name", ["lstmcell", "LSTMCELL", "LstmCell"])
def test_nearest_does_not_mind_capitals(name):
    assert errors.nearest(name, iter(["GRUCell", "LSTMCell"]), 1) == ["LSTMCell"]


def test_nearest_finds_nothing_where_nothing_is_near():
    assert errors.nearest("zzz", ["softmax", "tanh"]) == []
    assert errors.nearest("zzz", []) == []
