"""Settings of numerical libraries that count only if they are made before torch is imported.

*Waiting threads sleep.* OpenMP, which torch computes with, lets threads without work spin for a
while. On a machine whose cores are busy with other processes, the spinning threads take the time of
those that work, and small training steps take ten times as long. To keep the policy of the system,
set one of the variables yourself, as in ``OMP_WAIT_POLICY=active``.

*Products do not depend on the threads.* MKL, which torch leaves products within attention to, may
round differently for another number of threads or another alignment of memory. ``MKL_CBWR`` asks it
for the same bits; set it yourself to choose otherwise.

Importing `bdl` makes these settings, for the process and its children.
"""

from __future__ import annotations

import os
import sys

WAITING = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
# Any of these says that the user has chosen how threads wait.
CHOICES = ("OMP_WAIT_POLICY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT")
SAME_BITS = ("MKL_CBWR", "AUTO,STRICT")


def set_up_libraries() -> None:
    """Make the settings, unless it is too late or the user has chosen already."""
    if "torch" in sys.modules:
        return
    if not any(name in os.environ for name in CHOICES):
        os.environ.update(WAITING)
    os.environ.setdefault(*SAME_BITS)
