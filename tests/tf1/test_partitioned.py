"""Partitioned variables: their parts, sharing, use as tensors, assignment; the partitioners."""

import numpy as np
import pytest

import dynrnn.tf1 as tf


def part_names(variable):
    return [part.op.name for part in variable]


def two():
    return tf.fixed_size_partitioner(2)


def test_parts_are_variables_of_their_own():
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [5, 2], partitioner=two())
    assert (w.name, w.dtype, w.shape.as_list(), len(w)) == ("a/w", tf.float32, [5, 2], 2)
    assert part_names(w) == ["a/w/part_0", "a/w/part_1"]
    assert [part.shape.as_list() for part in w] == [[3, 2], [2, 2]]
    assert tf.global_variables() == tf.trainable_variables() == list(w)


def test_nodes_are_named_as_in_tensorflow():
    w = tf.get_variable("w", [4, 3], partitioner=two())
    before = len(tf.get_default_graph().get_operations())
    assert w.as_tensor().name == "w:0"
    assert tf.convert_to_tensor(w).name == "w_1:0"
    names = [op.name for op in tf.get_default_graph().get_operations()[before:]]
    assert "w/ConcatPartitions/concat" in names
    parts = [op.name for op in tf.get_default_graph().get_operations()[:before]]
    assert [name for name in parts if "Initializer" not in name][:3] == ["w/part_0", "w/part_0/Assign", "w/part_0/read"]
    assert "w/part_1/Initializer/random_uniform" in parts


def test_a_slice_info_says_where_a_part_lies():
    w = tf.get_variable("w", [5, 3], partitioner=two())
    assert [part._get_save_slice_info().spec for part in w] == ["5 3 0,3:0,3", "5 3 3,2:0,3"]
    assert {part._get_save_slice_info().full_name for part in w} == {"w"}


@pytest.mark.parametrize(("axis", "shapes"), [(0, [[2, 4], [1, 4]]), (1, [[3, 2], [3, 2]])])
def test_parts_split_along_the_axis_asked_for_and_join_again(axis, shapes):
    value = np.arange(12, dtype=np.float32).reshape(3, 4)
    w = tf.get_variable("w", [3, 4], initializer=value, partitioner=tf.fixed_size_partitioner(2, axis=axis))
    assert [part.shape.as_list() for part in w] == shapes
    joined = tf.convert_to_tensor(w)
    assert joined.shape.as_list() == [3, 4]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(joined), value)


def test_a_value_without_a_shape_gives_the_shape():
    w = tf.get_variable("w", initializer=tf.ones([4]), partitioner=two())
    assert w.shape.as_list() == [4]
    assert [part.initial_value.op.name for part in w] == [f"w/part_{i}/PartitionedInitializer/Slice" for i in (0, 1)]


def test_initializers_are_told_of_the_whole():
    seen = []

    def initializer(shape, dtype, partition_info):
        seen.append((shape, partition_info.full_shape, partition_info.var_offset))
        return tf.zeros(shape, dtype)

    tf.get_variable("w", [3, 2], initializer=initializer, partitioner=two())
    assert seen == [([2, 2], [3, 2], [0, 0]), ([1, 2], [3, 2], [2, 0])]


def test_a_partitioned_variable_computes():
    w = tf.get_variable("w", [2, 3], initializer=np.ones([2, 3], np.float32), partitioner=two())
    product = tf.matmul([[1.0, 2.0]], w)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(product), [[3.0, 3.0, 3.0]])
        grads = sess.run(tf.gradients(product, list(w)))
    np.testing.assert_array_equal(grads, [[[1.0, 1.0, 1.0]], [[2.0, 2.0, 2.0]]])


def test_assignment_cuts_the_value_up():
    w = tf.get_variable("w", [3], partitioner=two())
    with tf.Session() as sess:
        sess.run(tf.assign(w, [1.0, 2.0, 3.0]))
        np.testing.assert_array_equal(sess.run(w.as_tensor()), [1.0, 2.0, 3.0])
        sess.run(w.assign_add([1.0, 1.0, 1.0]))
        sess.run(w.assign_sub([0.0, 0.0, 4.0], read_value=False))
        np.testing.assert_array_equal(sess.run(w.as_tensor()), [2.0, 3.0, 0.0])


def test_one_part_is_still_a_partitioned_variable():
    w = tf.get_variable("w", [1, 2], partitioner=two())
    assert part_names(w) == ["w/part_0"]
    assert w.as_tensor().name == "w:0"


def test_scalars_are_not_partitioned():
    assert isinstance(tf.get_variable("w", [], partitioner=two()), tf.Variable)


def test_reuse_gives_the_same_object():
    with tf.variable_scope("a", partitioner=two()) as a:
        w = tf.get_variable("w", [4])
    with tf.variable_scope(a, reuse=True):
        assert tf.get_variable("w", [4]) is w
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w", [4]) is w  # no partitioner is named
        assert tf.get_variable("w") is w
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w", [4], partitioner=two()) is w


def test_a_scopes_partitioner_is_kept_on_re_entry():
    with tf.variable_scope("a", partitioner=two()) as a, tf.variable_scope("b"):
        assert part_names(tf.get_variable("w", [2])) == ["a/b/w/part_0", "a/b/w/part_1"]
    with tf.variable_scope(a):
        assert len(tf.get_variable("w", [2])) == 2
        tf.get_variable_scope().set_partitioner(None)
        assert isinstance(tf.get_variable("v", [2]), tf.Variable)


@pytest.mark.parametrize(
    ("partitioner", "shape", "dtype", "match"),
    [
        (tf.fixed_size_partitioner(4), [4], None, r"but specified partitions \[4\] and found partitions \[2\]"),
        (tf.fixed_size_partitioner(2), [6], None, r"but specified shape \(6,\) and found shape \(4,\)"),
        (tf.fixed_size_partitioner(2), [4], tf.int32, "but specified dtype int32 and found dtype float32"),
    ],
)
def test_a_shared_partitioned_variable_must_fit(partitioner, shape, dtype, match):
    tf.get_variable("w", [4], partitioner=two())
    with (
        tf.variable_scope("", reuse=True),
        pytest.raises(ValueError, match="Trying to reuse partitioned variable w, " + match),
    ):
        tf.get_variable("w", shape, dtype, partitioner=partitioner)


def test_partitioned_and_whole_variables_do_not_mix():
    tf.get_variable("w", [4], partitioner=two())
    with pytest.raises(ValueError, match="Partitioned variable with name w already exists"):
        tf.get_variable("w", [4], partitioner=two())
    with pytest.raises(
        ValueError, match="No partitioner was provided, but a partitioned version of the variable was found: w/part_0"
    ):
        tf.get_variable("w", [4])
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError, match="PartitionedVariable v does not exist"):
        tf.get_variable("v", [4], partitioner=two())


def test_parts_made_one_by_one_are_not_taken_up_in_another_number():
    for i in range(3):
        tf.get_variable(f"w/part_{i}", [1])
    with (
        tf.variable_scope("", reuse=tf.AUTO_REUSE),
        pytest.raises(ValueError, match="Partitioner returned a different partitioning than what was already found"),
    ):
        tf.get_variable("w", [2], partitioner=two())


@pytest.mark.parametrize(
    ("partitioner", "shape", "match"),
    [
        (3, [2], "Partitioner must be callable, but received: 3"),
        (two(), [None, 2], r"Shape of a new partitioned variable must be fully defined, but instead was \(\?, 2\)"),
        (lambda shape, dtype: [2, 2], [3, 2], "Can only slice a variable along one dimension"),
        (lambda shape, dtype: [2], [3, 2], "does not match the Variable's rank"),
        (lambda shape, dtype: [0, 1], [3, 2], "Partitioner returned zero partitions for some axes"),
        (lambda shape, dtype: 2, [3, 2], "Partitioner must return a sequence, but saw: 2"),
    ],
)
def test_wrong_partitioners(partitioner, shape, match):
    with pytest.raises(ValueError, match=match):
        tf.get_variable("w", shape, partitioner=partitioner)
    assert tf.global_variables() == []


def test_a_failing_part_takes_back_the_others():
    def initializer(shape, dtype, partition_info):
        return tf.zeros([9] if partition_info.var_offset[0] else shape, dtype)

    with pytest.raises(ValueError, match="must be equal"):
        tf.get_variable("w", [4], initializer=initializer, partitioner=two())
    assert tf.global_variables() == []
    assert isinstance(tf.get_variable("w", [4]), tf.Variable)


@pytest.mark.parametrize(
    ("partitioner", "shape", "parts"),
    [
        (tf.fixed_size_partitioner(3), [2, 3], [2, 1]),
        (tf.fixed_size_partitioner(3, axis=1), [2, 3], [1, 3]),
        (tf.variable_axis_size_partitioner(24), [8, 3], [4, 1]),
        (tf.variable_axis_size_partitioner(24, max_shards=3), [8, 3], [3, 1]),
        (tf.variable_axis_size_partitioner(1), [8, 3], [8, 1]),
        (tf.min_max_variable_partitioner(max_partitions=4, min_slice_size=8), [8, 3], [4, 1]),
        (tf.min_max_variable_partitioner(max_partitions=4, min_slice_size=40), [8, 3], [3, 1]),
        (tf.min_max_variable_partitioner(max_partitions=4, axis=1, min_slice_size=8), [8, 3], [1, 3]),
        (tf.min_max_variable_partitioner(max_partitions=4), [8, 3], [1, 1]),
    ],
)
def test_partitioners_choose_as_tensorflows(partitioner, shape, parts):
    assert partitioner(shape=tf.TensorShape(shape), dtype=tf.float32) == parts


def test_strings_count_as_many_bytes_as_they_are_said_to():
    partitioner = tf.variable_axis_size_partitioner(64, bytes_per_string_element=32)
    assert partitioner(shape=tf.TensorShape([8]), dtype=tf.string) == [4]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.variable_axis_size_partitioner(0),
        lambda: tf.variable_axis_size_partitioner(8, max_shards=-1),
        lambda: tf.min_max_variable_partitioner(max_partitions=0),
    ],
)
def test_partitioners_refuse_numbers_that_are_not_positive(make):
    with pytest.raises(ValueError, match="must be"):
        make()
