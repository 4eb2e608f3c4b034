"""Assertions and checks: what is known fails while building, the rest in a run, with the values in the text."""

import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.ops.value_text import value_text


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


FED = [1.0, 3.0, -4.0, 5.0]


def fed():
    return tf.placeholder(tf.float32, name="p")


# The text of values


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (1, None, "[1]"),
        ([1, 2, 3, 4, 5], None, "[1 2 3...]"),
        ([[1, 2], [3, 4]], None, "[[1 2][3...]...]"),
        ([[1, 2], [3, 4]], 10, "[[1 2][3 4]]"),
        ([[1], [3], [5], [7]], None, "[[1][3][5]...]"),
        (np.arange(24).reshape(2, 3, 4), 7, "[[[0 1 2 3][4 5 6...]]...]"),
        (np.arange(10), 0, "[...]"),
        (np.arange(10), -1, "[0 1 2 3 4 5 6 7 8 9]"),
        (np.zeros([0]), None, "[]"),
        (np.zeros([2, 0]), None, "[]"),
        (np.array([b"x", b"y"], object), None, "[x y]"),
        ([False, True], None, "[0 1]"),
        (np.float32(np.pi), None, "[3.14159274]"),
        (np.float32(0.1), None, "[0.1]"),
        (np.float32(123456.7), None, "[123456.703]"),
        (np.float32(1e-7), None, "[1e-07]"),
        (np.float64(1 / 3), None, "[0.33333333333333331]"),
        (np.float16(1.5), None, "[1.5]"),
        ([np.nan, np.inf, -np.inf], None, "[nan inf -inf]"),
        (-0.0, None, "[-0]"),
    ],
)
def test_values_are_shown_as_tensorflow_shows_them(value, limit, text):
    assert value_text(np.asarray(value), limit) == text


# Assert and Print


def test_assert_fails_in_a_run_and_shows_its_data(session):
    condition = tf.placeholder(tf.bool)
    check = tf.Assert(condition, ["boom", tf.constant([1, 2, 3, 4, 5]), 3.5])
    assert check.name == "Assert/Assert" and session.run(check, {condition: True}) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[boom\] \[1 2 3...\] \[3.5\]"):
        session.run(check, {condition: False})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[1 2 3 4...\]"):
        session.run(tf.Assert(condition, [tf.range(9) + 1], summarize=4), {condition: False})
    with pytest.raises(tf.errors.InvalidArgumentError, match="should be a scalar"):
        session.run(check, {condition: [True]})


def test_assert_refuses_other_arguments():
    with pytest.raises(TypeError, match="does not match expected type of bool"):
        tf.Assert(tf.constant(1), ["x"])
    with pytest.raises(TypeError, match="Expected list for 'data'"):
        tf.Assert(tf.constant(True), "x")


def test_print_writes_each_time_it_is_computed(session, capfd):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    shown = tf.Print(x, [x, "end"], "x: ", summarize=2)
    assert shown.name == "Print:0" and shown.shape.as_list() == [4]
    assert session.run(shown).tolist() == [1, 2, 3, 4]
    session.run(shown * 2.0)
    assert capfd.readouterr().err == "x: [1 2...][end]\n" * 2
    session.run(x)
    assert capfd.readouterr().err == ""


def test_print_may_stop_after_some_times(session, capfd):
    shown = tf.Print(tf.constant(1), [7], first_n=2)
    for _ in range(3):
        session.run(shown)
    session.run(shown + 1)
    assert capfd.readouterr().err == "[7]\n[7]\n"


def test_prints_gradient_is_that_of_its_input_alone(session):
    x, y = tf.constant(2.0), tf.constant(3.0)
    shown = tf.Print(x * x, [y])
    assert session.run(tf.gradients(shown, x)) == [4] and tf.gradients(shown, y) == [None]
    with pytest.raises(TypeError, match="Expected list for 'data'"):
        tf.Print(x, "x")


# Comparisons


HOLDS = {
    "assert_equal": ([1, 2], [1, 2], [1, 3], "=="),
    "assert_none_equal": ([1, 2], [3, 4], [3, 2], "!="),
    "assert_less": ([1, 2], [2, 3], [2, 2], "<"),
    "assert_less_equal": ([1, 2], [1, 3], [1, 1], "<="),
    "assert_greater": ([1, 2], [0, 1], [0, 2], ">"),
    "assert_greater_equal": ([1, 2], [1, 1], [1, 3], ">="),
}


@pytest.mark.parametrize("name", HOLDS)
def test_comparisons_of_constants_are_checked_while_building(session, name):
    x, fits, misses, sign = HOLDS[name]
    check = getattr(tf, name)
    assert getattr(tf.debugging, name) is check
    assert session.run(check(tf.constant(x), tf.constant(fits))) is None
    text = rf"(?s)hey\nCondition x {sign} y did not hold element-wise:\nx \(x:0\) = \n\[1 2\]\ny .*{misses[1]}"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        check(tf.constant(x, name="x"), tf.constant(misses), message="hey")


@pytest.mark.parametrize("name", HOLDS)
def test_comparisons_of_others_are_checked_in_a_run(session, name):
    x, fits, misses, sign = HOLDS[name]
    p = tf.placeholder(tf.int32, name="p")
    check = getattr(tf, name)(x, p)
    session.run(check, {p: fits})
    shown = (
        rf"\[Condition x {sign} y did not hold element-wise:\] \[x \(.*\) = \] \[1 2\] \[y \(p:0\) = \] \[{misses[0]} "
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=shown):
        session.run(check, {p: misses})


def test_data_summarize_and_message_make_the_text(session):
    p = fed()
    for check, text in (
        (tf.assert_equal(p, 2.0, data=["values", p], message="hey"), r"\[hey\] \[values\] \[1 3 -4...\]"),
        (tf.assert_less(p, 2.0, summarize=1), r"\[1...\]"),
        (tf.assert_positive(p, message="hey"), r"\[hey\] \[Condition x > 0 did not hold"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(check, {p: FED})


@pytest.mark.parametrize(
    ("name", "fits", "misses"),
    [
        ("assert_positive", [1.0, 2.0], [1.0, 0.0]),
        ("assert_non_negative", [0.0, 2.0], [0.0, -1.0]),
        ("assert_negative", [-1.0], [-1.0, 0.0]),
        ("assert_non_positive", [-1.0, 0.0], [1.0]),
    ],
)
def test_signs(session, name, fits, misses):
    check, p = getattr(tf, name), fed()
    check(tf.constant(fits))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x"):
        check(tf.constant(misses))
    session.run(check(p), {p: fits})
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        session.run(check(p), {p: misses})


def test_near(session):
    p = fed()
    for check in (tf.assert_near(p, 1.0), tf.assert_near(p, 1.5, atol=0.6), tf.assert_near(p, 1.5, rtol=0.5)):
        session.run(check, {p: 1.0 + 1e-7})
        with pytest.raises(tf.errors.InvalidArgumentError, match="not equal to tolerance"):
            session.run(check, {p: 3.0})


@pytest.mark.parametrize(
    ("x", "non_decreasing", "increasing"),
    [
        ([1, 1, 2], True, False),
        ([1.0, 2.0], True, True),
        ([2, 1], False, False),
        ([[1, 2], [3, 0]], False, False),
        ([7], True, True),
        (np.zeros([0]), True, True),
    ],
)
def test_order(session, x, non_decreasing, increasing):
    assert session.run([tf.is_non_decreasing(x), tf.is_strictly_increasing(x)]) == [non_decreasing, increasing]
    with pytest.raises(TypeError, match="Expected x to be numeric"):
        tf.is_non_decreasing(["a"])


# Shapes and types


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (lambda x: tf.assert_rank(x, 1, message="hey"), r"hey.  Tensor x:0 must have rank 1.  Received rank 2"),
        (lambda x: tf.assert_rank_at_least(x, 3), r"must have rank at least 3.  Received rank 2"),
        (lambda x: tf.assert_rank_in(x, [0, 1]), r"must have rank in \(0, 1\).  Received rank 2, shape \(1, 2\)"),
    ],
)
def test_known_ranks_are_checked_while_building(check, text):
    with pytest.raises(ValueError, match=text):
        check(tf.constant([[1, 2]], name="x"))


def test_other_ranks_are_checked_in_a_run(session):
    p = fed()
    for check in (tf.assert_rank(p, 1), tf.assert_rank_at_least(p, 1), tf.assert_rank_in(p, [1, 2])):
        session.run(check, {p: [1.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Tensor p:0 must have rank.*Received shape: \] \[\]"):
            session.run(check, {p: 1.0})
    session.run([tf.assert_rank(tf.zeros([2, 3]), 2), tf.assert_rank_in(tf.zeros([2, 3]), [2, 5])])


def test_ranks_are_int32_scalars():
    with pytest.raises(ValueError, match="Rank must be a scalar"):
        tf.assert_rank(fed(), [1])
    with pytest.raises(TypeError, match=r"must be of type tf.int32; got tf.float32"):
        tf.assert_rank(fed(), 1.5)


def test_types_and_scalars():
    x, i = tf.constant([1.0], name="x"), tf.constant(1, name="i")
    assert tf.assert_scalar(i) is i and tf.assert_type(x, tf.float32).type == tf.assert_integer(i).type == "NoOp"
    for check, error, text in (
        (lambda: tf.assert_scalar(x), ValueError, r"Expected scalar shape for x:0, saw shape: \(1,\)"),
        (lambda: tf.assert_type(i, tf.float32, message="hey"), TypeError, "hey  i:0 must be of type tf.float32"),
        (lambda: tf.assert_integer(x), TypeError, 'Expected "x" to be integer type.  Found: x:0'),
        (lambda: tf.assert_proper_iterable(x), TypeError, "proper"),
        (lambda: tf.assert_proper_iterable("abc"), TypeError, "proper"),
        (lambda: tf.assert_proper_iterable(1), TypeError, "to be iterable"),
    ):
        with pytest.raises(error, match=text):
            check()
    tf.assert_proper_iterable([x])
    found = [tf.is_numeric_tensor(value) for value in (x, i, tf.constant("a"), tf.constant(True), 1)]
    assert found == [True, True, False, False, False]


def test_same_float_dtype():
    single, double = tf.constant(1.0), tf.constant(1.0, tf.float64)
    same = tf.debugging.assert_same_float_dtype
    assert same([single, single]) is same() is tf.float32 and same([double], tf.float64) is tf.float64
    with pytest.raises(ValueError, match="must be of the same type"):
        same([single, double])
    with pytest.raises(ValueError, match="Expected floating point type"):
        same([tf.constant(1)])


def test_shapes_by_names_of_sizes(session):
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [4, None])
    check = tf.debugging.assert_shapes([(x, ("N", "Q")), (y, ("N", None))])
    session.run(check, {x: np.zeros((4, 3)), y: np.zeros((4, 1))})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"dimension\] \[0\] \[must have size\] \[5\]"):
        session.run(check, {x: np.zeros((5, 3)), y: np.zeros((4, 1))})
    with pytest.raises(ValueError, match="dimension 1 must have size 4"):
        tf.debugging.assert_shapes({x: ("N", 4)})


def test_ensure_shape_says_what_is_known(session):
    x = tf.placeholder(tf.float32, [None, 3])
    sure = tf.ensure_shape(x, [2, None])
    assert sure.shape.as_list() == [2, 3] and session.run(sure, {x: np.ones((2, 3))}).shape == (2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible with expected shape"):
        session.run(sure, {x: np.ones((3, 3))})
    with pytest.raises(ValueError):
        tf.ensure_shape(x, [2, 4])


# NaN and infinity


@pytest.mark.parametrize(
    ("value", "found"),
    [([1.0, np.nan], "NaN"), ([1.0, -np.inf], "Inf"), ([np.inf, np.nan], "Inf and NaN")],
)
def test_numerics_are_checked_in_a_run(session, value, found):
    x = fed()
    for check in (
        tf.check_numerics(x, "look"),
        tf.verify_tensor_all_finite(x, "look"),
        tf.debugging.assert_all_finite(x=x, message="look"),
    ):
        assert session.run(check, {x: [1.0, 2.0]}).tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"look : Tensor had {found} values"):
            session.run(check, {x: value})
    with pytest.raises(TypeError, match="not in list of allowed values"):
        tf.check_numerics(tf.constant(1), "look")


def test_numerics_of_gradients_are_checked_too(session):
    x = fed()
    y = tf.sqrt(tf.check_numerics(x, "look"))
    gradient = tf.gradients(y, x)
    assert session.run(gradient, {x: 4.0}) == [0.25]
    with pytest.raises(tf.errors.InvalidArgumentError, match="detected in gradient"):
        session.run(gradient, {x: 0.0})


def test_all_tensors_of_a_graph_can_be_checked(session):
    x = fed()
    y = tf.log(x)
    check = tf.add_check_numerics_ops()
    assert session.run([y, check], {x: 1.0}) == [0, None]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Log:0 : Tensor had Inf"):
        session.run(check, {x: 0.0})
    tf.cond(x > 0.0, lambda: x * 2.0, lambda: x)
    with pytest.raises(ValueError, match="not compatible with TensorFlow control flow"):
        tf.add_check_numerics_ops()
