"""`tf.test.TestCase`: a test whose graph is its own, with sessions; and `tf.test.main`, which runs a file's tests."""

from __future__ import annotations

import atexit
import functools
import random
import re
import shutil
import sys
import tempfile
import threading
import unittest
import unittest.mock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from ... import errors
from ..config import ConfigProto
from ..export import export
from ..graph import Graph, default_sessions, reset_default_graph, set_random_seed
from ..program.flags import FLAGS
from ..session import Session
from .assertions import ArrayAssertions

SEED = 87654321

export("test.mock")(unittest.mock)


@export("test.TestCase")
class TestCase(ArrayAssertions):
    """A test of graphs: each starts with an empty default graph, and Python's, numpy's and the graph's seed 87654321.

    Assertions take arrays, nests of numbers and tensors, whose values they evaluate in the test's session.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> class SquareTest(tf.test.TestCase):
        ...     def test_square(self):
        ...         with self.cached_session():
        ...             self.assertAllClose(tf.square([1.0, 2.0]).eval(), [1.0, 4.0])
        >>> SquareTest("test_square").run().wasSuccessful()
        True
    """

    def __init__(self, methodName: str = "runTest"):  # noqa: N803  (unittest's name)
        super().__init__(methodName)
        self._cached: Session | None = None
        self._cached_with: tuple[Any, ...] = ()
        self._folder: str | None = None
        self._threads: list[CheckedThread] = []

    def setUp(self) -> None:
        super().setUp()
        self._forget_session()
        random.seed(SEED)
        np.random.seed(SEED)
        try:
            reset_default_graph()
        except AssertionError:  # the tests themselves run inside `with graph.as_default()`
            self.enterContext(Graph().as_default())
        set_random_seed(SEED)

    def tearDown(self) -> None:
        for thread in self._threads:
            if not thread.joined:
                self.fail(f"checkedThread {thread} was not joined")
        self._forget_session()
        super().tearDown()

    def _forget_session(self) -> None:
        self._threads = []
        if self._cached is not None:
            self._cached.close()
            self._cached = None

    def get_temp_dir(self) -> str:
        """The path of a folder of this test, which is removed when the process ends."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(dir=get_temp_dir())
        return self._folder

    # Sessions

    @contextmanager
    def session(
        self,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """A new session, which and whose graph are the defaults inside, and which is closed at the end.

        graph: the graph to run (default: the default graph). use_gpu: allow for a GPU, of which there is none.

        Raises:
            tf.errors.InvalidArgumentError: force_gpu, for graphs run on the CPU.
        """
        _refuse_gpu(force_gpu)
        with Session(graph=graph, config=config) as session:
            yield session

    @contextmanager
    def cached_session(
        self,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """The test's one session, made at the first call, which and whose graph are the defaults inside.

        Raises:
            ValueError: the graph or the configuration differs from the first call's.
        """
        _refuse_gpu(force_gpu)
        if self._cached is None:
            self._cached, self._cached_with = Session(graph=graph, config=config), (graph, config)
        for name, first, now in zip(("graph", "config"), self._cached_with, (graph, config), strict=True):
            if first is not now:
                raise ValueError(
                    f"The {name} used to get the cached session is different than the one that was used to create the "
                    "session. Maybe create a new session with self.session()"
                )
        with self._cached.graph.as_default(), self._cached.as_default():
            yield self._cached

    def __getattr__(self, name: str) -> Any:
        # Not an attribute of the class, where unittest would take it for a test.
        if name == "test_session":
            return self._either_session
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _either_session(
        self,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> AbstractContextManager[Session]:
        """`test_session`, the older name of both: `cached_session` without a graph, `session` with one."""
        session = self.cached_session if graph is None else self.session
        return session(graph=graph, config=config, use_gpu=use_gpu, force_gpu=force_gpu)

    def evaluate(self, tensors: Any) -> Any:
        """The values of a nest of tensors, in the default session or else the test's."""
        sessions = default_sessions()
        if sessions:
            return sessions[-1].run(tensors)
        with self.cached_session() as session:
            return session.run(tensors)

    # Errors

    @contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: str | Callable[[Any], bool]
    ) -> Iterator[None]:
        """What runs inside raises an error of a type, which a function accepts or in whose text a pattern is found."""
        with self.assertRaises(exception_type) as caught:
            yield
        error = caught.exception
        if callable(expected_err_re_or_predicate):
            matches = expected_err_re_or_predicate(error)
        else:
            text = f"{error.message}\n{error}" if isinstance(error, errors.OpError) else str(error)
            matches = re.search(expected_err_re_or_predicate, text) is not None
        if not matches:
            raise self.failureException(
                f"the error does not match {expected_err_re_or_predicate!r}: {type(error).__name__}: {error}"
            )

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> AbstractContextManager[None]:
        """The same for any error of a run, a `tf.errors.OpError`."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    # Threads

    def checkedThread(
        self, target: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> CheckedThread:
        """A thread whose failure is the test's: `join` fails where the target raised. It has to be joined."""
        thread = CheckedThread(self, functools.partial(target, *args, **(kwargs or {})))
        self._threads.append(thread)
        return thread


class CheckedThread(threading.Thread):
    """A thread that keeps what its target raises for the test that joins it."""

    def __init__(self, case: TestCase, target: Callable[[], Any]):
        super().__init__()
        self._case = case
        self._function = target
        self._error: BaseException | None = None
        self.joined = False

    def run(self) -> None:
        try:
            self._function()
        except BaseException as error:  # whatever it is, the test is to say it
            self._error = error

    def join(self, timeout: float | None = None) -> None:
        super().join(timeout)
        self.joined = True
        if self._error is not None:
            raise self._case.failureException(f"Error in checkedThread: {self._error}") from self._error

    check_join = join


def _refuse_gpu(force_gpu: bool) -> None:
    if force_gpu:
        raise errors.InvalidArgumentError(None, None, "force_gpu: graphs run on the CPU, there is no GPU to force")


@export("test.get_temp_dir")
@functools.cache
def get_temp_dir() -> str:
    """The path of a folder for the tests of this process, which is removed when it ends."""
    folder = tempfile.mkdtemp(prefix="dynrnn_test_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@export("test.main")
def main(argv: Sequence[str] | None = None) -> None:
    """Run the tests of the program's file and exit with whether they failed; the program's flags are parsed first.

    argv: the command line (default: `sys.argv`); what the flags leave of it is unittest's.
    """
    unittest.main(argv=FLAGS(sys.argv if argv is None else argv, known_only=True))
