"""The peak of a process's memory during one call, as the kernel counts resident pages. Linux only."""

from __future__ import annotations

import ctypes
import gc
import re
from collections.abc import Callable


def peak_of(call: Callable[[], object]) -> int:
    """Return by how many bytes the resident memory grew at most while `call` ran, over what was there before.

    Everything counts: tensors, scratch memory of libraries and our own. The call must be the first of its size in its
    process, or memory kept by an allocator would hide what it takes.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak begins anew at what is resident now
    before = _status("VmRSS")
    result = call()
    peak = _status("VmHWM")
    del result
    return max(0, peak - before)


def _status(field: str) -> int:
    with open("/proc/self/status") as file:
        found = re.search(rf"^{field}:\s+(\d+) kB$", file.read(), re.MULTILINE)
    if found is None:
        raise OSError(f"/proc/self/status: expected a line of {field}, found none")
    return int(found[1]) * 1024
