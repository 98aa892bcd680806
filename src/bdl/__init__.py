"""Event times from long recordings: ranked, timed detections and an honest score for them."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bdl.density import Density
from bdl.errors import BdlError, require
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.recording import Recording, RecordingInfo, Recordings

if TYPE_CHECKING:
    from bdl.detector import Detector

__version__ = version("bdl")

__all__ = [
    "BdlError",
    "Density",
    "Detector",
    "Events",
    "IntervalType",
    "Recording",
    "RecordingInfo",
    "Recordings",
]


def __getattr__(name: str) -> Any:
    # Reached on first use only, so that `import bdl` and scoring never import torch.
    if name == "Detector":
        require("torch", "train")
        return import_module("bdl.detector").Detector
    raise AttributeError(f"module 'bdl' has no attribute {name!r}")
