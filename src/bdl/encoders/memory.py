"""Buffers that stay: large allocations are reused instead of going back to the system.

glibc hands every large block back when it is freed, so each training step asks for its buffers
anew and the system clears every page of them again, which can take half of the time. Two settings
of the allocator stop that. They are made when training or inference begins, never on import; on
other systems nothing happens, and there is no environment variable to know. The price: what the
process used at its largest it keeps until it ends.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache

# Numbers of <malloc.h>.
TRIM_THRESHOLD = -1
MMAP_THRESHOLD = -3
LARGEST = 2**31 - 1  # mallopt takes an int


@cache
def keep_buffers() -> bool:
    """Let the process keep the large buffers it frees; True where the allocator took it.

    Calling it again costs nothing.

    >>> keep_buffers() == keep_buffers()
    True
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    # glibc refuses a mapping threshold above half a heap's size (32 MiB): then its largest one
    # applies, and blocks beyond it are still mapped. MMAP_MAX of zero keeps all on the heap.
    done = [bool(mallopt(TRIM_THRESHOLD, LARGEST)), bool(mallopt(-4, 0))]
    return all(done)
