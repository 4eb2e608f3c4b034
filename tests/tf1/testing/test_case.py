import os
import random
import subprocess
import sys
import unittest

import numpy as np
import pytest

import dynrnn.tf1 as tf


@pytest.fixture
def case():
    """A test that has been set up."""
    case = tf.test.TestCase()
    case.setUp()
    yield case
    case.tearDown()
    case.doCleanups()


def outcome(body):
    """Run a function of the case as a test."""
    result = unittest.TestResult()
    type("Sample", (tf.test.TestCase,), {"test": body})("test").run(result)
    return result


def test_each_test_has_an_empty_seeded_graph():
    graphs, draws = [], []

    def body(self):
        graphs.append(tf.get_default_graph())
        assert graphs[-1].get_operations() == [] and graphs[-1].seed == 87654321
        draws.append((random.random(), np.random.rand()))
        tf.constant(1.0)

    assert outcome(body).wasSuccessful() and outcome(body).wasSuccessful()
    assert graphs[0] is not graphs[1] and draws[0] == draws[1]


def test_default_graph_is_the_outer_one_again_after_a_test(fresh_graph):
    outcome(lambda self: None)
    assert tf.get_default_graph() is fresh_graph


def test_session_has_the_default_graph_and_closes(case):
    with case.session() as sess:
        assert sess.graph is tf.get_default_graph() and tf.get_default_session() is sess
        assert tf.constant(3).eval() == 3
    with pytest.raises(RuntimeError, match="closed"):
        sess.run(tf.constant(3))
    graph = tf.Graph()
    with case.session(graph=graph, use_gpu=True):
        assert tf.get_default_graph() is graph


def test_cached_session_is_one_for_the_test(case):
    v = tf.Variable(3.0)
    with case.cached_session() as first:
        v.initializer.run()
    with case.test_session() as second:
        assert second is first and v.eval() == 3.0
    with case.test_session(graph=tf.Graph()) as other:
        assert other is not first
    for name, value in (("graph", tf.Graph()), ("config", tf.ConfigProto())):
        error = pytest.raises(ValueError, match=f"The {name} used to get the cached session is different")
        with error, case.cached_session(**{name: value}):
            pass


def test_gpu_that_must_be_there_is_an_error(case):
    with pytest.raises(tf.errors.InvalidArgumentError, match="force_gpu"), case.session(force_gpu=True):
        pass


def test_test_session_is_not_taken_for_a_test():
    assert unittest.TestLoader().getTestCaseNames(tf.test.TestCase) == []
    with pytest.raises(AttributeError, match="'TestCase' object has no attribute 'test_sessions'"):
        _ = tf.test.TestCase().test_sessions


def test_evaluate_takes_nests(case):
    assert case.evaluate([tf.constant(1), {"a": tf.constant(2)}]) == [1, {"a": 2}]
    with case.session() as sess:
        v = tf.Variable(3.0)
        sess.run(v.initializer)
        assert case.evaluate(v) == 3.0


def test_errors_of_runs_are_matched(case):
    missing = tf.placeholder("float", name="missing")
    with case.assertRaisesOpError("missing"):
        case.evaluate(missing)
    with case.assertRaisesWithPredicateMatch(ValueError, lambda error: "b" in str(error)):
        raise ValueError("abc")
    matches_z = case.assertRaisesWithPredicateMatch
    with pytest.raises(AssertionError, match="does not match 'z': ValueError: abc"), matches_z(ValueError, "z"):
        raise ValueError("abc")
    with pytest.raises(AssertionError, match="ValueError not raised"), matches_z(ValueError, "z"):
        pass
    with pytest.raises(TypeError), matches_z(ValueError, "z"):
        raise TypeError("z")


def test_what_a_thread_raises_fails_the_test(case):
    seen = []
    good = case.checkedThread(seen.append, args=(3,))
    good.start()
    good.join()
    assert seen == [3]
    bad = case.checkedThread(lambda: 1 / 0)
    bad.start()
    with pytest.raises(AssertionError, match="Error in checkedThread: division by zero"):
        bad.join()


def test_thread_that_is_not_joined_fails_the_test():
    def body(self):
        self.checkedThread(lambda: None).start()

    ((_, text),) = outcome(body).failures
    assert "was not joined" in text


def test_folders_of_tests_are_apart(case):
    folder = case.get_temp_dir()
    assert os.path.isdir(folder) and folder == case.get_temp_dir()
    assert os.path.dirname(folder) == tf.test.get_temp_dir()
    other = tf.test.TestCase()
    other.setUp()
    assert other.get_temp_dir() != folder
    other.doCleanups()


def test_mock_is_unittests():
    assert tf.test.mock is unittest.mock


def test_main_runs_the_tests_of_a_file(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import dynrnn.tf1 as tf\n"
        "tf.flags.DEFINE_integer('size', 1, '')\n"
        "class SizeTest(tf.test.TestCase):\n"
        "    def testSize(self):\n"
        "        with self.test_session():\n"
        "            self.assertAllEqual(tf.zeros([tf.flags.FLAGS.size]), [0.0, 0.0])\n"
        "    def test_wrong(self):\n"
        "        self.assertAllClose(tf.constant([1.0, 2.0]), [1.0, 3.0])\n"
        "tf.test.main()\n"
    )
    done = subprocess.run([sys.executable, path, "--size=2", "-v"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "testSize (__main__.SizeTest.testSize) ... ok" in done.stderr and "Ran 2 tests" in done.stderr
    assert "Not equal to tolerance rtol=1e-06, atol=1e-06:\n  [1]: 2.0 3.0" in done.stderr
