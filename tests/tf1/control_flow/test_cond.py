"""`tf.cond`: which branch runs, what comes out of it, and what is refused."""

from collections import namedtuple

import numpy as np
import pytest

import dynrnn.tf1 as tf

Pair = namedtuple("Pair", "a b")
Single = namedtuple("Single", "a")


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def true():
    return tf.constant(True)


def run(session, result, feed=None):
    session.run(tf.global_variables_initializer())
    return session.run(result, feed)


# What comes out


def test_the_branch_of_a_fed_predicate_runs(session):
    pred = tf.placeholder(tf.bool, [])
    result = tf.cond(pred, lambda: tf.constant(1.0) + 1.0, lambda: tf.constant(5.0))
    assert [session.run(result, {pred: value}) for value in (True, False, np.bool_(True))] == [2, 5, 2]


@pytest.mark.parametrize("make", [lambda: tf.constant(True), lambda: tf.placeholder_with_default(True, [])])
def test_a_predicate_that_has_a_value_may_be_fed(session, make):
    pred = make()
    result = tf.cond(pred, lambda: 1, lambda: 2)
    assert [session.run(result), session.run(result, {pred: False})] == [1, 2]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((1, 2.0), (3, 4.0)),
        ([1, 2.0], [3, 4.0]),
        (Pair(1, 2.0), Pair(3, 4.0)),
        ({"b": 1, "a": 2.0}, {"a": 4.0, "b": 3}),
        ((1, [2.0, {"x": 3}]), (4, [5.0, {"x": 6}])),
    ],
    ids=["tuple", "list", "namedtuple", "dict", "nest"],
)
def test_results_keep_their_structure(session, first, second):
    for pred, expected in ((True, first), (False, second)):
        found = session.run(tf.cond(tf.constant(pred), lambda: first, lambda: second))
        assert type(found) is type(expected) and found == expected


def test_a_single_result_comes_out_of_its_list_unless_strict():
    results = [lambda: [1.0], lambda: (1.0,), lambda: Single(1.0), lambda: [[1.0]]]
    assert all(isinstance(tf.cond(true(), result, result), tf.Tensor) for result in results)
    assert isinstance(tf.cond(true(), results[0], results[0], strict=True), list)
    ((inner,),) = tf.cond(true(), results[3], results[3], strict=True)
    assert isinstance(inner, tf.Tensor)
    assert list(tf.cond(true(), lambda: {"a": 1.0}, lambda: {"a": 2.0})) == ["a"]


def test_results_have_tensorflows_names():
    one = tf.cond(true(), lambda: 1, lambda: 2)
    two = tf.cond(true(), lambda: (1, 2.0), lambda: (2, 3.0), name="choice")
    assert [tensor.name for tensor in (one, *two)] == ["cond/Merge:0", "choice/Merge:0", "choice/Merge_1:0"]
    k = []
    tf.cond(true(), lambda: k.append(tf.constant(1, name="x")) or k[0], lambda: 1, name="choice")
    assert k[0].name == "choice_1/x:0"


def test_an_operation_as_result_gives_a_bool_that_comes_after_it(session):
    v = tf.Variable(0.0)
    pred = tf.placeholder(tf.bool, [])
    result = tf.cond(pred, lambda: tf.group(tf.assign_add(v, 1.0)), tf.no_op)
    assert result.dtype is tf.bool and result.shape.ndims == 0
    session.run(v.initializer)
    found = [(session.run(result, {pred: value}), session.run(v)) for value in (True, False)]
    assert found == [(True, 1), (False, 1)]
    mixed = tf.cond(pred, lambda: [tf.no_op(), tf.constant(3)], lambda: [tf.no_op(), tf.constant(4)])
    assert session.run(mixed, {pred: False}) == [False, 4]


def test_sparse_values_stay_sparse(session):
    def slices(x):
        return tf.IndexedSlices(tf.constant([x]), tf.constant([1]), tf.constant([3]))

    result = tf.cond(true(), lambda: slices(1.0), lambda: slices(2.0))
    assert isinstance(result, tf.IndexedSlices) and session.run(result).values == [1]
    sparse = tf.cond(true(), lambda: tf.SparseTensor([[0]], [1.0], [2]), lambda: tf.SparseTensor([[1]], [2.0], [2]))
    assert session.run(tf.sparse_tensor_to_dense(sparse)).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [([3, 4], [3, 4], [3, 4]), ([3, 4], [3, None], [3, None]), ([3, 4], [3, 5], [3, None])],
)
def test_static_shapes_are_what_both_branches_agree_on(first, second, expected):
    x, y = tf.placeholder(tf.float32, first), tf.placeholder(tf.float32, second)
    assert tf.cond(true(), lambda: x, lambda: y).shape.as_list() == expected


def test_the_rank_is_unknown_where_the_branches_differ():
    x, y = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [3, 4])
    assert tf.cond(true(), lambda: x, lambda: y).shape.ndims is None
    assert tf.cond(true(), lambda: x, lambda: tf.placeholder(tf.float32)).shape.ndims is None


def test_a_variable_may_be_a_result(session):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    assert run(session, tf.cond(true(), lambda: v, lambda: tf.constant(1.0))) == 3
    result = tf.cond(tf.constant(False), lambda: v, lambda: w)
    assert result.dtype is tf.float32 and run(session, result) == 4


def test_both_branches_may_give_what_they_are_given(session):
    x = tf.constant([1.0, 2.0])
    result = tf.cond(tf.constant(False), lambda: x, lambda: x)
    value, gradient = session.run([result, tf.gradients(result, x)[0]])
    assert value.tolist() == [1, 2] and gradient.tolist() == [1, 1]


def test_ten_in_a_row(session):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    x, y = a, b
    for _ in range(10):
        x, y = tf.cond(x < y, lambda x=x, y=y: (y, x * 2.0), lambda x=x, y=y: (y, x))
    assert session.run([x, y], {a: 1.0, b: 2.0}) == _ten(1.0, 2.0)


def _ten(x, y):
    for _ in range(10):
        x, y = (y, x * 2.0) if x < y else (y, x)
    return [x, y]


@pytest.mark.parametrize(("outer", "inner", "expected"), [(True, True, 1), (True, False, 2), (False, True, 3)])
def test_branches_nest(session, outer, inner, expected):
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    result = tf.cond(p, lambda: tf.cond(q, lambda: 1, lambda: 2), lambda: tf.constant(3))
    assert session.run(result, {p: outer, q: inner}) == expected


def test_the_older_names_of_the_branches(session):
    assert session.run(tf.cond(true(), fn1=lambda: 1, fn2=lambda: 2)) == 1


def test_only_what_the_needed_results_need_runs(session):
    unfed = tf.placeholder(tf.int32, [])
    first, second = tf.cond(true(), lambda: (tf.constant(1), unfed), lambda: (2, 3))
    assert session.run(first) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed"):
        session.run(second)


# What is refused


@pytest.mark.parametrize("pred", [True, False])
def test_a_python_bool_is_no_predicate(pred):
    with pytest.raises(TypeError, match="pred must not be a Python bool"):
        tf.cond(pred, lambda: 1, lambda: 2)


def test_predicates_must_be_bool_scalars(session):
    with pytest.raises(TypeError, match="must be a bool tensor, got Const:0 of type int32"):
        tf.cond(tf.constant(1), lambda: 1, lambda: 2)
    with pytest.raises(ValueError, match="rank 0"):
        tf.cond(tf.constant([True]), lambda: 1, lambda: 2)
    pred = tf.placeholder(tf.bool)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"pred must be a scalar, but it has shape \[1\]"):
        session.run(tf.cond(pred, lambda: 1, lambda: 2), {pred: [True]})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"true_fn": 1, "false_fn": lambda: 1}, "true_fn must be callable"),
        ({"true_fn": lambda: 1, "false_fn": 1}, "false_fn must be callable"),
        ({"true_fn": lambda: 1}, "false_fn argument required"),
        ({"true_fn": lambda: 1, "fn1": lambda: 1, "fn2": lambda: 1}, "true_fn and fn1 may not be set simultaneously"),
    ],
)
def test_branches_must_be_given_once_and_callable(arguments, text):
    with pytest.raises(TypeError, match=text):
        tf.cond(true(), **arguments)


@pytest.mark.parametrize("branches", [(lambda: None, lambda: 1), (lambda: 1, lambda: None)])
def test_branches_must_return_something(branches):
    with pytest.raises(ValueError, match="must have a return value"):
        tf.cond(true(), *branches)


def test_no_part_of_a_result_may_be_none():
    with pytest.raises(ValueError, match="None values not supported"):
        tf.cond(true(), lambda: (1, None), lambda: (1, None))


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        ((1, 2.0), (2,), ValueError),
        ((1, 2.0), 2, ValueError),
        ({"a": 1}, {"b": 1}, ValueError),
        ((1, 2.0), [2, 3.0], TypeError),
    ],
)
def test_branches_must_agree_on_the_structure(first, second, error):
    with pytest.raises(error, match=r"Incompatible return types .* don't have the same nested structure"):
        tf.cond(true(), lambda: first, lambda: second)


def test_branches_must_agree_on_dtypes():
    with pytest.raises(ValueError, match="must have the same type: int32, float32"):
        tf.cond(true(), lambda: 1, lambda: 2.0)


def test_a_failed_call_leaves_the_graph_as_it_was(fresh_graph):
    with pytest.raises(KeyError, match="mine"):
        tf.cond(true(), lambda: tf.constant(1), lambda: {}["mine"])
    assert [op.type for op in fresh_graph.get_operations()] == ["Const"]


def test_what_a_branch_raises_shows_the_programs_line():
    def branch():
        return tf.zeros([2]) + tf.zeros([3])

    with pytest.raises(ValueError) as caught:
        tf.cond(true(), branch, lambda: tf.zeros([2]))
    assert any(entry.name == "branch" for entry in caught.traceback)


# A branch's tensors from outside


def inside(pred=True):
    """A tensor and an assignment in the true branch, and the result of the cond."""
    kept = []
    v = tf.Variable(0.0)

    def branch():
        kept.extend([tf.constant(1.0) + 1.0, tf.assign_add(v, 1.0)])
        return tf.constant(1.0)

    result = tf.cond(tf.constant(pred), branch, lambda: 2.0)
    return [*kept, result, v]


def test_a_branchs_tensors_can_be_neither_fetched_nor_fed(session):
    tensor, _, result, _ = inside()
    with pytest.raises(ValueError, match="'cond/add' has been marked as not fetchable"):
        session.run(tensor)
    with pytest.raises(ValueError, match="may not be fed"):
        session.run(result, {tensor: 1.0})


def test_a_branchs_tensor_can_be_used_where_the_branch_is_taken(session):
    tensor, *_ = inside()
    assert run(session, tensor * 10.0) == 20
    unused, *_ = inside(False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
        run(session, unused * 10.0)


def test_a_branchs_operation_runs_for_those_that_depend_on_it_if_the_branch_is_taken(session):
    for pred, count in ((True, 1), (False, 0)):
        _, assignment, result, v = inside(pred)
        with tf.control_dependencies([assignment]):
            after = tf.identity(5.0)
        run(session, result)
        assert session.run(v) == 0
        assert session.run(after) == 5 and session.run(v) == count


@pytest.mark.parametrize("pred", [True, False])
def test_a_branchs_tensor_never_has_a_value_in_the_other_branch(session, pred):
    kept = []
    branch = lambda: kept.append(tf.constant(2.0)) or tf.identity(kept[0])  # noqa: E731
    result = tf.cond(tf.constant(pred), branch, lambda: kept[0] + 1.0)
    if pred:
        assert session.run(result) == 2
    else:
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            session.run(result)


def test_tensors_of_nested_branches_can_be_used_outside(session):
    x = tf.placeholder(tf.float32, [])
    kept = []

    def inner():
        kept.append(x * 3.0)
        return tf.constant(1.0)

    tf.cond(true(), lambda: tf.cond(x > 0.0, inner, lambda: 2.0), lambda: 3.0)
    y = kept[0] + 1.0
    assert session.run([y, tf.gradients(y, x)[0]], {x: 2.0}) == [7, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
        session.run(y, {x: -2.0})


def test_a_failed_use_of_a_branchs_tensor_is_taken_back(session):
    tensor, _, result, _ = inside()
    holder = result.op.inputs[0].op
    before = holder.inputs, list(holder.outputs)
    with pytest.raises(KeyError), tf.get_default_graph().atomic():
        tf.negative(tensor)
        raise KeyError
    assert (holder.inputs, list(holder.outputs)) == before
    assert run(session, tf.negative(tensor)) == -2
