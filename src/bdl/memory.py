"""The memory that is available to this process."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

UNKNOWN = 1 << 62


def available_memory() -> int:
    """Bytes that this process may still use, or `UNKNOWN`.

    The least of the available memory of the machine and the limits of the control group and of the
    process. On systems without this information it is the physical memory.
    """
    limits = [UNKNOWN]
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        limits += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable")]
    with suppress(OSError, ValueError):  # the limit may be "max"
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        limits.append(limit - int((group / "memory.current").read_text()))
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        used = {
            line.split(":")[0]: int(line.split()[1]) << 10
            for line in Path("/proc/self/status").read_text().splitlines()
            if line.startswith(("VmData", "VmSize"))
        }
        for kind, name in ((resource.RLIMIT_DATA, "VmData"), (resource.RLIMIT_AS, "VmSize")):
            limit = resource.getrlimit(kind)[0]
            if limit != resource.RLIM_INFINITY:
                limits.append(limit - used[name])
    if len(limits) == 1 and hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return max(0, min(limits))
