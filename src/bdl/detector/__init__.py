"""The detector: fitting, applying, and keeping a model in one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.selection import Selection

if TYPE_CHECKING:
    from bdl.detector.estimator import Detector
    from bdl.detector.exported import ExportedDetector

__all__ = ["Detector", "DetectorSettings", "Selection", "load"]


def load(path: str | Path) -> Detector | ExportedDetector:
    """Read a detector from its file: a model file, or one of ``bdl export``, which needs no torch.

    Parameters
    ----------
    path
        The file; a name that ends with ``.onnx`` is that of an exported model.

    Examples
    --------
    >>> load("no-such.onnx")
    Traceback (most recent call last):
    bdl.errors.InputError: no-such.onnx: no such file
    """
    if Path(path).suffix == ".onnx":
        from bdl.detector.exported import ExportedDetector

        return ExportedDetector(path)
    from bdl.errors import require

    require("torch", "train")
    from bdl.detector.estimator import Detector

    return Detector.load(path)


def __getattr__(name: str) -> Any:
    # Torch takes seconds to import, and settings are validated without it.
    if name == "Detector":
        from bdl.detector.estimator import Detector

        return Detector
    raise AttributeError(f"module 'bdl.detector' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
