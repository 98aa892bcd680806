"""From raw files to a score: simulate, read, fit, detect, score, for every simulated set.

Small but real: a detector is trained for some seconds on most recordings and scored on the rest.
It must beat detections of the same number and scores at random times, or nothing was learned.
"""

from __future__ import annotations

import numpy as np
import pytest

from bdl.datasets import CHBMIT, BowShock, Fraud, Sleep
from bdl.detector import Detector
from bdl.detector.detector_settings import DetectorSettings, merge
from bdl.detector.selection import Selection
from bdl.evaluation import score
from bdl.events import Events

CASES = {
    # data set: (simulation, detector)
    Sleep(): (
        {"recordings": 10, "days": 8},
        {
            "features": {"stride": 60},
            "window": 4 * 86400.0,
            "training": {"epochs": 25, "batch": 4},
        },
    ),
    CHBMIT(source="kaggle"): (
        {"recordings": 15, "days": 600 / 86400},
        {"window": 300.0, "training": {"epochs": 40, "batch": 4, "jitter": 0}},
    ),
    BowShock(trust=True): (
        {"recordings": 12},
        {"features": {"stride": 20}, "training": {"epochs": 15, "batch": 4}},
    ),
    Fraud(): (
        {"recordings": 10},
        {
            "features": {"statistics": ("mean",)},
            "window": 600.0,
            "training": {"epochs": 30, "batch": 4},
        },
    ),
}


def at_random(detections: Events, samples: dict[str, float], seed: int = 0) -> Events:
    """The same detections at random times of their recordings."""
    rng = np.random.default_rng(seed)
    ends = np.array([samples[name] for name in detections.recording])
    return Events.of(
        detections.recording, detections.event, rng.random(len(detections)) * ends, detections.score
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("dataset", CASES, ids=lambda dataset: dataset.kind)
def test_raw_files_to_score(dataset, tmp_path):
    size, changes = CASES[dataset]
    dataset.simulate(tmp_path, seed=12, **size)
    benchmark = dataset.load(tmp_path)
    settings = benchmark.settings
    ids = benchmark.recordings.ids
    train, test = ids[:-3], ids[-3:]
    features = {} if settings.scaling else {"scaling": "robust"}
    fields = merge({"features": features, "training": {"learning_rate": 1e-2}}, changes)
    chosen = DetectorSettings.of(
        settings, objective="bdl-gaussian", selection=Selection(folds=0), **fields
    )
    detector = Detector(**dict(chosen))
    detector.fit(
        benchmark.recordings.select(train),
        benchmark.events.select(recordings=train),
        intervals=benchmark.intervals,
        types=settings.types,
    )
    detections = detector.detect(benchmark.recordings.select(test))
    events = benchmark.events.select(recordings=test)

    def figure(guess: Events) -> float:
        return score(
            events,
            guess,
            settings.tolerances,
            types=settings.types,
            event_free=settings.event_free,
            recordings=test,
        ).to_dict()["mAP"]

    chance = np.mean(
        [
            figure(
                at_random(detections, {i.id: i.duration for i in benchmark.recordings.infos}, seed)
            )
            for seed in range(20)
        ]
    )
    reached = figure(detections)
    print(f"{dataset.kind}: mAP {reached:.3f}, at random {chance:.3f}")
    assert reached > 2 * chance + 0.01
