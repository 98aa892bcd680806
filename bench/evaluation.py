"""Scoring, beside the benchmark's pandas loop: sleep-sized work, ten times as much, and more.

The loop takes minutes, so it is timed on a random sample of the recordings and scaled by the
number of (detection, truth) pairs it has to look at; the note says how many. Everything of a row
is measured in one run.
"""

from __future__ import annotations

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
COLUMNS = {"recording": "series_id", "time": "step"}


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
    found = pd.DataFrame(
        {
            "series_id": names[owner[near]],
            "event": kinds[near % 2],
            "step": step.astype(np.int64),
            "score": rng.random(detections),
        }
    )
    return truth, found


def ours(truth: pd.DataFrame, found: pd.DataFrame) -> float:
    """mAP from two data frames."""
    events = Events.from_frame(truth, **COLUMNS), Events.from_frame(found, **COLUMNS)
    return match(*events, TOLERANCES).mean_average_precision()


def naive(truth: pd.DataFrame, found: pd.DataFrame, sample: int) -> tuple[float, str]:
    """Seconds of the pandas loop for all recordings, from a sample of them."""
    names = sorted(truth["series_id"].unique())
    chosen = [str(n) for n in np.random.default_rng(1).choice(names, sample, replace=False)]
    event_detection_ap = run_path(str(LOOP))["event_detection_ap"]
    begin = perf_counter()
    event_detection_ap(truth, found, [float(t) for t in TOLERANCES], chosen)
    took = perf_counter() - begin
    keys = ["series_id", "event"]
    pairs = (found.groupby(keys).size() * truth.groupby(keys).size()).dropna()
    share = pairs[pairs.index.get_level_values(0).isin(chosen)].sum() / pairs.sum()
    return took / float(share), f"loop sampled: {sample} of {len(names)} recordings"


def floor(truth: pd.DataFrame, found: pd.DataFrame) -> float:
    """Seconds that nobody can avoid: to encode the names and to sort the scores."""
    texts = [pa.array(frame[c]) for frame in (truth, found) for c in ("series_id", "event")]
    scores = found["score"].to_numpy()
    return best(lambda: ([text.dictionary_encode() for text in texts], np.argsort(scores)), 5)


def _matches(truth: pd.DataFrame, found: pd.DataFrame, seed: int) -> Matches:
    rng = np.random.default_rng(seed)
    noisy = found.assign(score=found["score"] + rng.normal(0, 0.1, len(found)))
    return match(
        Events.from_frame(truth, **COLUMNS), Events.from_frame(noisy, **COLUMNS), TOLERANCES
    )


def run() -> list[Row]:
    """All rows."""
    rows = []
    ours(*make(9, 30, 90))  # load the compiled code
    sizes = {
        "mAP, 269 recordings, 9,580 truths, 30,000 detections": (269, 9_580, 30_000, 6),
        "mAP, ten times as much": (2_690, 95_800, 300_000, 6),
        "mAP, 500,000 detections in 269 recordings": (269, 9_580, 500_000, 1),
    }
    loop = one = 0.0
    for name, (recordings, truths, detections, sample) in sizes.items():
        data = make(recordings, truths, detections)
        plain, note = naive(*data, sample)
        fast = best(lambda data=data: ours(*data), 7)
        loop, one = loop or plain, one or fast
        rows.append(Row(name, fast, plain, floor(*data), note=note))

    truth, found = make(269, 9_580, 30_000)
    seeds = [_matches(truth, found, seed) for seed in range(6)]
    systems = {"one": seeds[:3], "other": seeds[3:]}
    bootstrap({"one": seeds[0]}, replicates=8)
    single = best(lambda: bootstrap({"one": seeds[0]}))
    rows.append(
        Row(
            "1,000 replicates of one system, against 1,000 of our own mAPs",
            single,
            1000 * one,
            note=f"costs {single / one:.1f} mAPs (at most 40 wanted)",
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
    matcher = Matcher(Events.from_frame(truth, **COLUMNS), TOLERANCES)
    none = Events.empty(scored=True)
    again = best(lambda: matcher.match(none), 20)
    rows.append(
        Row(
            "cost of a matching call without detections, 269 recordings",
            again,
            best(lambda: Matcher(Events.from_frame(truth, **COLUMNS), TOLERANCES).match(none), 20),
            note="plain: truths prepared anew at each call",
        )
    )
    return rows


if __name__ == "__main__":
    print(table(run()))
