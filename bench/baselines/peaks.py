"""Peaks of one scaled channel: `scipy.signal.find_peaks`, its settings chosen by calibration."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.signal import find_peaks

from bdl import Events, Recording, Recordings
from bench.baselines.choice import Detected, Scoring, best_threshold, calibration_groups

SHAPES = ("value", "size", "rise", "fall")
WIDTHS = (0.5, 2.0, 10.0)
SEPARATIONS = (2.0, 10.0)


class Setting(NamedTuple):
    """Channel, curve whose peaks are found (value, size, rise or fall), and times.

    The width of the moving mean and the least separation are in units of the strictest tolerance.
    """

    channel: int
    shape: str
    width: float
    separation: float


def peaks(
    recordings: Recordings, events: Events, test: Recordings, scoring: Scoring, seed: int = 0
) -> Detected:
    """Peaks ranked by prominence, the setting of each event type chosen by calibration.

    Scores are in units of the type's threshold, so that they can be ranked together.
    """
    _, ids = calibration_groups(recordings, seed=seed)
    calibration, finest = recordings.select(ids), min(scoring.tolerances)
    channels = range(len(recordings.infos[0].channels))
    settings = [Setting(*fields) for fields in product(channels, SHAPES, WIDTHS, SEPARATIONS)]
    parts = []
    for event in scoring.types:
        alone = replace(scoring, types=(event,))
        matches = {
            setting: alone.match(events, detect(calibration, event, setting, finest), ids)
            for setting in settings
        }
        best = max(matches, key=lambda setting: matches[setting].mean_average_precision())
        unit = max(best_threshold(matches[best]), 1e-9)
        detections = detect(test, event, best, finest)
        parts.append(replace(detections, score=np.asarray(detections.score) / unit))
    ranked = Events.concat(parts)
    return Detected(ranked, ranked.above(1.0))


def detect(recordings: Recordings, event: str, setting: Setting, finest: float) -> Events:
    """Peaks of one event type in all recordings, with their prominence."""
    parts = []
    for recording in recordings:
        period = recording.info.period
        curve = shaped(recording, setting, max(1, round(setting.width * finest / period)))
        distance = max(1, round(setting.separation * finest / period))
        # Prominences below a tenth of the spread are noise; without a limit they are millions.
        place, properties = find_peaks(curve, distance=distance, prominence=0.1)
        parts.append(Events.of(recording.id, event, place * period, properties["prominences"]))
    return Events.concat(parts)


def shaped(recording: Recording, setting: Setting, width: int) -> Any:
    """The curve whose peaks are detections, in robust spreads of the channel: (samples,)."""
    values = np.nan_to_num(np.asarray(recording.values[:, setting.channel], np.float64))
    low, median, high = np.quantile(values, (0.25, 0.5, 0.75))
    values = (values - median) / (high - low or 1.0)
    if setting.shape in ("value", "size"):
        return uniform_filter1d(values if setting.shape == "value" else np.abs(values), width)
    # Onsets and offsets: the mean after minus the mean before.
    size = uniform_filter1d(np.abs(values), width)
    after = np.roll(size, -(width // 2 + 1))
    before = np.roll(size, width // 2)
    change = after - before
    change[: width + 1] = change[-width - 1 :] = 0.0
    return change if setting.shape == "rise" else -change
