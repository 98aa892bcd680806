"""Detections in held-out recordings, and the calibration of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bdl.decoding import Decoder
from bdl.decoding.candidates import ByType, to_events
from bdl.density import Density
from bdl.detector.choices import HeldOut, best_threshold
from bdl.detector.operating_point import OperatingPoint
from bdl.evaluation import Matches
from bdl.rescoring import ScoreCalibration, hit_shares


@dataclass(frozen=True)
class HeldOutDetections:
    """Detections of one decoder in held-out recordings.

    Parameters
    ----------
    decoder
        The decoder.
    ids
        Ids of the recordings.
    candidates
        Detections of each recording by type, with the scores of the decoder.
    shares
        Share of the tolerances at which each detection hits an event, per recording; NaN in what
        is not scored.
    calibration
        Calibration of the scores; None without one.
    matches
        Matches of the detections, with calibrated scores if there is a calibration.
    """

    decoder: Decoder
    ids: list[str]
    candidates: list[ByType]
    shares: list[NDArray[np.float64]]
    calibration: ScoreCalibration | None
    matches: Matches

    @classmethod
    def of(
        cls, densities: Sequence[Density], decoder: Decoder, held: HeldOut, calibrated: bool
    ) -> HeldOutDetections:
        """Decode and match; with ``calibrated``, learn the calibration of the scores."""
        ids = [density.recording for density in densities]
        candidates = [decoder.detect(density, held.intervals) for density in densities]
        detected = [*zip(ids, candidates, strict=True)]
        matches = held.match(to_events(detected), ids)
        shares = hit_shares(matches, detected)
        if held.event_free == "ignore":  # recordings without events may not be annotated
            annotated = {*held.truth.recording}
            for id, share in zip(ids, shares, strict=True):
                if id not in annotated:
                    share[:] = np.nan
        calibration = ScoreCalibration.fit(candidates, shares) if calibrated else None
        if calibration is not None:
            scored = ((id, calibration.apply(by_type)) for id, by_type in detected)
            matches = held.match(to_events(scored), ids)
        return cls(decoder, ids, candidates, shares, calibration, matches)

    def operating_point(self) -> OperatingPoint:
        """Return the threshold with the best F1."""
        threshold, f1 = best_threshold(self.matches)
        return OperatingPoint(
            decoder=self.decoder, calibration=self.calibration, threshold=threshold, f1=f1
        )
