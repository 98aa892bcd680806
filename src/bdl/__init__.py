"""Event times from long recordings: ranked, timed detections and an honest score for them."""

from __future__ import annotations

from importlib.metadata import version

from bdl.density import Density
from bdl.errors import BdlError
from bdl.events import Events, IntervalType
from bdl.recording import Recording, RecordingInfo, Recordings

__version__ = version("bdl")

__all__ = [
    "BdlError",
    "Density",
    "Events",
    "IntervalType",
    "Recording",
    "RecordingInfo",
    "Recordings",
]
