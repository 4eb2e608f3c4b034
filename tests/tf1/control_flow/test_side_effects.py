"""What operations in branches and bodies do, how often, and in which order; operations that only order others."""

import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


@pytest.fixture
def v():
    return tf.Variable(0, name="v")


def run(session, fetches, feed=None):
    session.run(tf.global_variables_initializer())
    return session.run(fetches, feed)


def below(limit):
    return lambda i, *others: i < limit


# Branches


def test_only_the_branch_taken_has_effects(session, v):
    pred = tf.placeholder(tf.bool, [])
    result = tf.cond(pred, lambda: tf.assign_add(v, 1), lambda: tf.assign_add(v, 10))
    run(session, tf.no_op())
    assert [session.run(result, {pred: value}) for value in (True, False)] == [1, 11]
    assert session.run(v) == 11


def test_what_a_branch_uses_from_outside_runs_once_whichever_is_taken(session, v):
    pred = tf.placeholder(tf.bool, [])
    outer = tf.assign_add(v, 1)

    def depending():
        with tf.control_dependencies([outer]):
            return tf.constant(1)

    used = tf.cond(pred, lambda: tf.identity(outer), lambda: tf.constant(0))
    waited = tf.cond(pred, depending, lambda: tf.constant(0))
    run(session, tf.no_op())
    for result in (used, waited):
        session.run(v.initializer)
        for value in (True, False):
            session.run(result, {pred: value})
    assert session.run(v) == 2


def test_effects_of_results_that_are_not_needed_do_not_happen(session, v):
    first, second = tf.cond(tf.constant(True), lambda: (tf.constant(1), tf.assign_add(v, 1)), lambda: (2, 3))
    assert run(session, first) == 1 and session.run(v) == 0
    assert session.run([first, second]) == [1, 1] and session.run(v) == 1


def test_an_unfed_placeholder_that_an_unneeded_operation_waits_for_does_no_harm(session):
    unfed = tf.placeholder(tf.float32)

    def branch():
        with tf.control_dependencies([unfed]):
            tf.no_op()
        return tf.constant(1)

    assert session.run(tf.cond(tf.constant(True), branch, lambda: 2)) == 1


def test_an_assertion_in_the_branch_not_taken_does_not_fire(session):
    pred = tf.placeholder(tf.bool, [])

    def branch():
        with tf.control_dependencies([tf.Assert(tf.constant(False), ["wrong"])]):
            return tf.constant(1)

    result = tf.cond(pred, branch, lambda: tf.constant(2))
    assert session.run(result, {pred: False}) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="wrong"):
        session.run(result, {pred: True})


def test_variables_made_in_a_branch_can_be_initialized_and_used_outside(session):
    made = []

    def branch():
        made.append(tf.get_variable("w", [2], initializer=tf.ones_initializer()))
        made.append(tf.Variable(lambda: tf.constant(3.0)))
        return made[0] + made[1]

    result = tf.cond(tf.constant(True), branch, lambda: tf.zeros([2]))
    assert run(session, result).tolist() == [4, 4]
    assert session.run(made[0] * 2.0).tolist() == [2, 2] and session.run(made[1]) == 3


# Loops


def test_an_outer_assignment_runs_once_and_an_inner_one_in_each_step(session, v):
    outer = tf.assign_add(v, 1)
    result = tf.while_loop(below(3), lambda i, t: (i + 1, t + outer), (0, 0))
    assert run(session, result) == (3, 3) and session.run(v) == 1

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            return i + 1

    assert run(session, tf.while_loop(below(3), body, [0])) == 3 and session.run(v) == 3


def test_what_a_body_depends_on_from_outside_runs_once(session, v):
    outer = tf.assign_add(v, 1)

    def body(i, c):
        with tf.control_dependencies([outer]):
            return i + 1, tf.constant(7)

    assert run(session, tf.while_loop(below(3), body, (0, 0))) == (3, 7) and session.run(v) == 1


def test_a_body_reads_what_it_has_assigned(session, v):
    def body(i, total):
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            return i + 1, total + v

    assert run(session, tf.while_loop(below(3), body, (0, 0))) == (3, 6)
    session.run(v.initializer)
    later = tf.while_loop(below(3), lambda i, t: (i + 1, t + tf.assign_add(v, 2)), (0, 0))
    assert session.run(later) == (3, 12)


def test_a_condition_reads_a_variable_that_the_body_changes(session, v):
    w = tf.Variable(0)

    def body(i):
        assigned = [tf.assign_add(v, 1), tf.assign(w, v + 1)]
        with tf.control_dependencies(assigned):
            return tf.identity(w)

    run(session, tf.while_loop(lambda i: w < 10, body, [w]))
    assert session.run(w) == 10


def test_a_condition_reads_a_variable_that_the_body_changes_in_order(session, v):
    w = tf.Variable(0)

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, 1)]):
            return tf.identity(tf.assign(w, v + 10))

    assert run(session, tf.while_loop(lambda i: w < 10, body, [w])) == 11
    assert session.run([v, w]) == [1, 11]


def test_a_fed_variable_has_the_fed_value_in_every_step(session):
    v = tf.Variable(2.0)
    result = tf.while_loop(below(3), lambda i, x: (i + 1, x * v), (0, 1.0))[1]
    gradient = tf.gradients(result, v)[0]
    run(session, tf.no_op())
    for key in (v, v.value()):
        assert session.run([result, gradient], {key: 5.0}) == [125, 75]


def test_a_variable_may_be_a_loop_variable(session):
    v = tf.Variable(1.0)
    result = tf.while_loop(lambda x: x < 3.0, lambda x: x + 1.0, [v])
    assert result.dtype is tf.float32 and run(session, result) == 3 and session.run(v) == 1


def test_assignments_in_a_cond_in_a_loop(session, v):
    def body(i):
        step = tf.cond(i > 2, lambda: tf.assign_add(v, i), lambda: tf.assign_add(v, 0))
        with tf.control_dependencies([step]):
            return i + 1

    run(session, tf.while_loop(below(5), body, [0]))
    assert session.run(v) == 3 + 4


def test_a_loop_with_effects_in_a_branch(session, v):
    pred = tf.placeholder(tf.bool, [])

    def body(i):
        with tf.control_dependencies([tf.assign_add(v, i)]):
            return i + 1

    result = tf.cond(pred, lambda: tf.while_loop(below(4), body, [0]), lambda: tf.constant(-1))
    run(session, tf.no_op())
    assert session.run(result, {pred: False}) == -1 and session.run(v) == 0
    assert session.run(result, {pred: True}) == 4 and session.run(v) == 6


def test_rows_are_replaced_in_a_loop(session):
    table = tf.Variable(tf.zeros([4]))
    other = tf.Variable(tf.zeros([4]))

    def body(i):
        value = tf.cast(i, tf.float32)
        with tf.control_dependencies([tf.scatter_update(table, i, value), tf.scatter_add(other, i, value * 2.0)]):
            return i + 1

    run(session, tf.while_loop(below(4), body, [0]))
    assert session.run(table).tolist() == [0, 1, 2, 3] and session.run(other).tolist() == [0, 2, 4, 6]


def test_the_updated_variable_as_loop_value(session):
    table = tf.Variable([1.0, 2.0, 3.0])
    _, result = tf.while_loop(
        below(2), lambda i, x: (i + 1, tf.scatter_update(table, i, x[2] * 10.0)), (0, tf.identity(table))
    )
    assert run(session, result).tolist() == [30, 30, 3]


def test_a_variable_made_in_a_body(session):
    def body(x):
        return x + tf.get_variable("w", [], initializer=tf.ones_initializer()) * 0.5

    result = tf.while_loop(lambda x: x < 3.0, body, [0.0])
    assert run(session, result) == 3 and [v.name for v in tf.global_variables()] == ["w:0"]
    for initial in (tf.Variable, lambda value: tf.Variable(lambda: value)):
        with pytest.raises(ValueError, match=r"while loop|control-flow construct"):
            tf.while_loop(below(3), lambda i, initial=initial: i + tf.cast(initial(i + 1), tf.int32), [0])


def test_a_loop_under_a_control_dependency(session):
    fed = tf.placeholder(tf.int32, [])
    with tf.control_dependencies([fed]):
        result = tf.while_loop(below(3), lambda i: i + 1, [0])
    assert session.run(result, {fed: 1}) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed"):
        session.run(result)


def test_a_placeholder_that_a_body_waits_for_must_be_fed(session):
    fed = tf.placeholder(tf.int32, [])

    def body(i):
        with tf.control_dependencies([fed]):
            return i + 1

    result = tf.while_loop(below(3), body, [0])
    assert session.run(result, {fed: 1}) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed"):
        session.run(result)


def test_prints_and_calls_happen_in_each_step(session, capfd):
    seen = []

    def note(i):
        seen.append(int(i))
        return i

    def body(i):
        return tf.Print(tf.py_func(note, [i], tf.int32), [i], "step ") + 1

    result = tf.while_loop(below(3), body, [0], shape_invariants=[tf.TensorShape(None)])
    assert session.run(result) == 3 and seen == [0, 1, 2]
    assert capfd.readouterr().err == "step [0]\nstep [1]\nstep [2]\n"


# Order


def test_group_runs_all_and_reads_fail_before_initialization(session, v):
    w = tf.Variable(1)
    with pytest.raises(tf.errors.OpError, match="uninitialized value v"):
        session.run(v)
    session.run(tf.group(v.initializer, w.initializer))
    assert session.run([v, w]) == [0, 1]
    assert tf.group().type == "NoOp"


def test_tuple_makes_all_depend_on_all(session, v):
    w = tf.Variable(0)
    first, second = tf.tuple([tf.identity(tf.assign_add(v, 1)), tf.identity(tf.assign_add(w, 1))])
    run(session, first)
    assert session.run([v, w]) == [1, 1]
    run(session, second)
    assert session.run([v, w]) == [1, 1]


def test_control_inputs_may_be_tensors_and_chains(session, v):
    first = tf.assign_add(v, 1)
    with tf.control_dependencies([first]):
        second = tf.assign(v, v * 10)
    with tf.control_dependencies([second]):
        third = tf.identity(v)
    assert run(session, third) == 10


def test_variables_made_under_dependencies_do_not_wait_for_them(session):
    with tf.control_dependencies([tf.placeholder(tf.float32)]):
        v = tf.Variable(1.0)
    session.run(v.initializer)
    assert session.run(v) == 1
