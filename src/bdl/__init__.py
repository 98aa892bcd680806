"""Detect events in long recordings: ranked, timed detections, and their score.

``dir(bdl)`` lists what most programs need. Everything is imported at its first use, so that
``import bdl`` takes no time and scoring never imports torch. The types these functions take and
return (`Recording`, `Recordings`, `Events`, `Density`, `IntervalType`, `BdlError`) can be imported
from here as well; all other names are in the packages of their topic, such as `bdl.encoders`.

Importing this package before torch sets the environment variables ``OMP_WAIT_POLICY``,
``KMP_BLOCKTIME`` and ``MKL_CBWR``, unless they are set already: see `bdl.library_settings`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bdl.library_settings import set_up_libraries

if TYPE_CHECKING:
    from bdl.decoding import decode
    from bdl.density import Density
    from bdl.detector import Detector, load
    from bdl.errors import BdlError
    from bdl.evaluation import compare, score
    from bdl.events import Events
    from bdl.formats import read_events, read_recordings, write_events
    from bdl.intervals import IntervalType
    from bdl.recording import Recording, RecordingInfo, Recordings
    from bdl.workers import Workers

    __version__: str

__all__ = [
    "BdlError",
    "Density",
    "Detector",
    "Events",
    "IntervalType",
    "Recording",
    "RecordingInfo",
    "Recordings",
    "Workers",
    "compare",
    "decode",
    "load",
    "read_events",
    "read_recordings",
    "score",
    "write_events",
]

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

set_up_libraries()


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
    home = import_module(f"bdl.{module}")
    value = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_ACTIONS)
