"""Decoding: the sleep grid over a whole benchmark, and the expected-AP search.

The straightforward way of the grid (expand to the raw clock, smooth with scipy, ``find_peaks`` for
every setting) is timed on a few of the recordings, in the same run, and scaled to all of them; the
detections of those recordings are compared setting by setting: the same times, scores to 1e-12.
Alternation is the same compiled function on both sides. Both use one thread and little memory, so
processor time is measured, which other work on the machine disturbs less.
"""

from __future__ import annotations

from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

import bdl.compiled
from bdl.datasets import Sleep
from bdl.decoding import ExpectedAP
from bdl.decoding.alternation import alternate
from bdl.decoding.candidates import ByType, Candidates
from bdl.density import Density
from bdl.intervals import IntervalType
from bench.row import Row, table

SLEEP = IntervalType("sleep", "onset", "wakeup")
TOLERANCES = tuple(5.0 * s for s in (12, 36, 60, 90, 120, 150, 180, 240, 300, 360))
RECORDINGS, BINS, STRIDE, PERIOD = 277, 46_000, 10, 5.0
SAMPLED = 4
GRID = Sleep.grids()["events"]
SETTINGS = [(turns, width, level) for turns in (0, 1) for width in (0, 10) for level in range(3)]


def density(rng: np.random.Generator, number: int, bins: int = BINS) -> Density:
    """A correlated, rough background with two events per day, as a trained model gives them."""
    logit = rng.normal(-9, 1, (bins + 2, 2))
    logit = np.log(np.exp(logit[:-2]) + np.exp(logit[1:-1]) + np.exp(logit[2:]))
    values = np.exp(logit)
    for j in range(2):
        for centre in rng.uniform(0, bins, bins // 1728):
            near = np.arange(max(0, int(centre) - 12), min(bins, int(centre) + 13))
            width = rng.uniform(0.7, 4)
            values[near, j] += 0.9 / width * 0.4 * np.exp(-0.5 * ((near - centre) / width) ** 2)
    return Density(
        f"{number:03d}",
        values.astype(np.float32),
        ("onset", "wakeup"),
        PERIOD,
        STRIDE,
        bins * STRIDE,
    )


def ours(densities: list[Density], top: float) -> list[list[ByType]]:
    """Detections of each setting, of each recording."""
    decoders = GRID.decoders(TOLERANCES)
    thresholds = GRID.threshold_values(top)
    out: list[list[ByType]] = [[] for _ in SETTINGS]
    for recording in densities:
        candidates_of_each = GRID.candidates(recording, decoders, (SLEEP,))
        cut = [
            {event: candidates.above(threshold) for event, candidates in types.items()}
            for types in candidates_of_each
            for threshold in thresholds
        ]
        for into, types in zip(out, [*cut, *(alternate(c, (SLEEP,)) for c in cut)], strict=True):
            into.append(types)
    return out


def plain(densities: list[Density], top: float) -> list[list[ByType]]:
    """The same, one setting after another on the raw clock."""
    out: list[list[ByType]] = [[] for _ in SETTINGS]
    for recording in densities:
        for into, (turns, width, level) in zip(out, SETTINGS, strict=True):
            types = {}
            for j, event in enumerate(recording.types):
                raw: NDArray[np.float64] = np.repeat(
                    recording.values[:, j].astype(np.float64), STRIDE
                )
                if width:
                    raw = gaussian_filter1d(raw, width)
                places, properties = find_peaks(raw, height=level * top / 2, distance=360)
                types[event] = Candidates(places * PERIOD, properties["peak_heights"])
            into.append(alternate(types, (SLEEP,)) if turns else types)
    return out


def check(first: list[list[ByType]], other: list[list[ByType]]) -> int:
    """Raise an error unless both have the same detections; return their number."""
    count = 0
    for a, b in zip(first, other, strict=True):
        for x, y in zip(a, b, strict=True):
            for event in x:
                np.testing.assert_array_equal(x[event].time, y[event].time)
                np.testing.assert_allclose(x[event].score, y[event].score, rtol=1e-12)
                count += len(x[event].time)
    return count


def scan(values: NDArray[np.float64], decoder: ExpectedAP) -> int:
    """Expected AP by a scan of the whole recording for every detection; their number."""
    halves = [round(t / PERIOD) / STRIDE for t in decoder.tolerances]
    reach = int(max(halves)) + 1
    offsets = np.arange(-reach, reach + 1)
    kernels = [np.clip(half + 0.5 - np.abs(offsets), 0, 1) for half in halves]
    residual = [values.copy() for _ in kernels]
    count = 0
    while True:
        inside = [np.convolve(r, k, "same") for r, k in zip(residual, kernels, strict=True)]
        score = np.mean([np.minimum(mass, 1) for mass in inside], axis=0)
        at = int(score.argmax())
        if score[at] < decoder.threshold:
            return count
        count += 1
        low, high = max(0, at - reach), min(len(values), at + reach + 1)
        for r, k, mass in zip(residual, kernels, inside, strict=True):
            if mass[at] > 0:
                share = k[low - at + reach : high - at + reach]
                r[low:high] *= 1 - share * min(1.0, 1 / mass[at])


def run() -> list[Row]:
    """Measure."""
    rng = np.random.default_rng(0)
    densities = [density(rng, i) for i in range(RECORDINGS)]
    top = max(float(recording.values.max()) for recording in densities)
    bdl.compiled.PATIENCE = 0
    ours(densities[:2], top)  # compiled before timing
    step = RECORDINGS // SAMPLED
    sampled = densities[::step][:SAMPLED]

    begin = process_time()
    detections = ours(densities, top)
    seconds = process_time() - begin
    begin = process_time()
    reference = plain(sampled, top)
    plain_seconds = (process_time() - begin) / SAMPLED * RECORDINGS
    count = check([detected[::step][:SAMPLED] for detected in detections], reference)
    # Every bin must at least be read once per width, from memory at about 10 GB/s, and every
    # smoothed sample be made from 9 bins at about 8 multiply-adds per nanosecond.
    cells = RECORDINGS * BINS * 2
    limit = cells * 2 * 4 / 10e9 + cells * STRIDE * 9 / 8e9
    rows = [
        Row(
            "sleep grid: 12 settings, 277 recordings x 46,000 bins x 2 types",
            seconds,
            plain_seconds,
            limit,
            note=f"plain timed on {SAMPLED} recordings and scaled; "
            f"{count:,} detections of those are the same",
        )
    ]

    small = density(rng, 0, 10_000)
    decoder = ExpectedAP(tolerances=TOLERANCES, threshold=0.02)
    column = small.values[:, 0].astype(np.float64)
    picks = len(decoder.take(small, 0)[0])
    begin = process_time()
    for _ in range(10):
        decoder.take(small, 0)
    quick = (process_time() - begin) / 10
    begin = process_time()
    scanned = scan(column, decoder)
    slow = process_time() - begin
    if abs(scanned - picks) > 1:
        raise AssertionError(f"the scan takes {scanned} detections, the search {picks}")
    rows.append(
        Row(
            "expected AP: 10,000 bins, 10 tolerances",
            quick,
            slow,
            note=f"against a scan of all bins per detection; {picks} detections",
        )
    )
    return rows


if __name__ == "__main__":
    print(table(run()))
