import dynrnn.tf1 as tf


def test_compat_v1_is_the_face_itself():
    assert tf.compat.v1.logging is tf.logging and tf.compat.v1.placeholder is tf.placeholder
