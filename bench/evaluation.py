"""Scoring, compared with the pandas loop of the benchmark: sleep-sized data, and larger.

The loop takes minutes, so it is timed on a random sample of the recordings and scaled by the
number of (detection, truth) pairs that it compares; the note has the size of the sample. Everything
of a row is measured in one run.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from runpy import run_path
from time import perf_counter

import numpy as np
import pandas as pd
import pyarrow as pa

from bdl.evaluation import Matcher, Matches, bootstrap, match
from bdl.events import Events
from bench.row import Row, best, table

TOLERANCES = [12, 36, 60, 90, 120, 150, 180, 240, 300, 360]
LOOP = Path(__file__).parents[1] / "tests" / "naive" / "evaluation_pandas.py"


def make(
    recordings: int, truths: int, detections: int, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Truths a night apart and detections of which half lie near one, in Kaggle's columns."""
    rng = np.random.default_rng(seed)
    names = np.array([f"{n:012x}" for n in rng.integers(0, 1 << 48, recordings)])
    kinds = np.array(["onset", "wakeup"])
    owner = np.sort(rng.integers(0, recordings, truths))
    truth = pd.DataFrame(
        {
            "series_id": names[owner],
            "event": kinds[np.arange(truths) % 2],
            "step": rng.integers(0, 500_000, truths),
        }
    )
    near = rng.integers(0, truths, detections)
    step = truth["step"].to_numpy()[near] + rng.normal(0, 100, detections).round()
    stray = rng.random(detections) < 0.5
    step[stray] = rng.integers(0, 500_000, int(stray.sum()))
    detected = pd.DataFrame(
        {
            "series_id": names[owner[near]],
            "event": kinds[near % 2],
            "step": step.astype(np.int64),
            "score": rng.random(detections),
        }
    )
    return truth, detected


def events_of(frame: pd.DataFrame) -> Events:
    """Events from a data frame with Kaggle's columns."""
    return Events.from_frame(frame, recording="series_id", time="step")


def ours(truth: pd.DataFrame, detected: pd.DataFrame) -> float:
    """mAP from two data frames."""
    return match(events_of(truth), events_of(detected), TOLERANCES).mean_average_precision()


def naive(truth: pd.DataFrame, detected: pd.DataFrame, sample: int) -> tuple[float, str]:
    """Seconds of the pandas loop for all recordings, from a sample of them."""
    names = sorted(truth["series_id"].unique())
    chosen = [str(n) for n in np.random.default_rng(1).choice(names, sample, replace=False)]
    event_detection_ap = run_path(str(LOOP))["event_detection_ap"]
    begin = perf_counter()
    event_detection_ap(truth, detected, [float(t) for t in TOLERANCES], chosen)
    took = perf_counter() - begin
    keys = ["series_id", "event"]
    pairs = (detected.groupby(keys).size() * truth.groupby(keys).size()).dropna()
    share = pairs[pairs.index.get_level_values(0).isin(chosen)].sum() / pairs.sum()
    return took / float(share), f"loop sampled: {sample} of {len(names)} recordings"


def floor(truth: pd.DataFrame, detected: pd.DataFrame) -> float:
    """Seconds that no implementation can avoid: to encode the names and to sort the scores."""
    texts = [pa.array(frame[c]) for frame in (truth, detected) for c in ("series_id", "event")]
    scores = detected["score"].to_numpy()
    return best(lambda: ([text.dictionary_encode() for text in texts], np.argsort(scores)), 5)


def _matches(truth: pd.DataFrame, detected: pd.DataFrame, seed: int) -> Matches:
    rng = np.random.default_rng(seed)
    noisy = detected.assign(score=detected["score"] + rng.normal(0, 0.1, len(detected)))
    return match(events_of(truth), events_of(noisy), TOLERANCES)


def run() -> list[Row]:
    """All rows."""
    rows = []
    ours(*make(9, 30, 90))  # load the compiled code
    sizes = {
        "mAP, 269 recordings, 9,580 truths, 30,000 detections": (269, 9_580, 30_000, 6),
        "mAP, ten times as much": (2_690, 95_800, 300_000, 6),
        "mAP, 500,000 detections in 269 recordings": (269, 9_580, 500_000, 1),
    }
    loop = first = 0.0
    for name, (recordings, truths, detections, sample) in sizes.items():
        data = make(recordings, truths, detections)
        plain, note = naive(*data, sample)
        fast = best(partial(ours, *data), 7)
        loop, first = loop or plain, first or fast
        rows.append(Row(name, fast, plain, floor(*data), note=note))

    truth, detected = make(269, 9_580, 30_000)
    seeds = [_matches(truth, detected, seed) for seed in range(6)]
    systems = {"one": seeds[:3], "other": seeds[3:]}
    bootstrap({"one": seeds[0]}, replicates=8)
    single = best(lambda: bootstrap({"one": seeds[0]}))
    rows.append(
        Row(
            "1,000 replicates of one system, against 1,000 of our own mAPs",
            single,
            1000 * first,
            note=f"costs {single / first:.1f} mAPs (goal: at most 40)",
        )
    )
    rows.append(
        Row(
            "1,000 replicates, two systems, three seeds each",
            best(lambda: bootstrap(systems)),
            6000 * loop,
            note="plain: 6,000 loops of the first row",
        )
    )
    large = _matches(*make(2_690, 95_800, 300_000), 0)
    ten = best(lambda: bootstrap({"one": large}), 2)
    rows.append(Row("1,000 replicates of one system, ten times as much", ten, 1000 * rows[1].ours))
    matcher = Matcher(events_of(truth), TOLERANCES)
    none = Events.empty(scored=True)
    rows.append(
        Row(
            "cost of a matching call without detections, 269 recordings",
            best(lambda: matcher.match(none), 20),
            best(lambda: Matcher(events_of(truth), TOLERANCES).match(none), 20),
            note="plain: truths prepared again at each call",
        )
    )
    return rows


if __name__ == "__main__":
    print(table(run()))
