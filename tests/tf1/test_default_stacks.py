"""Leaving default graphs and sessions in another order than they were entered."""

import gc

import pytest

import dynrnn.tf1 as tf


@pytest.mark.parametrize("kind", [tf.Graph, tf.Session])
def test_leaving_in_the_wrong_order_is_an_error_and_leaves_nothing(kind, fresh_graph):
    first, second = kind().as_default(), kind().as_default()
    outer = first.__enter__()
    inner = second.__enter__()
    with pytest.raises(AssertionError, match=f"Nesting violated for default stack of .*{kind.__name__}"):
        first.__exit__(None, None, None)
    assert (tf.get_default_graph() if kind is tf.Graph else tf.get_default_session()) is inner is not outer
    second.__exit__(None, None, None)
    assert tf.get_default_graph() is fresh_graph
    assert tf.get_default_session() is None


def test_an_error_inside_is_what_comes_out():
    with pytest.raises(KeyError), tf.Graph().as_default(), tf.Session():
        raise KeyError("k")
    assert tf.get_default_session() is None


def test_a_context_that_is_dropped_is_left(fresh_graph):
    tf.Graph().as_default().__enter__()
    gc.collect()
    assert tf.get_default_graph() is fresh_graph


def test_interactive_sessions_may_end_in_any_order():
    graph = tf.Graph()
    first, second = tf.InteractiveSession(), tf.InteractiveSession(graph=graph)
    assert tf.get_default_session() is second
    assert tf.get_default_graph() is graph
    first.close()
    assert tf.get_default_session() is second
    second.close()
    second.close()
    assert tf.get_default_session() is None
    assert tf.get_default_graph() is not graph
