"""The operating point: the threshold above which detections are reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from pydantic import Field

from bdl.config import Value
from bdl.decoding import Decoder
from bdl.detector.operating_curve import OperatingCurve
from bdl.errors import ConfigError
from bdl.intervals import IntervalType
from bdl.rescoring import ScoreCalibration


class OperatingPoint(Value):
    """How detections are selected where a yes or no is needed instead of a ranking.

    Parameters
    ----------
    decoder
        Decoder with the threshold of the best mean F1 on held-out recordings.
    calibration
        Calibration of its scores; none if they are those of the decoder.
    rescored
        Whether scores are those of the second stage, with the calibration of the model.
    threshold
        Least score of a detection.
    f1
        Its mean F1 over tolerances and types on held-out recordings.
    curve
        Rates at other thresholds there; None if there was no detection.
    """

    decoder: Decoder
    calibration: ScoreCalibration | None = None
    rescored: bool = False
    threshold: float = Field(ge=0)
    f1: float
    curve: OperatingCurve | None = None

    def within_false_alarms(self, per_day: float, intervals: Sequence[IntervalType]) -> Self:
        """Return the most sensitive point with at most this many false alarms per day."""
        return self._at(self._known().within_false_alarms(per_day, intervals))

    def reaching_sensitivity(self, share: float) -> Self:
        """Return the strictest point that found at least this share of the events."""
        return self._at(self._known().reaching_sensitivity(share))

    def _at(self, threshold: float) -> Self:
        curve = self._known()
        return self.replace(threshold=threshold, f1=float(curve.f1()[curve.place(threshold)]))

    def _known(self) -> OperatingCurve:
        if self.curve is None:
            raise ConfigError(
                "the model has no record of other thresholds: there was no detection in its "
                "held-out recordings, or an older version wrote it"
            )
        return self.curve
