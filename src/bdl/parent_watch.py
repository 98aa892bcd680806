"""Worker processes that end with the process that started them.

A runner that is killed cannot tell its workers to stop. On Linux the kernel kills them with it.
Elsewhere, and where the thread that started them has ended before, they look once a second whether
the runner is still their parent, and end if it is not: a look that waits while a function is
compiled. What they have written half is then as if never begun.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

INTERVAL = 1.0  # seconds
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux


def end_with(parent: int) -> None:
    """End this process when a process is no longer its parent.

    Parameters
    ----------
    parent
        Number of the process that started this one. If it has ended already, so does this one.
    """

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(INTERVAL)
        os._exit(1)

    threading.Thread(target=watch, name="bdl parent watch", daemon=True).start()
