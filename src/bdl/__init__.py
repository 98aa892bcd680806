"""Detect events in long recordings: ranked, timed detections, and their score.

``dir(bdl)`` lists what most programs need. Everything is imported at its first use, so that
``import bdl`` takes no time and scoring never imports torch. The types these functions take and
return (`Recording`, `Recordings`, `Events`, `Density`, `IntervalType`, `BdlError`) can be imported
from here as well; all other names are in the packages of their topic, such as `bdl.encoders`.

Importing this package before torch sets environment variables that torch reads when it is imported,
for the process and its children, unless they are set already:

- ``OMP_WAIT_POLICY`` and ``KMP_BLOCKTIME``: *waiting threads sleep.* OpenMP, which torch computes
  with, lets threads without work spin for a while. On a machine whose cores are busy with other
  processes, the spinning threads take the time of those that work, and small training steps take
  ten times as long. To keep the policy of the system, set one of the variables yourself, as in
  ``OMP_WAIT_POLICY=active``.
- ``MKL_CBWR``: *products do not depend on the threads.* MKL, which torch leaves products within
  attention to, may round differently for another number of threads or another alignment of memory.
  The variable makes its results independent of both.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bdl.decoding import decode as decode
    from bdl.density import Density as Density
    from bdl.detector import Detector as Detector
    from bdl.detector import load as load
    from bdl.errors import BdlError as BdlError
    from bdl.evaluation import compare as compare
    from bdl.evaluation import score as score
    from bdl.events import Events as Events
    from bdl.formats import read_events as read_events
    from bdl.formats import read_recordings as read_recordings
    from bdl.formats import write_events as write_events
    from bdl.intervals import IntervalType as IntervalType
    from bdl.recording import Recording as Recording
    from bdl.recording import RecordingInfo as RecordingInfo
    from bdl.recording import Recordings as Recordings
    from bdl.workers import Workers as Workers

    __version__: str

_ACTIONS = {
    "Detector": "detector",
    "compare": "evaluation",
    "decode": "decoding",
    "load": "detector",
    "read_events": "formats",
    "read_recordings": "formats",
    "score": "evaluation",
    "write_events": "formats",
}
_TYPES = {
    "BdlError": "errors",
    "Density": "density",
    "Events": "events",
    "IntervalType": "intervals",
    "Recording": "recording",
    "RecordingInfo": "recording",
    "Recordings": "recording",
    "Workers": "workers",
}

__all__ = sorted({**_ACTIONS, **_TYPES})

# If one of these is set, the user has chosen how threads wait.
_WAITING = ("OMP_WAIT_POLICY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT")
if "torch" not in sys.modules:
    if not any(name in os.environ for name in _WAITING):
        os.environ.update(OMP_WAIT_POLICY="PASSIVE", KMP_BLOCKTIME="0")
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from bdl.installation import version

        return version()
    module = _ACTIONS.get(name) or _TYPES.get(name)
    if module is None:
        raise AttributeError(f"module 'bdl' has no attribute {name!r}")
    if name == "Detector":
        from bdl.errors import require

        require("torch", "train")
    value = getattr(import_module(f"bdl.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_ACTIONS)
