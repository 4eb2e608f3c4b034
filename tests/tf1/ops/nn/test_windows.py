"""Arguments and sizes of sliding windows."""

import pytest

from dynrnn.tf1.ops.nn import windows


@pytest.mark.parametrize("value", [2, [2], [2, 2], [1, 2, 2, 1]], ids=str)
def test_all_forms_of_a_size_are_one(value: object):
    assert windows.per_axis(value, 2, True, "strides") == (2, 2)


def test_the_layout_tells_which_items_are_spatial():
    assert windows.per_axis([1, 2, 3, 1], 2, True, "strides") == (2, 3)
    assert windows.per_axis([1, 1, 2, 3], 2, False, "strides") == (2, 3)


@pytest.mark.parametrize("value", [0, [1, 2, 3], [2, 1, 1, 1], []], ids=str)
def test_other_forms_of_a_size_are_refused(value: object):
    with pytest.raises(ValueError, match="strides"):
        windows.per_axis(value, 2, True, "strides")


@pytest.mark.parametrize("value", ["full", 3, [[0, 0]] * 3, [[1, 0], [0, 0], [0, 0], [0, 0]]], ids=str)
def test_other_forms_of_padding_are_refused(value: object):
    with pytest.raises(ValueError, match="padding"):
        windows.as_padding(value, True, 2)


def test_the_odd_margin_comes_after():
    assert windows.margins((4, 5), (2, 3), (1, 2), (1, 1), "SAME") == [(0, 1), (1, 1)]


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
def test_margins_give_the_promised_number_of_steps(size: int, window: int, stride: int, dilation: int):
    (pair,) = windows.margins((size,), (window,), (stride,), (dilation,), "SAME")
    assert windows.steps(size, window, stride, dilation, pair) == windows.steps(size, window, stride, dilation, "SAME")


@pytest.mark.parametrize("layout", ["NHWC", "NCHW", None])
def test_layouts_of_images(layout: str | None):
    assert windows.channels_last(layout, 2) is (layout != "NCHW")


def test_an_unknown_layout_is_refused():
    with pytest.raises(ValueError, match="data_format must be one of NHWC, NCHW, got 'NWC'"):
        windows.channels_last("NWC", 2)
