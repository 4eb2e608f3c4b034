"""`tf.case`: the first true condition decides."""

import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def by_number(x, **options):
    """A case of the int `x`: 1, 2 or anything else."""
    pairs = [(tf.equal(x, 1), lambda: tf.constant(10)), (x < 3, lambda: tf.constant(20))]
    return tf.case(pairs, default=lambda: tf.constant(30), **options)


def test_the_first_true_condition_decides(session):
    x = tf.placeholder(tf.int32, [])
    result = by_number(x)
    assert [session.run(result, {x: value}) for value in (1, 2, 3)] == [10, 20, 30]
    assert result.name == "case/cond/Merge:0" and by_number(x, name="which").name == "which/cond/Merge:0"


def test_exclusive_conditions_are_checked(session):
    x = tf.placeholder(tf.int32, [])
    result = by_number(x, exclusive=True)
    assert [session.run(result, {x: value}) for value in (2, 3)] == [20, 30]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"More than one condition evaluated as True.*\[1 1\]"):
        session.run(result, {x: 1})


def test_a_dict_of_pairs(session):
    x = tf.placeholder(tf.int32, [])
    result = tf.case({x < 2: lambda: 1, x >= 2: lambda: 2}, default=lambda: 3, exclusive=True)
    assert [session.run(result, {x: value}) for value in (1, 2)] == [1, 2]


def test_without_a_default_one_condition_must_be_true(session):
    x = tf.placeholder(tf.int32, [])
    result = tf.case([(tf.equal(x, 1), lambda: tf.constant(10)), (tf.equal(x, 2), lambda: tf.constant(20))])
    assert [session.run(result, {x: value}) for value in (1, 2)] == [10, 20]
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"):
        session.run(result, {x: 3})
    single = tf.case([(x < 2, lambda: 7)])
    assert session.run(single, {x: 1}) == 7
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions"):
        session.run(single, {x: 3})


def test_only_the_case_taken_has_effects(session):
    v = tf.Variable(0)
    x = tf.placeholder(tf.int32, [])
    result = tf.case(
        [(tf.equal(x, 1), lambda: v.assign_add(1)), (tf.equal(x, 2), lambda: v.assign_add(10))],
        default=lambda: v.assign_add(100),
        exclusive=True,
    )
    session.run(v.initializer)
    assert [session.run(result, {x: value}) for value in (1, 2, 3)] == [1, 11, 111]
    assert session.run(v) == 111


def test_strict_keeps_a_list_of_one():
    pairs = [(tf.constant(True), lambda: [1])]
    assert isinstance(tf.case(pairs, default=lambda: [2], strict=True), list)
    assert isinstance(tf.case(pairs, default=lambda: [2]), tf.Tensor)


def test_gradients_pass(session):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    result = tf.case([(x < 0.0, lambda: -x * y), (x < 1.0, lambda: x * x)], default=lambda: tf.constant(1.0))
    gradients = tf.gradients(result, [x, y])
    found = [session.run(gradients, {x: value, y: 5.0}) for value in (-2.0, 0.5, 3.0)]
    assert found == [[-5, 2], [1, 0], [0, 0]]


@pytest.mark.parametrize(
    ("pairs", "error", "text"),
    [
        (lambda: 5, TypeError, "must be a list, tuple, or dict"),
        (list, ValueError, "at least one pair"),
        (lambda: [3], TypeError, "must be a 2-tuple"),
        (lambda: [(True, lambda: 1)], TypeError, "pred must be a Tensor, got: True"),
        (lambda: [(tf.constant(1), lambda: 1)], TypeError, "pred must be Tensor of type bool"),
        (lambda: [(tf.constant(True), 1)], TypeError, "fn for pred Const:0 must be callable"),
    ],
)
def test_what_is_no_list_of_cases_is_refused(pairs, error, text):
    with pytest.raises(error, match=text):
        tf.case(pairs())


def test_the_default_must_be_callable():
    with pytest.raises(TypeError, match="default must be callable"):
        tf.case([(tf.constant(True), lambda: 1)], default=3)
