import copy
import pickle

import numpy as np
import pytest

from dynrnn.tf1.message import Enum, Message


class Inner(Message):
    Level = Enum(LOW=0, HIGH=2, OFF=-1)
    FIELDS = {"level": Level, "ratio": float}  # noqa: RUF012


class Outer(Message):
    FIELDS = {"flag": bool, "count": int, "name": str, "inner": Inner, "many": [Inner], "sizes": {str: int}}  # noqa: RUF012


def full():
    outer = Outer(flag=1, name=b"n", inner=Inner(ratio=0.5), many=[{"level": "HIGH"}], sizes={"a": 0})
    outer.count = np.int64(3)
    return outer


def test_fields_that_were_not_set_are_zero():
    outer = Outer()
    assert (outer.flag, outer.count, outer.name, outer.inner.ratio, outer.inner.level) == (False, 0, "", 0.0, Inner.LOW)
    assert list(outer.many) == [] and dict(outer.sizes) == {} and str(outer) == ""


def test_fields_are_set_by_keyword_and_by_attribute():
    outer = full()
    assert (outer.flag, outer.count, outer.name, outer.inner.ratio) == (True, 3, "n", 0.5)
    outer.inner.level = Inner.OFF
    outer.many.add(ratio=2).level = 2
    outer.sizes["b"] = 1
    assert (outer.inner.level, len(outer.many), outer.many[1].ratio, dict(outer.sizes)) == (
        -1,
        2,
        2.0,
        {"a": 0, "b": 1},
    )


def test_text_is_protocol_buffers():
    assert str(full()) == (
        'flag: true\ncount: 3\nname: "n"\ninner {\n  ratio: 0.5\n}\nmany {\n  level: HIGH\n}\n'
        'sizes {\n  key: "a"\n  value: 0\n}\n'
    )


def test_messages_are_compared_and_copied():
    outer = full()
    for other in (copy.deepcopy(outer), pickle.loads(pickle.dumps(outer))):
        assert other == outer
        other.inner.ratio = 1.0
        other.many.append(Inner())
        other.sizes["b"] = np.int32(2)
        assert other != outer and outer == full()
    target = Outer(count=5)
    target.CopyFrom(outer)
    assert target == outer
    target.MergeFrom(Outer(count=9, many=[Inner()], inner=Inner(level=2)))
    assert (target.count, len(target.many), target.inner.ratio, target.inner.level) == (9, 2, 0.5, 2)
    target.Clear()
    assert target == Outer()


def test_message_in_a_field_is_a_copy():
    inner = Inner(ratio=0.5)
    outer = Outer(inner=inner)
    inner.ratio = 0.75
    assert outer.inner.ratio == 0.5


def test_which_fields_are_set():
    outer = Outer(count=0)
    assert not outer.HasField("inner")
    outer.inner.ratio = 1
    assert outer.HasField("inner") and [name for name, _ in outer.ListFields()] == ["inner"]
    outer.ClearField("inner")
    assert not outer.HasField("inner")
    with pytest.raises(ValueError, match="does not have presence"):
        outer.HasField("count")


def test_enums_know_names_and_numbers():
    assert Inner.Level.Value("HIGH") == Inner.HIGH == 2 and Inner.Level.Name(-1) == "OFF"
    with pytest.raises(ValueError, match="'MIDDLE'"):
        Inner(level="MIDDLE")
    with pytest.raises(ValueError, match="7"):
        Inner.Level.Name(7)


def test_fields_that_are_not_there_are_errors_that_name_the_nearest():
    with pytest.raises(ValueError, match='Outer has no "nam" field; the closest are name'):
        Outer(nam="x")
    with pytest.raises(AttributeError, match='Outer has no "cuont" field; the closest are count'):
        Outer().cuont = 3
    with pytest.raises(AttributeError, match='no "flags" field'):
        _ = Outer().flags
    with pytest.raises(TypeError):
        Outer("x")


@pytest.mark.parametrize("field", ["inner", "many", "sizes"])
def test_messages_lists_and_tables_are_not_assigned(field):
    with pytest.raises(AttributeError, match=f'Assignment not allowed .* field "{field}"'):
        setattr(Outer(), field, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("count", 1.5),
        ("count", "1"),
        ("count", True),
        ("flag", "yes"),
        ("name", 3),
        ("inner", 3),
        ("sizes", {"a": "b"}),
    ],
)
def test_values_of_other_types_are_errors(field, value):
    with pytest.raises(TypeError, match=rf"Outer\.{field} must be an? "):
        Outer(**{field: value})
