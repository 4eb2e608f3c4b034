"""Errors of the operating system, as the classes of `tf.errors` that programs catch."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ... import errors

_CLASSES: dict[int | None, type[Any]] = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EBUSY: errors.UnavailableError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENAMETOOLONG: errors.InvalidArgumentError,
}


@contextmanager
def as_tf_errors(path: str | None = None) -> Iterator[None]:
    """Raise the `tf.errors` class of an OSError, which names the file (`path` where the error itself does not)."""
    try:
        yield
    except OSError as error:
        file = error.filename if error.filename is not None else path
        name = "" if file is None else f"{os.fsdecode(file)}; "
        raise _CLASSES.get(error.errno, errors.UnknownError)(None, None, f"{name}{error.strerror or error}") from error


def path_text(path: Any) -> str:
    """A path as text; TypeError for what is neither text, bytes nor a path."""
    if isinstance(path, (str, bytes, os.PathLike)):
        return os.fsdecode(path)
    raise TypeError(f"Expected binary or unicode string, got {path!r}: a path is a str, bytes or a pathlib.Path")
