"""Train the models that come with the package, and score them on groups that they never saw.

    python -m bench.pretrained mitdb-beats
    python -m bench.pretrained hapt-transitions

A quarter of the groups is kept aside; everything is chosen and trained on the others, with the
default preset. The file is written to src/bdl/pretrained; `bdl show NAME` prints its card.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bdl import Detector
from bdl.datasets import Dataset
from bdl.detector.cross_validation import CrossValidated
from bdl.detector.provenance import UnseenScores
from bdl.evaluation import Matches, Metric, bootstrap
from bdl.pretrained import FOLDER
from bench.accuracy.reported_f1 import ReportedF1
from bench.accuracy.tasks import TASKS
from bench.experiments.common import group_folds

MODELS = ("mitdb-beats", "hapt-transitions")


def main() -> None:
    """Train, score and write one model."""
    parser = argparse.ArgumentParser(description="Train a model that comes with the package.")
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, help="model file; by default that of the package")
    asked = parser.parse_args()
    task = TASKS[asked.model]
    benchmark = task.read(asked.data)
    scoring = task.scoring(benchmark)
    part = group_folds(benchmark.recordings, folds=4, seed=0)[0]
    train, test = (benchmark.recordings.select(ids) for ids in (part.train, part.test))
    detector = Detector.preset("fast", tolerances=scoring.tolerances, progress=True)
    detector.fit(
        train,
        benchmark.events.select(recordings=part.train),
        intervals=benchmark.intervals,
        types=benchmark.settings.types,
        event_free=benchmark.settings.event_free,
    )
    ranked, reported = (
        scoring.match(benchmark.events, detections, part.test)
        for detections in (detector.detect(test), detector.detect(test, operating_point=True))
    )
    scores = {"mAP": estimate(ranked, test.groups, "mAP")}
    for tolerance in task.operating or (None,):
        name = f"F1@{tolerance:g}>=0" if tolerance else "mF1>=0"  # of all that are reported
        scores[name] = estimate(reported, test.groups, ReportedF1(tolerance=tolerance))
    model = detector.model_
    assert model.provenance is not None
    dataset = Dataset.kinds()[task.dataset]
    unseen = UnseenScores(
        groups=tuple(sorted({*test.groups.values()})), recordings=len(test), scores=scores
    )
    detector.model_ = model.replace(
        provenance=model.provenance.replace(
            data=task.dataset, licence=dataset.licence, unseen=unseen
        )
    )
    detector.save(asked.out or FOLDER / f"{asked.model}.safetensors")
    for name, score in scores.items():
        print(f"{name}: {score.estimate.text(4)}")


def estimate(matches: Matches, groups: dict[str, str], metric: str | Metric) -> CrossValidated:
    """A score with its 95 % confidence interval over groups."""
    result = bootstrap({"model": matches}, clusters=groups, metric=metric).systems["model"]
    return CrossValidated(value=result.value, low=result.low, high=result.high)


if __name__ == "__main__":
    main()
