"""Buffers that stay: large allocations are reused instead of going back to the system.

glibc hands every large block back when it is freed, so each training step asks for its buffers
anew and the system clears every page of them again, which can take half of the time. Two settings
of the allocator stop that. They are made when training or inference begins, never on import; on
other systems nothing happens, and there is no environment variable to know. The price: what the
process used at its largest it keeps until it ends, and that is up to twice as much, since glibc
before 2.38 cannot put an aligned block back into a hole of just its size; after a few steps it
grows no further.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache

# Numbers of <malloc.h>.
TRIM_THRESHOLD = -1
MMAP_MAX = -4
LARGEST = 2**31 - 1  # mallopt takes an int


@cache
def keep_buffers() -> bool:
    """Let the process keep the large buffers it frees; True where the allocator took it.

    Calling it again costs nothing.

    Examples
    --------
    >>> keep_buffers() == keep_buffers()
    True
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    # Blocks beyond 32 MiB are mapped and unmapped whatever the mapping threshold: glibc takes no
    # larger one. No mappings at all keeps them on the heap, and the heap is never cut.
    return bool(mallopt(TRIM_THRESHOLD, LARGEST)) and bool(mallopt(MMAP_MAX, 0))
