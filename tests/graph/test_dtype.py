"""Element types: the table against numpy, torch and TensorFlow's own values, and the conversion of values."""

import pickle

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dynrnn.graph import dtype as types
from dynrnn.graph.dtype import DTYPES, as_dtype, cast_array, to_bytes, to_numpy, to_torch

# name: TensorFlow's number, bytes of an element, its letter, numpy's type
TABLE = {
    "float16": (19, 2, "f", np.float16),
    "bfloat16": (14, 2, "f", ml_dtypes.bfloat16),
    "float32": (1, 4, "f", np.float32),
    "float64": (2, 8, "f", np.float64),
    "int8": (6, 1, "i", np.int8),
    "int16": (5, 2, "i", np.int16),
    "int32": (3, 4, "i", np.int32),
    "int64": (9, 8, "i", np.int64),
    "uint8": (4, 1, "u", np.uint8),
    "uint16": (17, 2, "u", np.uint16),
    "uint32": (22, 4, "u", np.uint32),
    "uint64": (23, 8, "u", np.uint64),
    "bool": (10, 1, "b", np.bool_),
    "complex64": (8, 8, "c", np.complex64),
    "complex128": (18, 16, "c", np.complex128),
    "string": (7, None, "s", object),
    "resource": (20, None, "s", object),
}
NUMERIC = [name for name, row in TABLE.items() if row[2] != "s"]


def test_the_table_is_complete():
    assert set(TABLE) == set(DTYPES)


@pytest.mark.parametrize("name", TABLE)
def test_a_type_has_tensorflows_number_size_and_numpy_type(name):
    number, size, kind, array_type = TABLE[name]
    dtype = as_dtype(name)
    assert (dtype.as_datatype_enum, dtype.name, dtype.as_numpy_dtype) == (number, name, array_type)
    assert size is None or dtype.size == size
    assert (dtype.is_floating, dtype.is_integer, dtype.is_unsigned) == (kind == "f", kind in "iu", kind == "u")
    assert (dtype.is_complex, dtype.is_bool, dtype.is_differentiable) == (kind == "c", kind == "b", kind in "fc")


@pytest.mark.parametrize("name", TABLE)
def test_a_type_prints_as_in_tensorflow(name):
    assert repr(as_dtype(name)) == f"tf.{name}"
    assert str(as_dtype(name)) == f"<dtype: '{name}'>"


@pytest.mark.parametrize("name", TABLE)
def test_a_reference_type_belongs_to_its_plain_type(name):
    plain, ref = as_dtype(name), as_dtype(name + "_ref")
    assert ref is not plain and ref != plain and ref.name == name + "_ref"
    assert ref.base_dtype is plain and plain.base_dtype is plain
    assert ref.as_datatype_enum == plain.as_datatype_enum + 100
    assert ref.is_compatible_with(plain) and plain.is_compatible_with(ref)
    assert as_dtype(ref.as_datatype_enum) is ref


@pytest.mark.parametrize("name", NUMERIC)
def test_a_type_is_found_by_every_name_it_has(name):
    dtype = as_dtype(name)
    for alias in (dtype, name, dtype.as_datatype_enum, dtype.torch, dtype.numpy, dtype.as_numpy_dtype):
        assert as_dtype(alias) is dtype
        assert dtype == alias


@pytest.mark.parametrize(
    ("alias", "name"),
    [("float", "float32"), ("double", "float64"), ("half", "float16"), (float, "float32"), (bool, "bool"),
     (object, "string"), (np.str_, "string"), (np.dtype("S5"), "string"), (np.dtype(">f4"), "float32")],
    ids=str,
)  # fmt: skip
def test_other_names_of_types(alias, name):
    assert as_dtype(alias) is DTYPES[name]


@pytest.mark.parametrize("value", ["junk", 0, 999, None, [], np.dtype("M8[D]"), torch.qint8], ids=str)
def test_what_is_no_type_is_a_type_error(value):
    with pytest.raises(TypeError, match="Cannot convert value"):
        as_dtype(value)


def test_types_compare_by_identity_and_with_their_names():
    assert types.float32 == "float32" and types.float32 == np.float32
    assert types.float32 != "int32" and types.float32 != "junk" and types.float32 != None  # noqa: E711
    assert hash(as_dtype("float32")) == hash(types.float32)
    assert types.float32 in {types.float32: 1}


@pytest.mark.parametrize("name", [*TABLE, "int32_ref"])
def test_a_type_survives_pickling_as_itself(name):
    assert pickle.loads(pickle.dumps(as_dtype(name))) is as_dtype(name)


def test_the_real_type_of_complex_numbers():
    assert types.complex64.real_dtype is types.float32 and types.complex128.real_dtype is types.float64
    assert types.int32.real_dtype is types.int32


@pytest.mark.parametrize("name", [name for name, row in TABLE.items() if row[2] in "iuf"])
def test_least_and_largest_values_are_torchs(name):
    dtype = as_dtype(name)
    info = (torch.finfo if dtype.is_floating else torch.iinfo)(dtype.torch)
    assert (float(dtype.min), float(dtype.max)) == (float(info.min), float(info.max))
    assert dtype.limits == ((0, dtype.max) if dtype.is_integer else (0, 1))


@pytest.mark.parametrize("name", ["bool", "complex64", "string"])
def test_types_without_limits_say_so(name):
    with pytest.raises(TypeError, match="Cannot find minimum value"):
        print(as_dtype(name).min)


@pytest.mark.parametrize("name", NUMERIC)
def test_values_go_to_torch_and_back(name):
    dtype = as_dtype(name)
    array = np.arange(6).reshape(2, 3).astype(dtype.numpy)
    tensor = to_torch(array.copy())
    back = to_numpy(tensor)
    assert tensor.dtype is dtype.torch and tuple(tensor.shape) == (2, 3)
    assert back.dtype == dtype.numpy
    np.testing.assert_array_equal(back.astype(np.complex128), array.astype(np.complex128))


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_scalars_and_empty_arrays_keep_their_shape(name, shape):
    tensor = to_torch(np.zeros(shape, as_dtype(name).numpy))
    assert tuple(tensor.shape) == shape and to_numpy(tensor).shape == shape


def test_an_array_over_a_tensors_values_is_new_and_in_c_order():
    tensor = torch.arange(6.0).reshape(2, 3).t()
    array = to_numpy(tensor)
    assert array.flags.c_contiguous and not np.shares_memory(array, tensor.numpy())
    np.testing.assert_array_equal(array, tensor.numpy())


def test_lazy_conjugates_and_gradients_are_no_hindrance():
    value = torch.tensor([1 + 2j], requires_grad=True)
    np.testing.assert_array_equal(to_numpy(value.conj()), [1 - 2j])


def test_arrays_of_another_byte_order_or_layout_are_taken():
    array = np.arange(6, dtype=">i4").reshape(2, 3)
    assert to_torch(array).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert to_torch(np.asfortranarray(array.astype(np.int32))).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [(1.7, "int32", 1), (-1.7, "int32", -1), ([300, 1], "uint8", [44, 1]), (-1, "uint8", 255), ("2.5", "float32", 2.5),
     (True, "float32", 1.0), ([0.5, 0.0], "bool", [True, False]), (2**40, "int32", 0), (1e39, "float32", np.inf),
     (1e6, "float16", np.inf), ("3", "int64", 3), (1, "complex64", 1 + 0j), (1.5, "bfloat16", 1.5)],
    ids=str,
)  # fmt: skip
def test_casts_follow_numpys_rules_in_silence(values, name, expected):
    array = np.array(values)
    result = cast_array(array, as_dtype(name))
    assert result.dtype == as_dtype(name).numpy and not np.shares_memory(result, array)
    assert result.tolist() == expected


def test_the_cast_of_nan_to_an_integer_is_silent():
    assert cast_array(np.array([np.nan, np.inf]), types.int32).dtype == np.int32


def test_text_that_is_no_number_is_a_value_error():
    with pytest.raises(ValueError, match="could not convert"):
        cast_array(np.array("x"), types.float32)


@given(st.lists(st.one_of(st.text(), st.binary()), max_size=5))
def test_strings_are_held_as_bytes(items):
    array = np.empty(len(items), object)
    array[:] = items
    result = to_bytes(array)
    assert result.tolist() == [item.encode() if isinstance(item, str) else item for item in items]


def test_what_is_no_string_is_not_held_as_one():
    with pytest.raises(TypeError, match="Expected binary or unicode string, got 1"):
        to_bytes(np.array(["a", 1], object))


def test_both_of_numpys_names_of_64_bit_integers_are_taken():
    assert to_torch(cast_array(np.array(2**63), types.uint64)).dtype is torch.uint64
    assert to_torch(cast_array(np.array([1], np.longlong), types.int64)).tolist() == [1]
