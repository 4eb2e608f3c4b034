"""`tf.gfile`: what there is in the local file system, made, moved, listed and removed.

The contents of files are in `file`. Paths are text, bytes or pathlib's; an operating system's error is raised as the
class of `tf.errors` that it stands for, with the path.
"""

from __future__ import annotations

import glob
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ... import errors
from ..export import export
from .file_errors import as_tf_errors, path_text


@export("gfile.Exists", "io.gfile.exists")
def exists(path: Any) -> bool:
    """Whether there is a file or folder at `path`.

    Example:
        >>> import dynrnn.tf1 as tf
        >>> tf.gfile.Exists("/no/such/file")
        False
    """
    return os.path.exists(path_text(path))


@export("gfile.IsDirectory", "io.gfile.isdir")
def is_directory(path: Any) -> bool:
    """Whether there is a folder at `path`."""
    return os.path.isdir(path_text(path))


@export("gfile.ListDirectory", "io.gfile.listdir")
def list_directory(path: Any) -> list[str]:
    """The names in a folder, sorted; tf.errors.NotFoundError where there is no folder."""
    path = path_text(path)
    if not os.path.isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path}")
    with as_tf_errors():
        return sorted(os.listdir(path))


@export("gfile.MakeDirs", "io.gfile.makedirs")
def make_dirs(path: Any) -> None:
    """Make a folder and those above it, where they are not there yet.

    Raises:
        tf.errors.FailedPreconditionError: a file stands in the way.
    """
    path = path_text(path)
    with as_tf_errors():
        try:
            os.makedirs(path, exist_ok=True)
        except FileExistsError as error:
            raise errors.FailedPreconditionError(None, None, f"{path} is not a directory") from error


@export("gfile.MkDir", "io.gfile.mkdir")
def make_dir(path: Any) -> None:
    """Make a folder in one that exists; one that is there already stays as it is."""
    path = path_text(path)
    with as_tf_errors():
        if not os.path.isdir(path):
            os.mkdir(path)


@export("gfile.Remove", "io.gfile.remove")
def remove(path: Any) -> None:
    """Remove a file."""
    with as_tf_errors():
        os.remove(path_text(path))


@export("gfile.DeleteRecursively", "io.gfile.rmtree")
def delete_recursively(path: Any) -> None:
    """Remove a folder with all that is in it, or a file."""
    path = path_text(path)
    with as_tf_errors():
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.remove(path)


@export("io.gfile.copy")
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file's content to another path; tf.errors.AlreadyExistsError where that exists, unless `overwrite`."""
    src, dst = _free(src, dst, overwrite)
    with as_tf_errors():
        shutil.copyfile(src, dst)


@export("gfile.Copy")
def copy_file(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """`tf.io.gfile.copy` under its older name."""
    copy(oldpath, newpath, overwrite)


@export("io.gfile.rename")
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Move a file or folder; tf.errors.AlreadyExistsError where the new path exists, unless `overwrite`."""
    src, dst = _free(src, dst, overwrite)
    with as_tf_errors():
        os.replace(src, dst)


@export("gfile.Rename")
def rename_file(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """`tf.io.gfile.rename` under its older name."""
    rename(oldname, newname, overwrite)


def _free(source: Any, target: Any, overwrite: bool) -> tuple[str, str]:
    source, target = path_text(source), path_text(target)
    if not overwrite and os.path.exists(source) and os.path.exists(target):
        raise errors.AlreadyExistsError(
            None, None, f"file already exists: {target} (pass overwrite=True to replace it)"
        )
    return source, target


@export("gfile.Glob", "io.gfile.glob")
def match(pattern: Any) -> list[str]:
    """The paths that a pattern (or any of a list of patterns) matches: `*`, `?` and `[...]`, none of them across a `/`.

    Names that begin with a dot match, too. Paths are sorted.
    """
    patterns = list(pattern) if isinstance(pattern, (list, tuple)) else [pattern]
    return [path for one in patterns for path in sorted(glob.glob(path_text(one), include_hidden=True))]


class FileStatistics(NamedTuple):
    """Of a file: its length in bytes, when it was last changed (nanoseconds since 1970), whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


@export("gfile.Stat", "io.gfile.stat")
def statistics(path: Any) -> FileStatistics:
    """Return the length, time and kind of a file or folder."""
    with as_tf_errors():
        found = os.stat(path_text(path))
    return FileStatistics(found.st_size, found.st_mtime_ns, stat.S_ISDIR(found.st_mode))


@export("gfile.Walk")
def walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """For a folder and each below it: its path, the names of its folders, those of its files; nothing if `top` is none.

    in_order: a folder before what is in it; False: after it.
    """
    return walk_folders(top, in_order)


@export("io.gfile.walk")
def walk_folders(
    top: Any, topdown: bool = True, onerror: Callable[[errors.OpError], Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """`tf.gfile.Walk`, with a function that is called with the error where a folder cannot be listed."""

    def report(error: OSError) -> None:
        if onerror is None:
            return
        try:
            with as_tf_errors():
                raise error
        except errors.OpError as tf_error:
            onerror(tf_error)

    for folder, folders, names in os.walk(path_text(top), topdown, report):
        folders.sort()
        yield folder, folders, sorted(names)


@export("io.gfile.join")
def join(path: Any, *paths: Any) -> str:
    """Join the parts of a path."""
    return os.path.join(path_text(path), *map(path_text, paths))
