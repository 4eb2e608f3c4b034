"""`tf.while_loop`: structures, shapes, limits, nesting, errors. Effects and gradients have files of their own."""

import _thread
import gc
import signal
import threading
from collections import namedtuple

import numpy as np
import pytest

import dynrnn.tf1 as tf

Pair = namedtuple("Pair", "a b")


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def below(limit):
    return lambda i, *others: i < limit


def repeat(step, start, times=3, **options):
    """`start` after `times` steps."""
    return tf.while_loop(below(times), lambda i, x: (i + 1, step(x)), (0, start), **options)[1]


# Structures


def test_loop_variables_may_be_python_and_numpy_numbers(session):
    result = tf.while_loop(
        below(3), lambda i, x, y, z: (i + 1, x * 2, y + 0.5, z - 1), (0, 1, np.float64(0), np.int64(9))
    )
    assert session.run(result) == (3, 8, 1.5, 6)
    assert [tensor.dtype.name for tensor in result] == ["int32", "int32", "float64", "int64"]


def test_a_single_variable_comes_out_as_a_tensor_unless_asked_for_the_structure(session):
    for loop_vars, body in (([0], lambda i: i + 1), ([0], lambda i: [i + 1]), ((0,), lambda i: (i + 1,))):
        result = tf.while_loop(below(3), body, loop_vars)
        assert isinstance(result, tf.Tensor) and session.run(result) == 3
    assert isinstance(tf.while_loop(below(3), lambda i: [i + 1], [0], return_same_structure=True), list)
    for alone in (0, np.int32(0), tf.constant(0)):
        assert session.run(tf.while_loop(below(3), lambda i: i + 1, alone)) == 3


@pytest.mark.parametrize(
    ("start", "step", "expected"),
    [
        (Pair(1.0, 2.0), lambda p: Pair(p.a + 1.0, p.b), Pair(4, 2)),
        ({"y": 2, "x": 1.0}, lambda d: {"x": d["x"] + 1.0, "y": d["y"]}, {"y": 2, "x": 4.0}),
        ((1.0, [2.0, {"z": 3}]), lambda n: (n[0], [n[1][0] * 2.0, n[1][1]]), (1, [16, {"z": 3}])),
    ],
    ids=["namedtuple", "dict", "nest"],
)
def test_variables_may_be_nests(session, start, step, expected):
    found = session.run(repeat(step, start))
    assert type(found) is type(expected) and found == expected


def test_the_variables_together_may_be_a_named_tuple(session):
    found = session.run(tf.while_loop(lambda a, b: a < 3, lambda a, b: Pair(a + 1, b * 2.0), Pair(0, 1.0)))
    assert found == Pair(3, 8) and type(found) is Pair
    assert type(session.run(tf.while_loop(lambda a, b: a < 3, lambda a, b: (a + 1, b), Pair(0, 1.0)))) is tuple


def test_strings_and_sparse_values_may_be_variables(session):
    assert session.run(repeat(lambda s: s + s, tf.constant("ab"))) == b"ab" * 8
    start = tf.IndexedSlices(tf.constant([1.0]), tf.constant([1]), tf.constant([4]))
    found = session.run(repeat(lambda s: tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape), start))
    assert found.values == [8] and found.dense_shape == [4]


def test_names_are_tensorflows():
    seen = []

    def body(i, j):
        seen.extend([i.name, j.name, (i + 1).name])
        return i + 1, j

    results = tf.while_loop(below(3), body, (0, 1), name="loop")
    assert seen == ["loop/Identity:0", "loop/Identity_1:0", "loop/add:0"]
    assert [tensor.name for tensor in results] == ["loop/Exit:0", "loop/Exit_1:0"]


# Runs


def test_ten_thousand_steps(session):
    x = tf.constant(1.0)
    _, total = tf.while_loop(below(10_000), lambda i, t: (i + 1, t + x), (0, 0.0))
    assert session.run([total, tf.gradients(total, x)[0]]) == [10_000, 10_000]


def test_a_loop_may_take_no_step(session):
    assert session.run(repeat(lambda x: x * 2.0, tf.constant(5.0), 0)) == 5
    assert session.run(tf.while_loop(lambda i: False, lambda i: i + 1, [4])) == 4


@pytest.mark.parametrize("limit", [3, np.int64(3), 2.5, "tensor", "fed"])
def test_maximum_iterations_ends_a_loop(session, limit):
    fed = tf.placeholder(tf.int32, [])
    value = {"tensor": tf.constant(3), "fed": fed}.get(limit, limit) if isinstance(limit, str) else limit
    result = tf.while_loop(below(10), lambda i: i + 1, [0], maximum_iterations=value)
    assert session.run(result, {fed: 3}) == 3


@pytest.mark.parametrize("limit", [0, -2])
def test_maximum_iterations_of_none_takes_no_step(session, limit):
    assert session.run(tf.while_loop(below(10), lambda i: i + 1, [0], maximum_iterations=limit)) == 0


def test_maximum_iterations_is_a_number():
    for limit, error in (([1], ValueError), ("a", TypeError)):
        with pytest.raises(error, match="maximum_iterations must be a"):
            tf.while_loop(below(10), lambda i: i + 1, [0], maximum_iterations=limit)


def test_loops_nest(session):
    def body(i, x):
        return i + 1, repeat(lambda y: y + tf.cast(i, tf.float32), x, 2)

    assert session.run(tf.while_loop(below(4), body, (0, 1.0))[1]) == 1 + 2 * (0 + 1 + 2 + 3)


def test_an_inner_loop_uses_the_outer_loops_tensors(session):
    def body(i, x):
        outer = x * 2.0
        inner = tf.while_loop(below(2), lambda j, y: (j + 1, y + outer), (0, x))[1]
        return i + 1, inner

    assert session.run(tf.while_loop(below(2), body, (0, 1.0))[1]) == 25


def test_cond_stands_in_condition_and_body(session):
    def condition(i):
        return tf.cond(i > 0, lambda: tf.constant(True), lambda: tf.constant(False))

    body = lambda i: tf.cond(i > 0, lambda: i - 1, lambda: i)  # noqa: E731
    with tf.control_dependencies([tf.no_op()]):
        assert session.run(tf.while_loop(condition, body, [tf.constant(5)])) == 0


def test_gather_by_the_loops_index(session):
    table = tf.constant([1, 2, 3, 4])
    result = tf.while_loop(below(4), lambda i, t: (i + 1, t + tf.gather(table, i)), (0, 0))[1]
    assert session.run(result) == 10


def test_only_the_variables_that_are_needed_are_computed(session):
    unfed = tf.placeholder(tf.float32, [])
    i, x = tf.while_loop(below(3), lambda i, x: (i + 1, x + unfed), (0, 0.0))
    assert session.run(i) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed"):
        session.run(x)


def test_a_variable_that_another_one_or_the_condition_needs_is_computed(session):
    result = tf.while_loop(lambda i, x, y: x < 5, lambda i, x, y: (i + 1, y, y + 1), (0, 0, 1))
    assert session.run(result[0]) == 5


def test_random_operations_draw_anew_in_each_step_and_repeat_with_a_seed():
    def draws(seed):
        with tf.Graph().as_default():
            if seed:
                tf.set_random_seed(seed)
            drawn = lambda: tf.random_uniform([1], seed=seed)  # noqa: E731
            step = lambda x: tf.concat([x, drawn()], 0)  # noqa: E731
            result = tf.while_loop(
                below(5),
                lambda i, x: (i + 1, step(x)),
                (0, tf.zeros([0])),
                shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
            )[1]
            with tf.Session() as session:
                return session.run([result])[0].tolist()

    first, second, other = draws(7), draws(7), draws(None)
    assert len(set(first)) == 5 and first == second and first != other


@pytest.fixture
def listens_to_interrupts():
    """A process that was started in the background ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("listens_to_interrupts")
def test_an_interrupted_loop_leaves_the_session_usable(session):
    v = tf.Variable(3.0)
    session.run(v.initializer)
    endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        session.run(endless)
    timer.join()
    assert session.run(v * 2.0) == 6 and session.run(repeat(lambda x: x * 2.0, v)) == 24


def test_a_run_leaves_nothing_behind(session):
    x = tf.Variable(tf.ones([4]))
    gradient = tf.gradients(repeat(lambda y: tf.tanh(y * x), x, 20), x)[0]
    session.run(x.initializer)
    session.run(gradient)
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for _ in range(10):
            session.run(gradient)
        assert len(gc.get_objects()) - before < 20
    finally:
        gc.enable()


# Shapes


def test_shapes_grow_under_an_invariant(session):
    sizes = [tf.TensorShape([]), tf.TensorShape([None])]
    _, x = tf.while_loop(below(3), lambda i, x: (i + 1, tf.concat([x, x], 0)), [0, tf.ones([2])], sizes)
    assert x.shape.as_list() == [None] and session.run(x).tolist() == [1] * 16


def test_an_invariant_may_know_a_part_or_nothing(session):
    x = tf.zeros([2, 3])
    for dims in ([None, 3], None):
        sizes = [tf.TensorShape([]), tf.TensorShape(dims)]
        result = tf.while_loop(below(2), lambda i, x: (i + 1, tf.tile(x, [2, 1])), [0, x], sizes)[1]
        assert result.shape.ndims is None if dims is None else result.shape.as_list() == dims
        assert session.run(result).shape == (8, 3)


def test_a_shape_may_become_better_known():
    x = tf.placeholder(tf.float32, [None])
    assert repeat(lambda x: tf.ones([3]), x).shape.as_list() == [None]


@pytest.mark.parametrize(
    ("start", "step"),
    [
        (lambda: tf.zeros([2], name="x"), lambda x: tf.concat([x, x], 0)),
        (lambda: tf.placeholder(tf.float32, [None, 3], "x"), lambda x: x[:, :2]),
        (lambda: tf.zeros([2], name="x"), lambda x: tf.placeholder(tf.float32, [None])),
    ],
)
def test_a_shape_that_changes_needs_an_invariant(start, step):
    with pytest.raises(ValueError, match=r"The shape for x:0 is not an invariant for the loop.* shape \(.* shape \("):
        repeat(step, start())


def test_invariants_must_fit_the_loop_variables():
    x, scalar = tf.zeros([2], name="x"), tf.TensorShape([])
    for sizes, error, text in (
        ([scalar, tf.TensorShape([3])], ValueError, "invariant specified for x:0 is not compatible with the initial"),
        ([scalar, "shape"], TypeError, "shape_invariants must be TensorShapes, got 'shape'"),
        ([scalar], ValueError, "don't have the same nested structure"),
        ([scalar, [None]], ValueError, "don't have the same nested structure"),
    ):
        with pytest.raises(error, match=text):
            tf.while_loop(below(3), lambda i, x: (i + 1, x), [0, x], shape_invariants=sizes)


# What is refused


@pytest.mark.parametrize(
    "body",
    [lambda i, j: (i + 1,), lambda i, j: (i + 1, (j,)), lambda i, j: i + 1, lambda i, j: (i, j, i)],
)
def test_the_body_must_keep_the_structure(body):
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        tf.while_loop(below(3), body, (0, 1))


def test_the_body_must_keep_dtypes():
    with pytest.raises(TypeError, match="enters the loop with type float32, but has type int32 after one iteration"):
        repeat(lambda x: tf.cast(x, tf.int32), 1.0)


@pytest.mark.parametrize("loop_vars", [[], (), None, {}])
def test_there_must_be_loop_variables(loop_vars):
    with pytest.raises(ValueError, match="No loop variables provided"):
        tf.while_loop(below(3), lambda i: i, loop_vars)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((1, lambda i: i, [0]), "cond must be callable"),
        ((below(1), 1, [0]), "body must be callable"),
        ((lambda i: i, lambda i: i, [0]), "cond must return a bool scalar"),
        ((below(1), lambda i: tf.no_op(), [0]), "got the operation"),
    ],
)
def test_wrong_functions_are_type_errors(arguments, text):
    with pytest.raises(TypeError, match=text):
        tf.while_loop(*arguments)


def test_other_wrong_arguments():
    with pytest.raises(TypeError, match="parallel_iterations must be a positive integer"):
        tf.while_loop(below(3), lambda i: i + 1, [0], parallel_iterations=0)
    with pytest.raises(ValueError, match="rank 0"):
        tf.while_loop(lambda i: [i < 3], lambda i: i + 1, [0])
    for loop_vars, body in (([None], lambda i: i), ([0], lambda i: None)):
        with pytest.raises(ValueError, match="None values not supported"):
            tf.while_loop(below(3), body, loop_vars)


def test_a_loops_tensors_stay_inside(session):
    kept = []

    def body(i):
        kept.append(i + 1)
        return kept[0]

    result = tf.while_loop(below(3), body, [0])
    with pytest.raises(ValueError, match="'while/add' has been marked as not fetchable"):
        session.run(kept[0])
    with pytest.raises(ValueError, match="may not be fed"):
        session.run(result, {kept[0]: 1})
    text = "Cannot use 'while/add' as input to '.*add' because 'while/add' is in a while loop"
    with pytest.raises(ValueError, match=text):
        kept[0] + 1
    with pytest.raises(ValueError, match=text):
        tf.cond(tf.constant(True), lambda: kept[0] + 1, lambda: 1)
    with pytest.raises(ValueError, match=text):
        tf.while_loop(below(3), lambda i: i + kept[0], [0])
    with pytest.raises(ValueError, match="Cannot depend on 'while/add'"), tf.control_dependencies([kept[0]]):
        pass


def test_a_tensor_of_a_branch_in_a_loop_can_be_used_in_the_rest_of_the_body(session):
    def body(i, x):
        kept = []
        tf.cond(tf.constant(True), lambda: kept.append(x * 2.0) or tf.constant(0), lambda: tf.constant(1))
        return i + 1, kept[0] + 1.0

    assert session.run(tf.while_loop(below(3), body, (0, 1.0))[1]) == 15


def test_what_a_body_raises_shows_the_programs_line():
    def body(i, x):
        return i + 1, x + tf.zeros([3])

    with pytest.raises(ValueError) as caught:
        tf.while_loop(below(3), body, (0, tf.zeros([2])))
    assert any(entry.name == "body" for entry in caught.traceback)


def test_an_error_in_a_step_names_the_operation(session):
    x = tf.placeholder(tf.float32, [None])
    result = repeat(lambda y: tf.reshape(y, [-1]) + tf.zeros([3]), x, shape_invariants=_any_vector())
    with pytest.raises(tf.errors.InvalidArgumentError, match="while/add"):
        session.run(result, {x: [1.0, 2.0]})


def _any_vector():
    return tf.TensorShape([]), tf.TensorShape([None])
