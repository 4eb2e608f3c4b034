"""What a result was measured on: the processor, the system, and how many of its processors could be used."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Any

from benchmarks.cpu_time import processors


def facts() -> dict[str, Any]:
    """Facts of the machine, ready for JSON.

    Example:
        >>> sorted(facts())
        ['caches', 'load', 'memory', 'processor', 'processors', 'system']
    """
    return {
        "processor": _processor(),
        "processors": processors(),
        "caches": _caches(),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load": os.getloadavg()[0],
    }


def _processor() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def _caches() -> dict[str, str]:
    """Sizes of the data caches of the first processor, as the kernel writes them."""
    caches = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        if (folder / "type").read_text().strip() != "Instruction":
            caches["L" + (folder / "level").read_text().strip()] = (folder / "size").read_text().strip()
    return caches
