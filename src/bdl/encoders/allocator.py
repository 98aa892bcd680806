"""Settings of the memory allocator: large buffers are reused instead of returned to the system.

glibc returns every large block to the system when it is freed. Each training step then requests its
buffers again, and the system clears every page of them, which can take half of the time. Two
settings of the allocator prevent that. They are applied when training or inference begins, never on
import; on systems without glibc nothing happens. The process then keeps the memory of its peak, and
up to twice as much, since glibc before 2.38 cannot put an aligned block back into a hole of exactly
its size. After a few steps it does not grow further.
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
    """Let the process keep the large buffers that it frees; True if the allocator accepted it.

    Calling it again costs nothing.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    # Blocks beyond 32 MiB are mapped and unmapped for any mapping threshold: glibc takes no
    # larger one. No mappings at all keeps them on the heap, and the heap is never cut.
    return bool(mallopt(TRIM_THRESHOLD, LARGEST)) and bool(mallopt(MMAP_MAX, 0))
