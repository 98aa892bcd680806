"""The QRS detectors of the WFDB software: xqrs and gqrs, on the first lead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bdl import Events, Recording, Recordings
from bench.baselines.choice import Detected, Scoring, calibration_groups


def xqrs(
    recordings: Recordings, events: Events, test: Recordings, scoring: Scoring, seed: int = 0
) -> Detected:
    """Detections of xqrs; see `shifted`."""
    return shifted(_xqrs, recordings, events, test, scoring)


def gqrs(
    recordings: Recordings, events: Events, test: Recordings, scoring: Scoring, seed: int = 0
) -> Detected:
    """Detections of gqrs; see `shifted`."""
    return shifted(_gqrs, recordings, events, test, scoring)


def shifted(
    find: Callable[[Any, float], Any],
    recordings: Recordings,
    events: Events,
    test: Recordings,
    scoring: Scoring,
) -> Detected:
    """Beats of a detector without scores, moved by its median error in calibration records.

    Nothing else is learned. All scores are 1: these detectors have one operating point.
    """
    (event,) = scoring.types
    errors = []
    for recording in recordings.select(calibration_groups(recordings)[1]):
        truth, detected = events.times(recording.id, event), _times(find, recording)
        if len(truth) and len(detected):
            error = truth[np.abs(truth[:, None] - detected).argmin(0)] - detected
            errors.append(error[np.abs(error) < max(scoring.tolerances)])
    shift = float(np.median(np.concatenate(errors))) if errors else 0.0
    detections = []
    for recording in test:
        times = _times(find, recording) + shift
        detections.append(Events.of(recording.id, event, times, np.ones(len(times))))
    return Detected(Events.concat(detections), Events.concat(detections))


def _times(find: Callable[[Any, float], Any], recording: Recording) -> Any:
    """Seconds of the beats in the first lead."""
    signal = np.nan_to_num(np.asarray(recording.values[:, 0], np.float64))
    return np.asarray(find(signal, 1 / recording.info.period)) * recording.info.period


def _xqrs(signal: Any, rate: float) -> Any:
    from wfdb.processing import XQRS

    detector = XQRS(sig=signal, fs=rate)
    detector.detect(verbose=False)
    return detector.qrs_inds


def _gqrs(signal: Any, rate: float) -> Any:
    from wfdb.processing import gqrs_detect

    return gqrs_detect(sig=signal, fs=rate)
