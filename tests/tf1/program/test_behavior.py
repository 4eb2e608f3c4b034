"""Switches between the behaviours of TensorFlow 1 and 2."""

import pytest

import dynrnn.tf1 as tf
from dynrnn.tf1.program.behavior import SWITCHES


@pytest.mark.parametrize("name", SWITCHES)
def test_switching_to_version_1_changes_nothing(name):
    getattr(tf, f"disable_{name}")()
    assert not tf.executing_eagerly()
    with tf.Session() as session:
        assert session.run(tf.constant(2)) == 2


@pytest.mark.parametrize("name", SWITCHES)
def test_switching_to_version_2_is_refused(name):
    with pytest.raises(RuntimeError, match=f"tf.enable_{name}: there is no .* Build a graph"):
        getattr(tf, f"enable_{name}")()


def test_a_program_for_compat_v1_starts():
    tf.compat.v1.disable_v2_behavior()
    assert tf.compat.v1.placeholder is tf.placeholder
