"""A graph's collections beside what `test_graph.py` says."""

import pytest

import dynrnn.tf1 as tf


def test_a_finalized_graphs_collections_stay(fresh_graph):
    tf.add_to_collection("k", 1)
    fresh_graph.finalize()
    for call in (
        lambda: tf.add_to_collection("k", 2),
        lambda: tf.add_to_collections(["k", "m"], 2),
        lambda: fresh_graph.clear_collection("k"),
    ):
        with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
            call()
    assert tf.get_collection("k") == [1]


def test_a_scope_is_a_pattern_for_the_start_of_names(fresh_graph):
    with tf.name_scope("a"):
        x = tf.constant(1.0, name="x")
    for item in (1, x):
        tf.add_to_collection("k", item)
    found = {scope: tf.get_collection("k", scope) for scope in (None, "", "a", "x", ".*x")}
    assert found == {None: [1, x], "": [x], "a": [x], "x": [], ".*x": [x]}


def test_a_failed_call_takes_back_its_own_item_only(fresh_graph):
    with pytest.raises(KeyError), fresh_graph.atomic():
        tf.add_to_collection("k", 1)
        fresh_graph.get_collection_ref("k").append(2)  # as another thread does
        raise KeyError("k")
    assert tf.get_collection("k") == [2]
