"""`tf.TensorArray`: what is read is what was written, in every dtype and by every way of reading and writing."""

from typing import Any

import numpy as np
import pytest

import dynrnn.tf1 as tf

DTYPES = [
    "float16",
    "float32",
    "float64",
    "int8",
    "int32",
    "int64",
    "uint8",
    "bool",
    "complex64",
    "complex128",
    "string",
]


def elements(dtype: str, shape: tuple[int, ...]) -> Any:
    """Values of a dtype that differ from each other where it has enough of them."""
    numbers = np.arange(1, int(np.prod(shape)) + 1).reshape(shape)
    if dtype == "string":
        return np.vectorize(lambda n: f"s{n}".encode(), otypes=[object])(numbers)
    if dtype == "bool":
        return numbers % 2 == 1
    return (numbers * (1 + 2j) if dtype.startswith("complex") else numbers).astype(dtype)


def array(dtype: str, size: Any, **options: Any) -> Any:
    return tf.TensorArray(getattr(tf, dtype), size, **options)


def evaluate(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def assert_equal(found: Any, expected: Any) -> None:
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(found, expected)


# Ways in and out


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_written_is_stacked(dtype):
    values = elements(dtype, (3, 1, 2))
    written = array(dtype, 3).write(2, values[2]).write(0, values[0]).write(1, values[1])
    assert_equal(evaluate(written.stack()), values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 2, 2), (2, 0, 3)], ids=str)
def test_what_is_unstacked_is_read(dtype, shape):
    values = elements(dtype, shape) if np.prod(shape) else np.zeros(shape, object if dtype == "string" else dtype)
    unstacked = array(dtype, shape[0]).unstack(tf.constant(values, dtype))
    found = evaluate([unstacked.read(i) for i in range(shape[0])])
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_unlike_lengths_are_joined(dtype):
    values = elements(dtype, (6, 2))
    written = array(dtype, 3, infer_shape=False).write(0, values[:1]).write(1, values[1:4]).write(2, values[4:])
    assert_equal(evaluate(written.concat()), values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lengths", [[1, 3, 2], [0, 6, 0], [2, 2, 2], [0, 0, 6]], ids=str)
def test_pieces_are_split_off_in_turn(dtype, lengths):
    values = elements(dtype, (6, 2))
    split = array(dtype, 3, infer_shape=False).split(values, lengths)
    found = evaluate([split.read(i) for i in range(3)])
    assert [len(piece) for piece in found] == lengths
    assert_equal(np.concatenate(found), values)


def test_an_empty_tensor_is_split_into_empty_pieces():
    split = array("float32", 3).split(np.zeros([0, 2], np.float32), [0, 0, 0])
    assert [piece.shape for piece in evaluate([split.read(i) for i in range(3)])] == [(0, 2)] * 3


def test_lengths_and_indices_may_be_int64():
    split = array("float32", 2).split([1.0, 2.0], tf.constant([1, 1], tf.int64))
    assert_equal(evaluate(split.gather(tf.constant([1, 0], tf.int64))), np.float32([[2], [1]]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_chosen_elements_are_gathered(dtype):
    values = elements(dtype, (4, 2))
    unstacked = array(dtype, 4, clear_after_read=False).unstack(values)
    assert_equal(evaluate(unstacked.gather([3, 1, 3])), values[[3, 1, 3]])


def test_several_scatters_fill_one_array():
    filled = array("float32", 5).scatter([4, 0], [[4.0], [0.0]]).scatter([1, 3, 2], [[1.0], [3.0], [2.0]])
    np.testing.assert_array_equal(evaluate(filled.stack()), [[0], [1], [2], [3], [4]])


def test_indices_and_sizes_may_be_fed():
    size, index = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    written = tf.TensorArray(tf.float32, size).write(index, [1.0, 2.0])
    with tf.Session() as session:
        found = session.run(written.stack(), {size: 3, index: 1})
        np.testing.assert_array_equal(found, [[0, 0], [1, 2], [0, 0]])
        assert session.run(written.size(), {size: 7, index: 1}) == 7


def test_unlike_shapes_are_kept_apart():
    written = array("float32", 3, infer_shape=False).write(0, [[4.0, 5.0]]).write(1, [3.0]).write(2, 1.0)
    found = evaluate([written.read(i) for i in range(3)])
    assert [value.tolist() for value in found] == [[[4, 5]], [3], 1]


def test_python_numbers_become_the_arrays_dtype():
    assert evaluate(array("float64", 1).write(0, 3).read(0)).dtype == np.float64
    assert evaluate(array("int64", 1).write(0, [3]).read(0)).dtype == np.int64


def test_two_arrays_in_one_graph_know_nothing_of_each_other():
    one, two = array("float32", 2).write(0, [4.0]).write(1, [1.0]), array("float32", 2).write(0, [5.0]).write(1, [6.0])
    first, second = evaluate([one.stack(), two.stack()])
    np.testing.assert_array_equal([first, second], [[[4], [1]], [[5], [6]]])


# Entries that were not written


def test_unwritten_entries_are_zeros_of_the_element_shape():
    given = array("float32", 3, element_shape=[2]).write(1, [3.0, 4.0])
    np.testing.assert_array_equal(evaluate(given.stack()), [[0, 0], [3, 4], [0, 0]])
    assert_equal(evaluate(array("int64", 3, element_shape=[2]).read(0)), np.zeros(2, np.int64))


def test_unwritten_entries_are_zeros_of_the_inferred_shape():
    inferred = array("float32", 3).write(1, [3.0, 4.0])
    np.testing.assert_array_equal(evaluate(inferred.concat()), [0, 0, 3, 4, 0, 0])


def test_unwritten_entries_are_zeros_of_the_shape_found_in_the_run():
    value = tf.placeholder(tf.float32)
    found = array("float32", 3).write(1, value)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(found.read(0), {value: [[1.0, 2.0]]}), [[0, 0]])
        np.testing.assert_array_equal(session.run(found.stack(), {value: 5.0}), [0, 5, 0])


def test_unwritten_strings_are_empty():
    np.testing.assert_array_equal(evaluate(array("string", 2, element_shape=[]).stack()), [b"", b""])


def test_an_empty_array_with_a_known_element_shape_gives_empty_tensors():
    empty = array("float32", 0, element_shape=[5, 2])
    assert evaluate(empty.stack()).shape == (0, 5, 2)
    assert evaluate(empty.concat()).shape == (0, 2)
    assert evaluate(array("string", 0, element_shape=[5]).stack()).shape == (0, 5)


def test_nothing_gathered_has_the_element_shape():
    assert evaluate(array("int32", 3).write(0, [1, 2]).gather(tf.constant([], tf.int32))).shape == (0, 2)


# Sizes


def test_the_size_is_that_of_the_entries():
    assert evaluate(array("float32", 3).size()) == 3
    assert evaluate(array("float32", tf.constant(3)).size()) == 3
    assert evaluate(array("float32", 0).size()) == 0


def test_a_dynamic_array_grows_with_what_is_written():
    growing = array("float32", 0, dynamic_size=True).write(2, [1.0])
    assert evaluate(growing.size()) == 3
    assert evaluate(growing.write(6, [1.0]).size()) == 7
    assert evaluate(array("float32", 0, dynamic_size=True).unstack([1.0, 2.0]).write(2, 3.0).size()) == 3
    assert evaluate(array("float32", 1, dynamic_size=True).split([1.0, 2.0], [1, 1]).size()) == 2
    assert evaluate(array("float32", 1, dynamic_size=True).scatter([4, 0], [1.0, 2.0]).size()) == 5


# The array itself


def test_it_tells_what_it_was_made_with():
    made = array("float32", 3, dynamic_size=True, element_shape=[None, 2])
    assert (made.dtype, made.dynamic_size, made.element_shape.as_list()) == (tf.float32, True, [None, 2])
    assert made.flow.dtype is tf.float32
    assert made.flow.get_shape().as_list() == []
    assert made.graph is tf.get_default_graph()
    assert array("float32", 3).dynamic_size is False


def test_a_run_of_the_flow_does_the_writes():
    twice = array("float32", 1).write(0, 1.0).write(0, 2.0)
    assert evaluate(array("float32", 1).write(0, 1.0).flow) == 0.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="already been written"):
        evaluate(twice.flow)


def test_the_flow_is_a_zero_to_other_operations():
    flow = array("float32", 1).write(0, 1.0).flow
    assert evaluate([tf.identity(flow), flow + 1.0, tf.stack([flow, 2.0])[1]]) == [0.0, 1.0, 2.0]
    assert evaluate(tf.group(flow)) is None


def test_another_object_of_an_array_is_made_from_its_handle_and_flow():
    made = array("float32", 2).write(0, [3.0])
    other = tf.TensorArray(tf.float32, handle=made.handle, flow=made.flow)
    np.testing.assert_array_equal(evaluate(other.write(1, [4.0]).stack()), [[3], [4]])
    again = tf.TensorArray(tf.float32, handle=made.handle, flow=tf.identity(made.flow))
    assert evaluate(again.read(0)) == [3.0]


def test_identity_keeps_dtype_size_and_shape_inference():
    made = array("float32", 2, element_shape=[None])
    same = made.identity()
    assert (same.dtype, same.dynamic_size, same.element_shape.as_list()) == (tf.float32, False, [None])
    assert evaluate(same.size()) == 2
    same.write(0, [1.0, 2.0])
    assert made.element_shape.as_list() == [2]


def test_identity_carries_control_dependencies():
    counter = tf.get_variable("counter", initializer=0, trainable=False)
    with tf.control_dependencies([tf.assign_add(counter, 1)]):
        written = array("float32", 1).write(0, 3.0).identity()
    value = written.read(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(value) == 3.0
        assert session.run(counter) == 1


def test_close_ends_an_array():
    made = array("float32", 3).write(0, 1.0)
    assert evaluate(made.close()) is None
    assert evaluate(array("float32", 3).close()) is None
    with tf.control_dependencies([made.close()]):
        closed = made.identity()
    for fetch in (closed.read(0), closed.write(1, 1.0).flow, closed.stack(), closed.grad("g").flow):
        with pytest.raises(tf.errors.InvalidArgumentError, match="has already been closed"):
            evaluate(fetch)
    assert evaluate([closed.close(), closed.size()]) == [None, 3]


def test_names_are_tensorflows():
    written = array("float32", 3).write(0, 1.0)
    assert written.handle.name == "TensorArray:0"
    assert written.flow.name == "TensorArrayWrite/TensorArrayWriteV3:0"
    assert written.read(0).name == "TensorArrayReadV3:0"
    assert written.stack().name == "TensorArrayStack/TensorArrayGatherV3:0"
    assert written.gather([0]).name == "TensorArrayGatherV3:0"
    assert (
        array("float32", 3).unstack([1.0]).flow.name == "TensorArrayUnstack/TensorArrayScatter/TensorArrayScatterV3:0"
    )
    assert array("float32", 3).split([1.0], [1]).flow.name == "TensorArraySplit/TensorArraySplitV3:0"
    named = array("float32", 3, name="mine")
    assert (named.handle.name, named.read(0, name="r").name) == ("mine:0", "r:0")


# Runs


def test_every_run_and_session_has_an_array_of_its_own():
    value = tf.placeholder(tf.float32, [])
    stacked = array("float32", 2).write(0, value).stack()
    with tf.Session() as one, tf.Session(graph=tf.get_default_graph()) as two:
        found = [session.run(stacked, {value: number}) for number in (1.0, 2.0) for session in (one, two)]
    np.testing.assert_array_equal(found, [[1, 0], [1, 0], [2, 0], [2, 0]])


def test_a_run_that_failed_leaves_nothing_behind():
    index = tf.placeholder(tf.int32, [])
    stacked = array("float32", 2).write(0, 1.0).write(index, 2.0).stack()
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="already been written"):
                session.run(stacked, {index: 0})
            np.testing.assert_array_equal(session.run(stacked, {index: 1}), [1, 2])
