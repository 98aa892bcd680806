"""The detector: fitting, applying, and keeping a model in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bdl.detector.detector_settings import DetectorSettings

if TYPE_CHECKING:
    from bdl.detector.estimator import Detector

__all__ = ["Detector", "DetectorSettings"]


def __getattr__(name: str) -> Any:
    # Torch takes seconds to import, and settings are validated without it.
    if name == "Detector":
        from bdl.detector.estimator import Detector

        return Detector
    raise AttributeError(f"module 'bdl.detector' has no attribute {name!r}")
