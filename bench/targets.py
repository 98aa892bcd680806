"""Targets and features, compared with plain numpy: `python -m bench.targets`."""

from __future__ import annotations

from functools import partial

import numpy as np

from bdl.binning import bin_features
from bdl.features import Features
from bdl.kernels import Gaussian
from bdl.recording import Recording
from bdl.targets import Crop, event_targets
from bench.row import Row, best, table

RATE = 256
HOUR = 3600 * RATE


def _raw_targets(places: list[np.ndarray], stride: int) -> np.ndarray:
    """A timeline of raw samples for each type, kernels added around events, then summed."""
    sigma, reach = RATE, 3 * RATE
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    timeline = np.zeros((HOUR, len(places)))
    for column, where in enumerate(places):
        for place in where:
            low, high = max(place - reach, 0), min(place + reach + 1, HOUR)
            part = bell[low - place + reach : high - place + reach]
            timeline[low:high, column] += part / part.sum()
    target: np.ndarray = timeline.reshape(-1, stride, len(places)).sum(axis=1)
    return target


def _numpy_features(values: np.ndarray, stride: int) -> np.ndarray:
    """Four reductions over reshaped bins that ignore missing samples."""
    bins = values.reshape(-1, stride, values.shape[1])
    parts = [np.nanmean(bins, 1), np.nanmax(bins, 1), np.nanmin(bins, 1), np.nanstd(bins, 1)]
    return np.stack(parts, axis=2).reshape(len(bins), -1)


def run() -> list[Row]:
    """An hour of EEG labels at one-second bins, and features of recordings of both benchmarks."""
    rng = np.random.default_rng(0)
    places = [np.sort(rng.integers(0, HOUR, 4)) for _ in range(2)]
    kernel = Gaussian(sigma=1.0)

    def ours() -> np.ndarray:
        return event_targets(places, kernel, Crop(0, HOUR, stride=RATE), period=1 / RATE)

    np.testing.assert_allclose(ours(), _raw_targets(places, RATE), atol=1e-12)
    repeats = 200

    def many() -> None:
        for _ in range(repeats):
            ours()

    rows = [
        Row(
            "targets, 1 h at 256 Hz, 2 types, sigma 1 s",
            best(many) / repeats,
            best(lambda: _raw_targets(places, RATE)),
            note="raw timeline; required 20",
        )
    ]
    for name, samples, channels, stride in (
        ("features, sleep, 460,000 x 2, stride 10", 460_000, 2, 10),
        ("features, EEG, 1 h x 21 channels, stride 256", HOUR, 21, 256),
    ):
        values = rng.normal(size=(samples, channels)).astype(np.float32)
        recording = Recording.of(values, id="a", period=1.0)
        features = Features(stride=stride, scaling="none")
        binned = bin_features(recording, features).values
        np.testing.assert_allclose(binned, _numpy_features(values, stride), atol=1e-4)
        rows.append(
            Row(
                name,
                best(partial(bin_features, recording, features)),
                best(partial(_numpy_features, values, stride), 1),
                limit=best(values.max),
                note="numpy's nan functions; limit: one numpy pass over the values",
            )
        )
    return rows


if __name__ == "__main__":
    print(table(run()))
