"""`tf.gfile.GFile`: a local file, opened when it is first read or written.

What there is beside a file's content (folders, names, sizes) is in `files`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, Any

from ... import errors
from ..export import export
from .file_errors import as_tf_errors, path_text

_MODES = ("r", "w", "a", "r+", "w+", "a+")


@export("gfile.GFile", "gfile.Open", "io.gfile.GFile")
class GFile:
    r"""A file: text in UTF-8, or bytes where `mode` has a "b".

    name: the file's path. mode: "r", "w", "a", "r+", "w+" or "a+", with or without "b".

    Nothing happens to the file before it is first read from, written to or closed; after closing, the next use opens it
    anew. Sizes and positions count bytes. `readline` makes a line that ends in "\r\n" end in "\n", `read` does not.

    Raises:
        tf.errors.InvalidArgumentError: an unknown mode. tf.errors.NotFoundError: no such file (reading), no such folder
            (writing). tf.errors.PermissionDeniedError: reading from a file that is open for writing, or the reverse.

    Example:
        >>> import os, tempfile
        >>> import dynrnn.tf1 as tf
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with tf.gfile.GFile(os.path.join(folder, "vocabulary.txt"), "w") as file:
        ...         file.write("one\ntwo\n")
        ...     [line for line in tf.gfile.GFile(os.path.join(folder, "vocabulary.txt"))]
        ['one\n', 'two\n']
    """

    def __init__(self, name: Any, mode: str = "r"):
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise errors.InvalidArgumentError(None, None, f"mode is not {' or '.join(map(repr, _MODES))}: got {mode!r}")
        self.__name = name
        self.__mode = mode
        self._path = path_text(name)
        self._binary = "b" in mode
        self._plain = plain
        self._closed = False
        self._file: IO[bytes] | None = None

    @property
    def name(self) -> Any:
        return self.__name

    @property
    def mode(self) -> str:
        return self.__mode

    def _open(self) -> Any:
        if self._file is None:
            self._file = open(self._path, self._plain + "b")  # noqa: SIM115  (closed by close)
        return self._file

    def _reading(self) -> Any:
        if self._plain in ("w", "a"):
            raise errors.PermissionDeniedError(
                None, None, f"File isn't open for reading: {self._path} has mode {self.__mode!r}"
            )
        return self._open()

    def _decoded(self, data: bytes) -> Any:
        return data if self._binary else data.decode()

    # Reading

    def read(self, n: int = -1) -> Any:
        """Read `n` bytes, or all that is left; UnicodeDecodeError where that cuts a character."""
        with as_tf_errors(self._path):
            return self._decoded(self._reading().read(-1 if n is None else n))

    def readline(self) -> Any:
        """Read the next line, which ends in a plain newline, or "" at the file's end."""
        with as_tf_errors(self._path):
            line = self._reading().readline()
        return self._decoded(line[:-2] + b"\n" if line.endswith(b"\r\n") else line)

    def readlines(self) -> list[Any]:
        """Read all lines that are left."""
        return list(self)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    # Writing

    def write(self, file_content: Any) -> None:
        """Append text (or bytes) to the file."""
        if not isinstance(file_content, (str, bytes)):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        if self._plain == "r":
            raise errors.PermissionDeniedError(
                None, None, f"File isn't open for writing: {self._path} has mode {self.__mode!r}"
            )
        with as_tf_errors(self._path):
            self._open().write(file_content.encode() if isinstance(file_content, str) else file_content)

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        if self._file is not None:
            with as_tf_errors(self._path):
                self._file.flush()

    def close(self) -> None:
        """Close the file. A file for writing is there from now on, also if nothing was written."""
        with as_tf_errors(self._path):
            if self._plain[0] in "wa" and not self._closed:  # a second time would empty it
                self._open()
            if self._file is not None:
                self._file.close()
                self._file = None
        self._closed = True

    # Positions

    def seek(self, offset: int | None = None, whence: int = os.SEEK_SET, position: int | None = None) -> None:
        """Go to a position in bytes: from the start, or with `whence` 1 or 2 from where we are or from the end.

        position: the older name of `offset`.
        """
        where = position if offset is None else offset
        if where is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (os.SEEK_SET, os.SEEK_CUR, os.SEEK_END):
            raise errors.InvalidArgumentError(
                None, None, f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        with as_tf_errors(self._path):
            self._reading().seek(where, whence)

    def tell(self) -> int:
        """The current position in bytes."""
        with as_tf_errors(self._path):
            return self._open().tell()

    def seekable(self) -> bool:
        return True

    def size(self) -> int:
        """The file's size in bytes, as the file system sees it."""
        with as_tf_errors(self._path):
            return os.stat(self._path).st_size

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        file = getattr(self, "_file", None)  # None also where the constructor raised
        if file is not None:
            file.close()


@export("gfile.FastGFile")
class FastGFile(GFile):
    """The same as GFile."""
