"""Analyses besides the event score: states reconstructed from densities, and counts.

- ``states``: every conversion of event densities to a state sequence, and the probabilities of a
  segmentation, against the true intervals, sample by sample. Parameters of a conversion are
  selected on the folds that are reported in the validation regime, as in the paper, and on the
  other folds in the nested one.
- ``counts``: summed densities against numbers of events, before and after a Poisson adapter that
  is cross-fitted over groups of recordings; ``adapted`` scores are multiplied by its factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from bdl.datasets import Benchmark
from bdl.density import Density
from bdl.evaluation import Regions
from bdl.evaluation.adapter import adapt
from bdl.evaluation.estimate import plain
from bdl.evaluation.reconstruction import Reconstruction
from bdl.evaluation.states import StateScore, choose, states
from bdl.events import Events
from bdl.study.results import ScoreRecord
from bdl.study.stages import ADAPTED, TUNED

# Names of their scores.
_NO_STATE = StateScore(hits=0.0, detections=0.0, truths=0.0, squared=0.0, samples=0.0)
STATES = tuple(f"state {name}" for name in _NO_STATE.to_dict())
COUNTS = ("count MAE", "count relative MAE", "count ratio")
DensityFolds = Sequence[Sequence[Density]]


def state_records(
    row: str, seed: int, folds: DensityFolds, benchmark: Benchmark, *, cross_fitted: bool
) -> list[ScoreRecord]:
    """Scores of the states reconstructed from the densities of a row, by fold.

    Cross-fitted parameters of a conversion are selected on the other folds.
    """
    interval, truth = benchmark.intervals[0], benchmark.events
    records = []
    # In the order in which they are defined, which is that of the paper's table.
    conversions = Reconstruction.kinds().values()
    for conversion in sorted(conversions, key=Reconstruction.__subclasses__().index):
        if conversion.reads != folds[0][0].kind:
            continue
        candidates = conversion.candidates()
        if cross_fitted and len(folds) > 1:
            scores = []
            for number, fold in enumerate(folds):
                others = [density for j, f in enumerate(folds) if j != number for density in f]
                selected = choose(others, truth, interval, candidates)
                scores.append(states(fold, truth, interval, selected.reconstruction))
            score = StateScore(*map(sum, zip(*map(astuple, scores), strict=True)))
        else:
            pooled = [density for fold in folds for density in fold]
            score = choose(pooled, truth, interval, candidates).score
        records += [
            ScoreRecord(row, conversion.stage, name, value, seed)
            for name, value in zip(STATES, score.to_dict().values(), strict=True)
        ]
    return records


def count_records(
    row: str, seed: int, folds: DensityFolds, detections: Events, benchmark: Benchmark
) -> list[ScoreRecord]:
    """Calibration of counts before and after the adapter, and the adapted mAP."""
    settings, truth = benchmark.settings, benchmark.events
    labelled = set(truth.recording.tolist())
    densities = [
        density
        for fold in folds
        for density in fold
        if settings.event_free == "count" or density.recording in labelled
    ]
    ids = [density.recording for density in densities]
    adaptation = adapt(
        densities,
        truth,
        groups=benchmark.recordings.groups,
        regions=Regions.annotated(benchmark.recordings.infos),
    )
    rescaled = adaptation.rescale(detections.select(recordings=ids))
    adapted = benchmark.match(truth, rescaled, ids)
    records = [
        ScoreRecord(row, stage, name, plain(value), seed)
        for stage, counts in ((TUNED, adaptation.before), (ADAPTED, adaptation.after))
        for name, value in zip(COUNTS, (counts.mae, counts.relative_mae, counts.ratio), strict=True)
    ]
    value = plain(adapted.mean_average_precision())
    return [*records, ScoreRecord(row, ADAPTED, "mAP", value, seed)]
