"""TensorArrays in loops and branches: carried, captured, made inside, passed on; with their gradients."""

import gc
from typing import Any

import numpy as np
import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.control_flow.array_values import ArrayValue


def array(size: Any = 3, dtype: Any = tf.float32, **options: Any) -> Any:
    return tf.TensorArray(dtype, size, **options)


def evaluate(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def filled(count: Any, value: Any, made: Any) -> Any:
    """`made` after a loop that writes value(i) to entry i."""
    return tf.while_loop(lambda i, a: i < count, lambda i, a: (i + 1, a.write(i, value(i))), (0, made))[1]


def number(i: Any) -> Any:
    return tf.cast(i, tf.float32)


# Loops


@pytest.mark.parametrize("options", [{"size": 3}, {"size": 0, "dynamic_size": True}], ids=["fixed", "dynamic"])
def test_a_loop_writes_states_and_gradients_reach_all_that_they_come_from(options):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    state = tf.constant([0.5, -0.5])
    factor = tf.get_variable("factor", initializer=[2.0, 3.0])
    inputs = array(3).unstack(x)

    def body(i, state, outputs):
        new = state * factor + inputs.read(i)
        return i + 1, new, outputs.write(i, new)

    _, final, outputs = tf.while_loop(lambda i, *rest: i < 3, body, (0, state, array(**options)))
    stacked = outputs.stack()
    gradients = tf.gradients([stacked, final], [x, state, factor])
    values, *found = evaluate([stacked, *gradients])
    f, s, steps, expected = np.float64([2, 3]), np.float64([0.5, -0.5]), [], np.float64([[1, 2], [3, 4], [5, 6]])
    for row in expected:
        s = s * f + row
        steps.append(s)
    np.testing.assert_array_equal(values, np.float32(steps))
    # each output is counted once, the last one twice
    np.testing.assert_array_equal(found[0], [1 + f + 2 * f**2, 1 + 2 * f, [2, 2]])
    np.testing.assert_array_equal(found[1], f + f**2 + 2 * f**3)
    start = np.float64([0.5, -0.5])
    first, second = steps[0], steps[1]
    np.testing.assert_array_equal(found[2], start + (first + f * start) + 2 * (second + f * (first + f * start)))


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_the_number_of_steps_may_be_fed(steps):
    count = tf.placeholder(tf.int32, [])
    stacked = filled(count, lambda i: tf.stack([number(i), 1.0]), array(count)).stack()
    grown = filled(count, lambda i: tf.stack([number(i), 1.0]), array(0, dynamic_size=True)).stack()
    with tf.Session() as session:
        for found in session.run([stacked, grown], {count: steps}):
            np.testing.assert_array_equal(found.reshape(steps, 2), [[i, 1] for i in range(steps)] or np.zeros([0, 2]))


def test_entries_that_no_step_wrote_have_the_shape_of_what_would_be_written():
    np.testing.assert_array_equal(evaluate(filled(0, lambda i: [1.0, 2.0], array()).stack()), np.zeros([3, 2]))


def test_an_array_passes_through_two_loops():
    x = tf.constant(3.0)
    first = filled(2, lambda i: x * x, array(4, clear_after_read=False))
    _, second = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, a.read(i - 2) * x)), (2, first))
    np.testing.assert_array_equal(evaluate(second.stack()), [9, 9, 27, 27])
    assert evaluate(tf.gradients(second.stack(), x)[0]) == 2 * 6 + 2 * 27


def test_gradients_of_a_sum_of_two_reads_reach_their_entries():
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    made = array(4, clear_after_read=False).unstack(x)
    _, total = tf.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + 1, s + made.read(i) + made.read(i + 1)), (0, tf.constant(0.0))
    )
    value, gradient = evaluate([total, tf.gradients(total, x)[0]])
    assert value == 15
    np.testing.assert_array_equal(gradient, [1, 2, 2, 1])


def test_an_array_passes_through_nested_loops():
    x = tf.constant(2.0)

    def outer(i, made):
        _, made = tf.while_loop(
            lambda j, a: j < 2, lambda j, a: (j + 1, a.write(2 * i + j, x * number(i) + number(j))), (0, made)
        )
        return i + 1, made

    _, made = tf.while_loop(lambda i, a: i < 3, outer, (0, array(6)))
    stacked = made.stack()
    value, gradient = evaluate([stacked, tf.gradients(stacked**2, x)[0]])
    np.testing.assert_array_equal(value, [0, 1, 2, 3, 4, 5])
    assert gradient == 2 * 1 * (2 + 3) + 2 * 2 * (4 + 5)


def test_an_array_made_in_a_step_is_a_new_one_in_each():
    x = tf.constant([1.0, 2.0])

    def body(i, total):
        made = filled(2, lambda j: x * number(i + j), array(2))
        return i + 1, total + tf.reduce_sum(made.stack(), 0)

    _, total = tf.while_loop(lambda i, s: i < 3, body, (0, tf.zeros([2])))
    value, gradient = evaluate([total, tf.gradients(total, x)[0]])
    np.testing.assert_array_equal(value, [9, 18])
    np.testing.assert_array_equal(gradient, [9, 9])


def test_an_array_made_in_a_step_may_be_handed_on():
    _, made = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, array(1).write(0, number(i))), (0, array(1).write(0, -1.0))
    )
    np.testing.assert_array_equal(evaluate(made.stack()), [2])


def test_map_fn_inside_a_loop():
    x = tf.constant([1.0, 2.0, 3.0])
    _, y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.map_fn(lambda e: e * x[1], v)), (0, x))
    value, gradient = evaluate([y, tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(value, [8, 16, 24])
    np.testing.assert_array_equal(gradient, [8, 8 + 3 * 4 * 6, 8])


def test_arrays_may_trade_places():
    one, two = array(4).write(0, 1.0), array(4).write(0, 2.0)

    def body(i, a, b):
        return i + 1, b, a.write(i, number(10 * i))

    _, a, b = tf.while_loop(lambda i, *rest: i < 4, body, (1, one, two))
    first, second = evaluate([a.stack(), b.stack()])
    np.testing.assert_array_equal(first, [2, 0, 20, 0])
    np.testing.assert_array_equal(second, [1, 10, 0, 30])


def test_arrays_stand_anywhere_in_a_nest_of_loop_variables():
    def body(i, nest):
        kept = {"a": nest["a"].write(i, number(i)), "b": (nest["b"][0] + 1, nest["b"][1].write(i, [i]))}
        return i + 1, kept

    start = {"a": array(), "b": (tf.constant(0), array(3, tf.int32))}
    _, nest = tf.while_loop(lambda i, nest: i < 3, body, (0, start))
    assert nest["b"][1].dtype is tf.int32
    first, count, second = evaluate([nest["a"].stack(), nest["b"][0], nest["b"][1].stack()])
    np.testing.assert_array_equal(first, [0, 1, 2])
    assert count == 3
    np.testing.assert_array_equal(second, [[0], [1], [2]])


def test_shape_invariants_pass_over_arrays():
    def body(i, made, grown):
        return i + 1, made.write(i, number(i)), tf.concat([grown, [i]], 0)

    invariants = (tf.TensorShape([]), tf.TensorShape(None), tf.TensorShape([None]))
    start = (0, array(), tf.zeros([0], tf.int32))
    _, made, grown = tf.while_loop(lambda i, *rest: i < 3, body, start, shape_invariants=invariants)
    first, second = evaluate([made.stack(), grown])
    np.testing.assert_array_equal(first, second)


def test_the_count_of_steps_may_be_limited():
    _, made = tf.while_loop(
        lambda i, a: i < 9, lambda i, a: (i + 1, a.write(i, number(i))), (0, array()), maximum_iterations=2
    )
    np.testing.assert_array_equal(evaluate(made.stack()), [0, 1, 0])


def test_a_captured_array_is_cleared_by_reading():
    made = array(3).unstack([1.0, 2.0, 3.0])
    _, total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + made.read(0)), (0, 0.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="index 0 twice"):
        evaluate(total)


def test_another_write_of_an_entry_in_a_later_step_fails():
    _, made = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(0, 1.0)), (0, array()))
    with pytest.raises(tf.errors.InvalidArgumentError, match="already been written"):
        evaluate(made.stack())


def test_a_conflicting_shape_in_the_body_is_refused():
    with pytest.raises(ValueError, match="Inconsistent shapes"):
        filled(2, lambda i: [1.0, 2.0], array().write(2, [1.0]))


def test_back_prop_false_cuts_what_went_through_the_loop():
    x = tf.constant([1.0, 2.0])
    start = array(3).write(0, x)
    _, made = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x * 2.0)), (1, start), back_prop=False)
    stacked = made.stack()
    assert tf.gradients(stacked, x) == [None]
    value, gradient = evaluate([stacked, tf.gradients(tf.reduce_sum(stacked, 0) + 3.0 * x, x)[0]])
    np.testing.assert_array_equal(value, [[1, 2], [2, 4], [2, 4]])
    np.testing.assert_array_equal(gradient, [3, 3])


def test_writes_after_a_loop_without_gradient_have_one():
    x = tf.constant(1.5)
    _, made = tf.while_loop(
        lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, x * 2.0)), (0, array(3)), back_prop=False
    )
    stacked = made.write(2, x * 7.0).stack()
    value, gradient = evaluate([stacked, tf.gradients(stacked, x)[0]])
    np.testing.assert_array_equal(value, [3, 3, 10.5])
    assert gradient == 7


def test_second_order_gradients_pass_through_a_loop():
    x = tf.constant(2.0)
    made = filled(3, lambda i: x ** number(i + 1), array())
    (first,) = tf.gradients(tf.reduce_sum(made.stack() * x), x)
    (second,) = tf.gradients(first, x)
    np.testing.assert_allclose(evaluate([first, second]), [4 + 12 + 32, 2 + 12 + 48], rtol=1e-6)


def test_gradients_may_be_taken_inside_the_body():
    x = tf.constant(3.0)

    def body(i, made):
        inner = array(2, clear_after_read=False).write(0, x * number(i)).write(1, x * x)
        (gradient,) = tf.gradients(inner.read(0) + inner.read(1), x)
        return i + 1, made.write(i, gradient)

    _, made = tf.while_loop(lambda i, a: i < 2, body, (0, array(2)))
    np.testing.assert_array_equal(evaluate(made.stack()), [6, 7])


# Branches


@pytest.mark.parametrize("taken", [True, False])
def test_only_the_branch_taken_writes(taken):
    x, which = tf.constant(5.0), tf.placeholder(tf.bool, [])
    made = array(2, element_shape=[])
    chosen = tf.cond(which, lambda: made.write(0, x), lambda: made.write(1, x * 2.0))
    stacked = chosen.stack()
    with tf.Session() as session:
        value, gradient = session.run([stacked, tf.gradients(stacked, x)[0]], {which: taken})
    np.testing.assert_array_equal(value, [5, 0] if taken else [0, 10])
    assert gradient == (1 if taken else 2)


def test_a_branch_may_return_the_array_as_it_is():
    which = tf.placeholder(tf.bool, [])
    made = array(2, element_shape=[])
    stacked, count = tf.cond(which, lambda: (made.write(0, 3.0), 1), lambda: (made, 2))
    with tf.Session() as session:
        fetches = [stacked.stack(), count]
        assert [part.tolist() for part in session.run(fetches, {which: True})] == [[3, 0], 1]
        assert [part.tolist() for part in session.run(fetches, {which: False})] == [[0, 0], 2]


def test_arrays_may_be_made_in_branches():
    which = tf.placeholder(tf.bool, [])
    chosen = tf.cond(which, lambda: array(1).write(0, 1.0), lambda: array(2).write(0, 2.0).write(1, 2.0))
    stacked = chosen.stack()
    stacked.set_shape([None])
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(chosen.gather([0]), {which: False}), [2])
        np.testing.assert_array_equal(session.run(chosen.gather([0]), {which: True}), [1])


def test_a_branch_inside_a_loop_reads_and_writes():
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    inputs = array(4).unstack(x)

    def body(i, made):
        value = tf.cond(i < 2, lambda: inputs.read(i), lambda: tf.constant(0.0))
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: made.write(i, value * 10.0), lambda: made)

    _, made = tf.while_loop(lambda i, a: i < 4, body, (0, array(4, element_shape=[])))
    stacked = made.stack()
    value, gradient = evaluate([stacked, tf.gradients(stacked, x)[0]])
    np.testing.assert_array_equal(value, [10, 0, 0, 0])
    np.testing.assert_array_equal(gradient, [10, 0, 0, 0])


def test_the_flow_may_leave_a_branch():
    made = array(1)
    flow = tf.cond(tf.constant(True), lambda: made.write(0, 4.0).flow, lambda: made.flow)
    assert evaluate([flow, tf.TensorArray(tf.float32, handle=made.handle, flow=flow).read(0)]) == [0.0, 4.0]


# Memory


def living() -> int:
    return sum(type(thing) is ArrayValue for thing in gc.get_objects())


def test_no_array_outlives_its_run():
    x, index = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    made = filled(5, lambda i: x * number(i), array(6, clear_after_read=False))
    stacked, (gradient,) = made.stack(), tf.gradients(made.stack(), x)
    with tf.Session() as session:
        session.run([stacked, gradient], {x: 1.0})
        gc.collect()
        before = living()
        gc.disable()  # arrays must go by themselves, not when cycles are looked for
        try:
            for _ in range(3):
                session.run([stacked, gradient], {x: 1.0})
            after = living()
        finally:
            gc.enable()
        assert after == before
    bad = made.write(index, 1.0).flow
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(bad, {x: 1.0, index: 0})
    gc.collect()
    assert living() == before
