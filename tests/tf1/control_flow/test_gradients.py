"""Gradients through, in and around branches and loops: their values, and where there are none."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def run(session, fetches, feed=None):
    session.run(tf.global_variables_initializer())
    return session.run(fetches, feed)


def true():
    return tf.constant(True)


def repeat(step, start, times=3, **options):
    """`start` after `times` steps."""
    return tf.while_loop(lambda i, *x: i < times, lambda i, x: (i + 1, step(x)), (0, start), **options)[1]


def square(x):
    return x * x


# Branches


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_a_fed_predicate_picks_the_gradient(session, dtype):
    x, v = tf.constant(2.0, dtype), tf.Variable(3.0, dtype=dtype)
    pred = tf.placeholder(tf.bool, [])
    gradients = tf.gradients(tf.cond(pred, lambda: v * x, lambda: square(x)), [v, x])
    run(session, tf.no_op())
    assert [session.run(gradients, {pred: value}) for value in (True, False)] == [[2, 3], [0, 4]]


def test_a_variable_as_a_branchs_result_has_a_gradient(session):
    v = tf.Variable([1.0, 42.0])
    result = tf.cond(true(), lambda: tf.identity(v), lambda: tf.zeros([2]))
    assert run(session, tf.gradients(result, v)[0]).tolist() == [1, 1]
    result = tf.cond(true(), lambda: v, lambda: tf.zeros([2]))
    assert run(session, tf.gradients(result, v)[0]).tolist() == [1, 1]


@pytest.mark.parametrize("values", [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0)])
def test_nested_conds(session, values):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    inner = lambda: tf.cond(y > 0.0, lambda: x * y, lambda: x * 3.0)  # noqa: E731
    gradients = tf.gradients(tf.cond(x > 0.0, inner, lambda: square(x)), [x, y])
    expected = {(1.0, 1.0): [1, 1], (1.0, -1.0): [3, 0], (-1.0, 1.0): [-2, 0]}[values]
    assert session.run(gradients, dict(zip((x, y), values, strict=True))) == expected


def test_gather_in_a_branch(session):
    v = tf.Variable([1.0, 42.0])
    pred = tf.placeholder(tf.bool, [])
    result = tf.cond(pred, lambda: tf.gather(v, [0, 1, 1]), lambda: tf.gather(v, [0, 0]))
    gradient = tf.convert_to_tensor(tf.gradients(result, v)[0])
    run(session, tf.no_op())
    assert [session.run(gradient, {pred: value}).tolist() for value in (True, False)] == [[1, 2], [2, 0]]


def test_a_gradient_is_built_after_a_run(session):
    x = tf.constant(3.0)
    result = tf.cond(true(), lambda: square(x), lambda: x)
    assert session.run(result) == 9
    assert session.run(tf.gradients(result, x)) == [6]
    loop = repeat(square, x)
    assert session.run(loop) == 3**8
    assert session.run(tf.gradients(loop, x)) == [8 * 3**7]


def test_map_fn_in_a_branch(session):
    x = tf.constant([1.0, 2.0])
    pred = tf.placeholder(tf.bool, [])
    gradient = tf.gradients(tf.cond(pred, lambda: tf.map_fn(square, x), lambda: x), x)[0]
    assert [session.run(gradient, {pred: value}).tolist() for value in (True, False)] == [[2, 4], [1, 1]]


def test_branches_without_a_differentiable_path_have_no_gradient():
    x, y = tf.constant(1.0), tf.constant(2.0)
    pred = x < y
    assert tf.gradients(tf.cond(pred, lambda: tf.cast(x, tf.int32), lambda: 1), x) == [None]
    assert tf.gradients(tf.cond(pred, lambda: tf.stop_gradient(x), lambda: 1.0), x) == [None]
    assert tf.gradients(tf.cond(pred, lambda: x * 2.0, lambda: tf.constant(1.0)), y) == [None]
    first, second = tf.cond(pred, lambda: (x, y), lambda: (x, y))
    assert tf.gradients(first, y) == [None] and tf.gradients(second, x) == [None]
    assert tf.gradients(first, x) != [None]


def test_second_order_through_a_branch(session):
    x = tf.constant(2.0)
    (first,) = tf.gradients(tf.cond(true(), lambda: x * x * x, lambda: x), x)
    assert session.run(tf.gradients(first, x)) == [12]


# Loops


def test_the_initial_value_and_what_the_body_uses_have_gradients(session):
    x, c, v = tf.constant(2.0), tf.constant(3.0), tf.Variable(5.0)
    result = repeat(lambda y: y * c + v, x)
    # 27 x + (9 + 3 + 1) v
    assert run(session, [result, tf.gradients(result, [x, c, v])]) == [54 + 65, [27, 3 * 9 * 2 + 5 * 7, 13]]


def test_gradients_add_up_and_a_loop_of_no_steps_hands_them_on(session):
    x, c = tf.constant(2.0), tf.constant(3.0)
    none = repeat(lambda y: y * c, x, 0)
    assert session.run(tf.gradients([none, none + x], [x, c])) == [3, 0]
    result = repeat(square, x, 2)
    assert session.run([tf.gradients(result * result, x), tf.gradients(result + result, x)]) == [[8 * 2**7], [64]]


def test_an_integer_counter_goes_beside(session):
    x, count = tf.constant(2.0), tf.constant(0)
    loop = lambda limit: tf.while_loop(lambda i, y: i < limit, lambda i, y: (i + 1, square(y)), (count, x))  # noqa: E731
    for limit, expected in ((0, 1), (1, 4), (3, 1024)):
        i, y = loop(limit)
        assert session.run(tf.gradients(y, x)) == [expected]
        assert tf.gradients(y, count) == [None] and tf.gradients(i, [x, count]) == [None, None]


def test_two_variables_have_gradients_each_and_both(session):
    x, y = tf.constant(3.0), tf.constant(2.0)
    rx, ry = tf.while_loop(lambda a, b: a < 100.0, lambda a, b: (a * b, b + 1.0), (x, y))
    # a: 3, 6, 18, 72, 360: 3 * y (y + 1) (y + 2) (y + 3)
    product = 2 * 3 * 4 * 5
    dy = 3 * (3 * 4 * 5 + 2 * 4 * 5 + 2 * 3 * 5 + 2 * 3 * 4)
    assert session.run(tf.gradients(rx, [x, y])) == [product, dy]
    assert session.run(tf.gradients(ry, y)) == [1] and tf.gradients(ry, x) == [None]
    assert session.run(tf.gradients([rx, ry], [x, y])) == [product, dy + 1]


def test_variables_that_do_not_meet_have_no_gradient(session):
    a, b = tf.constant(1.0), tf.constant(2.0)
    apart = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * 2.0, b * 3.0), (0, a, b))
    assert tf.gradients(apart[1], b) == [None] and session.run(tf.gradients(apart[2], b)) == [27]
    crossed = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * 2.0 + b, b * 3.0), (0, a, b))
    assert tf.gradients(crossed[2], a) == [None] and session.run(tf.gradients(crossed[1], b)) == [19]
    limited = tf.while_loop(lambda a: a < b, lambda a: a * 2.0, [a])
    assert tf.gradients(limited, b) == [None]


def test_a_constant_from_the_body_gives_zero(session):
    x = tf.constant(2.0)
    assert session.run(tf.gradients(repeat(lambda y: tf.constant(5.0), x), x)) == [0]
    assert session.run(tf.gradients(repeat(lambda y: tf.cast(tf.cast(y, tf.int32), tf.float32), x), x)) == [0]


def test_a_variable_that_passes_through(session):
    x, y = tf.constant(2.0), tf.constant(3.0)
    result = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * b, b), (0, x, y))
    assert session.run(tf.gradients(result[1], [x, y])) == [27, 54]
    assert session.run(tf.gradients(result[2], y)) == [1]


def test_back_prop_false_cuts_the_loop_out(session):
    x = tf.constant(2.0)
    result = repeat(square, x, back_prop=False)
    assert tf.gradients(result, x) == [None]
    assert session.run([result, tf.gradients(result * x, x)]) == [256, [256]]


def test_stop_gradient_in_the_body_and_around_it(session):
    x, c = tf.constant(1.0), tf.constant(2.0)
    result = repeat(lambda y: y * tf.stop_gradient(c), x)
    assert tf.gradients(result, c) == [None] and session.run(tf.gradients(result, x)) == [8]
    assert session.run(tf.gradients(repeat(lambda y: tf.stop_gradient(y * 2.0), x), x)) == [0]
    assert session.run(tf.gradients(tf.stop_gradient(repeat(square, x)) * c, c)) == [1]
    (gradient,) = tf.gradients(repeat(square, x), x)
    assert session.run(tf.gradients(tf.stop_gradient(gradient) * x, x)) == [8]


def test_loops_in_series_side_by_side_and_nested(session):
    x = tf.constant(2.0)
    series = repeat(square, repeat(square, x, 1), 1)
    beside = repeat(square, x, 1) * repeat(lambda y: y * 3.0, x, 2)
    nested = repeat(lambda y: repeat(square, y, 2), x, 2)
    inner_series = repeat(lambda y: repeat(square, repeat(square, y, 1), 1), x, 2)
    inner_beside = repeat(lambda y: repeat(square, y, 1) * repeat(lambda z: z * 3.0, y, 1), x, 1)
    found = [session.run(tf.gradients(y, x))[0] for y in (series, beside, nested, inner_series, inner_beside)]
    assert found == [32, 27 * 4, 16 * 2**15, 16 * 2**15, 9 * 4]


def test_loop_in_cond_in_loop_and_cond_in_nested_loops(session):
    x, pred = tf.constant(2.0), tf.placeholder(tf.bool, [])
    mixed = repeat(lambda y: tf.cond(pred, lambda: repeat(square, y, 1), lambda: y * 3.0), x, 2)
    gradient = tf.gradients(mixed, x)[0]
    assert [session.run(gradient, {pred: value}) for value in (True, False)] == [32, 9]
    deep = repeat(lambda y: repeat(lambda z: tf.cond(z < 3.0, lambda: square(z), lambda: z * 2.0), y, 2), x, 2)
    assert session.run(tf.gradients(deep, x)) == [4 * 8]


def test_a_loop_in_a_branch_with_a_fed_predicate(session):
    x, pred = tf.constant(2.0), tf.placeholder(tf.bool, [])
    gradient = tf.gradients(tf.cond(pred, lambda: repeat(square, x), lambda: x), x)[0]
    assert [session.run(gradient, {pred: value}) for value in (True, False)] == [1024, 1]


def test_gather_in_the_body(session):
    v = tf.Variable([1.0, 2.0, 3.0])
    result = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + square(tf.gather(v, i))), (0, 0.0))[1]
    assert run(session, tf.convert_to_tensor(tf.gradients(result, v)[0])).tolist() == [2, 4, 6]
    last = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, square(tf.gather(v, i))), (0, 0.0))[1]
    assert run(session, tf.convert_to_tensor(tf.gradients(last, v)[0])).tolist() == [0, 0, 6]


def test_unknown_and_growing_shapes(session):
    x = tf.placeholder(tf.float32)
    (gradient,) = tf.gradients(repeat(square, x), x)
    assert gradient.shape.ndims is None and session.run(gradient, {x: [1.0, 2.0]}).tolist() == [8, 1024]
    v = tf.Variable(tf.ones([1, 2]))
    sizes = tf.TensorShape([]), tf.TensorShape([None, 2])
    grown = repeat(lambda y: tf.concat([y, v], 0), tf.zeros([1, 2]), shape_invariants=sizes)
    (gradient,) = tf.gradients(grown, v)
    run(session, tf.assign_sub(v, 0.5 * gradient))
    assert gradient.shape.as_list() == [1, 2] and session.run(v).tolist() == [[-0.5, -0.5]]


def test_a_control_dependency_on_a_second_result(session):
    x = tf.constant(2.0)
    i, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, square(y)), (0, x))
    with tf.control_dependencies([i]):
        z = tf.identity(y)
    assert session.run(tf.gradients(z, x)) == [1024]


def test_second_order_through_a_loop(session):
    x = tf.constant(2.0, tf.float64)
    (first,) = tf.gradients(repeat(square, x), x)
    (second,) = tf.gradients(first, x)
    assert session.run([first, second]) == [8 * 2**7, 56 * 2**6]


def test_numeric_differences_agree(session):
    x, c = tf.placeholder(tf.float64, [2]), tf.placeholder(tf.float64, [2])
    pick = lambda y: tf.cond(tf.reduce_sum(y) > 1.0, lambda: tf.sin(y * c), lambda: y + c * c)  # noqa: E731
    total = tf.reduce_sum(repeat(pick, x, 4))
    feed = {x: np.array([0.3, 0.9]), c: np.array([0.7, 1.1])}
    found = session.run(tf.gradients(total, [x, c]), feed)
    for key, gradient in zip((x, c), found, strict=True):
        for place in range(2):
            ends = []
            for step in (1e-6, -1e-6):
                moved = dict(feed)
                moved[key] = feed[key] + step * np.eye(2)[place]
                ends.append(session.run(total, moved))
            # A central difference with this step carries a rounding error of about 1e-10.
            assert abs((ends[0] - ends[1]) / 2e-6 - gradient[place]) < 1e-8


# Gradients taken inside


def test_in_a_branch(session):
    x, v, fed = tf.constant(3.0), tf.Variable(3.0), tf.placeholder(tf.float32, [])
    y, z, w = square(x), x * fed, square(v)
    cases = [
        (lambda: tf.gradients(square(x), x)[0], 6),
        (lambda: tf.gradients(y, x)[0], 6),
        (lambda: tf.gradients(y * 2.0, x)[0], 12),
        (lambda: tf.gradients(z * 2.0, x)[0], 10),
        (lambda: tf.gradients(w * 2.0, v)[0], 12),
        (lambda: tf.gradients(repeat(square, x), x)[0], 8 * 3**7),
    ]
    for branch, expected in cases:
        result = tf.cond(true(), branch, lambda: tf.constant(0.0))
        assert run(session, result, {fed: 5.0}) == expected
    loop = repeat(square, x)
    assert session.run(tf.cond(true(), lambda: tf.gradients(loop, x)[0], lambda: x)) == 8 * 3**7


def test_in_a_body_to_its_variables_and_to_what_it_uses(session):
    c, v = tf.constant(5.0), tf.Variable(3.0)
    y = square(c)
    cases = [
        (lambda x: tf.gradients(square(x), x)[0], 3.0, 24),
        (lambda x: tf.gradients(x * c, c)[0], 3.0, 3),
        (lambda x: x + tf.gradients(square(c), c)[0], 3.0, 33),
        (lambda x: x + tf.gradients(y * x, c)[0], 3.0, 3993),
        (lambda x: x + tf.gradients(square(v) * x, v)[0], 1.0, 343),
        (lambda x: x + tf.gradients(repeat(lambda z: z * c, x, 2), c)[0], 1.0, 11**3),
        (lambda x: tf.gradients(repeat(square, x, 2), x)[0] / 16.0, 2.0, 2.0),
    ]
    for step, start, expected in cases:
        assert run(session, repeat(step, tf.constant(start))) == expected


def test_in_a_body_to_its_initial_value_is_refused():
    start = tf.constant(3.0)
    for inside in (square, lambda x: x * start):
        with pytest.raises(ValueError, match="Cannot compute gradient inside while loop with respect to op 'Const'"):
            repeat(lambda x, inside=inside: tf.gradients(inside(x), start)[0], start)


def test_to_a_loops_own_tensors_from_outside_is_refused():
    kept = []

    def step(x):
        kept.append(x * 2.0)
        return kept[-1]

    result = repeat(step, tf.constant(1.0))
    with pytest.raises(ValueError, match="Cannot take the gradient with respect to 'while/mul:0'"):
        tf.gradients(result, kept[0])


def test_in_a_body_without_back_prop(session):
    x = tf.constant(4.0)
    descend = lambda y: y - 0.25 * tf.gradients(square(y), y)[0]  # noqa: E731
    for back_prop in (True, False):
        assert session.run(repeat(descend, x, back_prop=back_prop)) == 0.5
    assert session.run(tf.gradients(repeat(descend, x), x)) == [0.125]
