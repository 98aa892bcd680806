"""Threads that wait for work sleep instead of spinning.

OpenMP, which torch computes with, lets threads without work spin for a while. On a machine whose
cores are busy with other processes, the spinning threads take the time of those that work, and
small training steps take ten times as long. The setting counts only if it is made before torch is
imported, so importing `bdl` makes it. To keep the policy of the system, set one of the variables
yourself, as in ``OMP_WAIT_POLICY=active``.
"""

from __future__ import annotations

import os
import sys

POLICY = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
# Any of these says that the user has chosen.
CHOICES = ("OMP_WAIT_POLICY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT")


def let_waiting_threads_sleep() -> None:
    """Set the policy for this process and its children, unless it is too late or chosen already."""
    if "torch" not in sys.modules and not any(name in os.environ for name in CHOICES):
        os.environ.update(POLICY)
