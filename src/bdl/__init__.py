"""Event times from long recordings: ranked, timed detections and an honest score for them."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from bdl.density import Density
from bdl.errors import BdlError
from bdl.events import Events, IntervalType
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
        from bdl.errors import require

        require("torch", "train")
        from bdl.detector import Detector

        return Detector
    raise AttributeError(f"module 'bdl' has no attribute {name!r}")
