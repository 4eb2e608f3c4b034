import dynrnn.tf1 as tf


def test_version_is_read_as_programs_read_it():
    major, minor = map(int, tf.__version__.split(".")[:2])
    assert (major, minor) == (1, 15)
    assert tf.__version__ == tf.VERSION == tf.version.VERSION
    assert tf.GIT_VERSION == tf.version.GIT_VERSION and tf.GRAPH_DEF_VERSION == tf.version.GRAPH_DEF_VERSION
