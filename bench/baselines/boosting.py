"""Boosted trees on window statistics, with scikit-learn alone in about a hundred lines.

Bins are half the strictest tolerance. A bin's features are the mean and spread of each channel in
windows of several widths before and after it, with their differences. Trees learn the expected
events per bin with a Poisson loss; peaks of their prediction are the detections.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks
from sklearn.ensemble import HistGradientBoostingRegressor

from bdl import Events, Recording, Recordings
from bench.baselines.choice import Detected, Scoring, best_threshold, calibration_groups

WIDTHS = (1, 3, 10, 30, 100)  # bins on each side
ROWS = 40_000  # at most, near events, and as many elsewhere
SIGMA = 1.0  # width of an event's target, in strictest tolerances
SMOOTHS = (0.0, 0.5, 1.0, 2.0)  # of the prediction, in strictest tolerances
SEPARATIONS = (1.0, 2.0, 4.0, 8.0, 16.0)  # in strictest tolerances
SCALES = ((False,), (True,), (False, True))  # values as they are, each recording scaled, or both
Rates = dict[str, Any]  # expected events per bin of each recording, (bins, types)


def boosting(
    recordings: Recordings, events: Events, test: Recordings, scoring: Scoring, seed: int = 0
) -> Detected:
    """Detections of boosted trees; scaling, separation and threshold are chosen by calibration."""
    fitting_ids, calibration_ids = calibration_groups(recordings, seed=seed)
    fitting, calibration = recordings.select(fitting_ids), recordings.select(calibration_ids)
    rates = {
        own: predict(fitting, events, calibration, scoring, own, seed) for own in (False, True)
    }
    matches = {}
    for choice in product(SCALES, SMOOTHS, SEPARATIONS):
        scales, smooth, separation = choice
        mean_rates = mean([rates[own] for own in scales])
        detections = peaks(mean_rates, calibration, scoring, smooth, separation)
        matches[choice] = scoring.match(events, detections, calibration_ids)
    best = max(matches, key=lambda choice: matches[choice].mean_average_precision())
    scales, smooth, separation = best
    final = mean([predict(recordings, events, test, scoring, own, seed) for own in scales])
    ranked = peaks(final, test, scoring, smooth, separation)
    return Detected(ranked, ranked.above(best_threshold(matches[best])))


def mean(rates: list[Rates]) -> Rates:
    """The mean of several predictions."""
    return {id: np.mean([by_id[id] for by_id in rates], axis=0) for id in rates[0]}


def bin_samples(recordings: Recordings, scoring: Scoring) -> int:
    """Samples per bin."""
    return max(1, int(min(scoring.tolerances) / 2 / recordings.infos[0].period))


def window_statistics(recording: Recording, stride: int, own_scale: bool) -> Any:
    """Means and spreads before and after each bin, their differences, the hour: (bins, columns)."""
    values = np.nan_to_num(np.asarray(recording.values, np.float64))
    if own_scale:
        values = (values - np.median(values, 0)) / (np.std(values, 0) + 1e-9)
    values = np.pad(values, ((0, -len(values) % stride), (0, 0)), mode="edge")
    moments = np.hstack([values, values**2]).reshape(-1, stride, 2 * values.shape[1]).mean(1)
    sums = np.vstack([0 * moments[:1], np.cumsum(moments, 0)])
    here, columns = np.arange(len(moments)), [moments]
    for width in WIDTHS:
        means, spreads = [], []
        for first, last in ((here - width, here), (here, here + width)):
            first, last = np.clip(first, 0, len(here) - 1), np.clip(last, 1, len(here))
            level, square = np.hsplit((sums[last] - sums[first]) / (last - first)[:, None], 2)
            means.append(level)
            spreads.append(np.sqrt(np.maximum(square - level**2, 0)))
        columns += [*means, *spreads, means[1] - means[0], spreads[1] - spreads[0]]
    if recording.info.start is not None:
        columns.append(recording.info.local_time(here * stride)[0][:, None])
    return np.hstack(columns).astype(np.float32)


def predict(
    training: Recordings,
    events: Events,
    test: Recordings,
    scoring: Scoring,
    own_scale: bool,
    seed: int,
) -> Rates:
    """Expected events per bin of each test recording, by trees fitted on the training recordings.

    They are fitted on a sample of the bins near events and one of the others.
    """
    stride, rng = bin_samples(training, scoring), np.random.default_rng(seed)
    step = stride * training.infos[0].period
    inputs, targets = [], []
    for recording in training:
        columns = window_statistics(recording, stride, own_scale)
        mass = np.zeros((len(columns), len(scoring.types)))
        for j, event in enumerate(scoring.types):
            place = (events.times(recording.id, event) / step).astype(int)
            np.add.at(mass[:, j], np.clip(place, 0, len(mass) - 1), 1.0)
        mass = gaussian_filter1d(mass, SIGMA * min(scoring.tolerances) / step, axis=0)
        near = mass.max(1) > 1e-3 * mass.max()
        shares = [min(1.0, ROWS / len(training) / (1 + part.sum())) for part in (near, ~near)]
        chance = np.where(near, *shares)
        known = scoring.is_scored(recording.id, step * np.arange(len(mass)))
        drawn = np.flatnonzero((rng.random(len(mass)) < chance) & known)
        inputs.append(columns[drawn])
        targets.append(mass[drawn])
    rows, masses = np.vstack(inputs), np.vstack(targets)
    models = [
        HistGradientBoostingRegressor(
            loss="poisson",
            learning_rate=0.15,
            max_iter=100,
            max_leaf_nodes=31,
            l2_regularization=1.0,
            early_stopping=False,
            random_state=seed,
        ).fit(rows, masses[:, j])
        for j in range(len(scoring.types))
    ]
    rates = {}
    for recording in test:
        columns = window_statistics(recording, stride, own_scale)
        rates[recording.id] = np.stack([model.predict(columns) for model in models], 1)
    return rates


def peaks(
    rates: Rates, recordings: Recordings, scoring: Scoring, smooth: float, separation: float
) -> Events:
    """Peaks of the smoothed prediction, at the centres of their bins."""
    step = bin_samples(recordings, scoring) * recordings.infos[0].period
    unit = min(scoring.tolerances) / step
    detections = []
    for id, rate in rates.items():
        curves = gaussian_filter1d(rate, smooth * unit, axis=0) if smooth else rate
        for j, event in enumerate(scoring.types):
            curve = np.pad(curves[:, j], 1, constant_values=-1.0)
            place = find_peaks(curve, distance=max(1, round(separation * unit)))[0] - 1
            detections.append(Events.of(id, event, (place + 0.5) * step, curves[place, j]))
    return Events.concat(detections)
