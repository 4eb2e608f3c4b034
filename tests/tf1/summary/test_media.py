"""Pixels are those of the pictures that TensorFlow's `ImageSummary` made; its PNG files are packed in another way."""

import io

import numpy as np
import pytest
from PIL import Image

import dynrnn.tf1 as tf
from dynrnn.tf1.summary.media import png, wav

ROW = np.array([0.0, 0.5, 1, 2.5, 7], np.float32).reshape(1, 1, 5, 1)
COLORS = np.array([[0.0, 0.5, np.nan, 1], [1, 2.5, 7, 2]], np.float32)


def pictures(values, **arguments):
    with tf.Graph().as_default(), tf.Session() as sess:
        text = sess.run(tf.summary.image("i", tf.constant(values), **arguments))
    return tf.Summary.FromString(text).value


def pixels(picture):
    return np.array(Image.open(io.BytesIO(picture.image.encoded_image_string))).tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (ROW, [0, 18, 36, 91, 254]),
        (ROW.astype(np.float64), [0, 18, 36, 91, 254]),
        (ROW.astype(np.float16), [0, 18, 36, 91, 255]),
        (ROW - 1, [106, 117, 128, 159, 255]),
        (-ROW, [128, 118, 109, 82, 1]),
        (ROW * 0, [0, 0, 0, 0, 0]),
        (ROW * 1e-8, [0, 0, 0, 0, 0]),
        (ROW * -1e-8, [128, 128, 128, 128, 128]),
        (np.where(ROW == 1, np.nan, ROW).astype(np.float32), [0, 18, 255, 91, 254]),
        (np.where(ROW == 1, np.inf, ROW - 1).astype(np.float32), [106, 117, 255, 159, 255]),
        (ROW * np.nan, [255, 255, 255, 255, 255]),
    ],
)
def test_gray_pictures_are_scaled_as_tensorflow_scales_them(values, expected):
    (picture,) = pictures(values)
    assert pixels(picture) == [expected]
    assert (picture.image.height, picture.image.width, picture.image.colorspace) == (1, 5, 1)


def test_a_pixel_that_is_not_finite_is_red():
    assert pixels(pictures(COLORS[:, :3].reshape(1, 1, 2, 3))[0]) == [[[255, 0, 0], [36, 91, 254]]]
    assert pixels(pictures(COLORS.reshape(1, 1, 2, 4))[0]) == [[[255, 0, 0, 255], [36, 91, 254, 72]]]


def test_bytes_are_shown_as_they_are():
    (picture,) = pictures(np.arange(8, dtype=np.uint8).reshape(1, 2, 1, 4))
    assert pixels(picture) == [[[0, 1, 2, 3]], [[4, 5, 6, 7]]]


def test_each_picture_is_scaled_on_its_own_and_has_a_tag_of_its_own():
    batch = np.concatenate([ROW, ROW * 3, ROW - 2, ROW])
    shown = pictures(batch)
    assert [picture.tag for picture in shown] == ["i/image/0", "i/image/1", "i/image/2"]
    assert [pixels(picture)[0] for picture in shown] == [
        [0, 18, 36, 91, 254],
        [0, 18, 36, 91, 255],
        [77, 89, 102, 140, 255],
    ]
    assert [picture.tag for picture in pictures(batch, max_outputs=1)] == ["i/image"]
    assert len(pictures(batch[:1], max_outputs=5)) == 1 and not pictures(batch[:0])


def test_a_png_can_be_read():
    image = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    assert np.array_equal(np.array(Image.open(io.BytesIO(png(image)))), image)


def test_samples_are_rounded_away_from_zero_and_cut_off():
    samples = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 40000, -40000, 0.49, 0.51]) / 32768
    found = np.frombuffer(wav(samples[:, None], 8000.5)[44:], "<i2")
    assert found.tolist() == [1, 2, 3, -1, -2, -3, 32767, -32768, 0, 1]
