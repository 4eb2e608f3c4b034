"""`tf.resource_loader`: files that lie beside the module that asks for them."""

from __future__ import annotations

import os
import sys

from ..export import export


def _folder(depth: int) -> str:
    """The folder of the file that called the function that calls us (`depth` 1)."""
    return os.path.dirname(os.path.abspath(sys._getframe(depth + 1).f_code.co_filename))


@export("resource_loader.get_data_files_path")
def get_data_files_path() -> str:
    """The folder of the file that calls this."""
    return _folder(1)


@export("resource_loader.get_path_to_datafile")
def get_path_to_datafile(path: str) -> str:
    """The path of a file that is given relative to the folder of the file that calls this."""
    return os.path.join(_folder(1), path)


@export("resource_loader.load_resource")
def load_resource(path: str) -> bytes:
    """The bytes of a file given relative to the folder of the file that calls this; OSError where there is none."""
    with open(os.path.join(_folder(1), path), "rb") as file:
        return file.read()


@export("resource_loader.readahead_file_path")
def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """The path itself: files are read as the operating system reads them, whatever `readahead` says."""
    return path
