"""Train the models that come with the package, and score them on held-out groups.

    python -m bench.pretrained mitdb-beats
    python -m bench.pretrained hapt-transitions
    python -m bench.pretrained mitdb-beats --score

A quarter of the groups is held out; everything is chosen and trained on the others, with the
default preset. The file is written to src/bdl/pretrained; `bdl show NAME` prints its card. With
``--score`` nothing is trained or written: the file is scored on the held-out groups, and for beats
xqrs and gqrs are scored on the same records.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from bdl import Detector, Recordings
from bdl.datasets import Benchmark, Dataset
from bdl.detector.cross_validation import CrossValidated
from bdl.detector.provenance import UnseenScores
from bdl.evaluation import Matches, Metric, bootstrap
from bdl.pretrained import FOLDER
from bench.accuracy.reported_f1 import ReportedF1
from bench.accuracy.tasks import TASKS, Task
from bench.baselines import Detected, gqrs, xqrs
from bench.experiments.common import group_folds

MODELS = {"mitdb-beats": {"xqrs": xqrs, "gqrs": gqrs}, "hapt-transitions": {}}


@dataclass(frozen=True)
class Parts:
    """A data set, and its recordings to train on and to score."""

    task: Task
    benchmark: Benchmark
    train: Recordings
    test: Recordings

    @classmethod
    def of(cls, task: Task, data: Path) -> Parts:
        """Hold out a quarter of the groups."""
        benchmark = task.read(data)
        part = group_folds(benchmark.recordings, folds=4, seed=0)[0]
        return cls(task, benchmark, *map(benchmark.recordings.select, (part.train, part.test)))

    def scores(self, detected: Detected) -> dict[str, CrossValidated]:
        """mAP of the ranking, and F1 of what is reported, with confidence intervals over groups."""
        scoring = self.task.scoring(self.benchmark)
        ranked, reported = (
            scoring.match(self.benchmark.events, detections, self.test.ids)
            for detections in detected
        )
        scores = {"mAP": estimate(ranked, self.test.groups, "mAP")}
        for tolerance in self.task.operating or (None,):
            name = f"F1@{tolerance:g}>=0" if tolerance else "mF1>=0"  # of all that are reported
            metric = ReportedF1(tolerance=tolerance)
            scores[name] = estimate(reported, self.test.groups, metric)
        return scores


def main() -> None:
    """Train, score and write one model, or score the existing one."""
    parser = argparse.ArgumentParser(description="Train a model that comes with the package.")
    parser.add_argument("model", choices=[*MODELS])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, help="model file; by default that of the package")
    parser.add_argument("--score", action="store_true", help="score the model file as it is")
    args = parser.parse_args()
    file = args.out or FOLDER / f"{args.model}.safetensors"
    parts = Parts.of(TASKS[args.model], args.data)
    if args.score:
        show(args.model, parts.scores(detected(Detector.load(file), parts.test)))
        events, scoring = parts.benchmark.events, parts.task.scoring(parts.benchmark)
        for name, find in MODELS[args.model].items():
            show(name, parts.scores(find(parts.train, events, parts.test, scoring)))
        return
    detector = train(parts)
    scores = parts.scores(detected(detector, parts.test))
    describe(detector, parts, scores)
    detector.save(file)
    show(args.model, scores)


def train(parts: Parts) -> Detector:
    """Train the default preset on the groups that are not held out."""
    benchmark = parts.benchmark
    tolerances = parts.task.scoring(benchmark).tolerances
    detector = Detector.preset("fast", tolerances=tolerances, progress=True)
    return detector.fit(
        parts.train,
        benchmark.events.select(recordings=parts.train.ids),
        intervals=benchmark.intervals,
        types=benchmark.settings.types,
        event_free=benchmark.settings.event_free,
    )


def detected(detector: Detector, test: Recordings) -> Detected:
    """The ranking, and the detections at the operating point."""
    return Detected(detector.detect(test), detector.detect(test, operating_point=True))


def describe(detector: Detector, parts: Parts, scores: dict[str, CrossValidated]) -> None:
    """Add the data set, its licence and the scores to the model."""
    provenance, test = detector.model_.provenance, parts.test
    assert provenance is not None
    groups = tuple(sorted({*test.groups.values()}))
    provenance = provenance.replace(
        data=parts.task.dataset,
        licence=Dataset.kinds()[parts.task.dataset].licence,
        unseen=UnseenScores(groups=groups, recordings=len(test), scores=scores),
    )
    detector.model_ = detector.model_.replace(provenance=provenance)


def estimate(matches: Matches, groups: dict[str, str], metric: str | Metric) -> CrossValidated:
    """A score with its 95 % confidence interval over groups."""
    result = bootstrap({"model": matches}, clusters=groups, metric=metric).systems["model"]
    return CrossValidated(**result.plain())


def show(name: str, scores: dict[str, CrossValidated]) -> None:
    """Print the scores of a detector."""
    for metric, score in scores.items():
        print(f"{name}  {metric.removesuffix('>=0')}: {score.estimate.text(4)}", flush=True)


if __name__ == "__main__":
    main()
