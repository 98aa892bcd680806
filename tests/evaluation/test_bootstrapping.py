"""The bootstrap by weights equals the naive one: resample, rename, rematch, rescore."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest

from bdl.errors import ConfigError, InputError
from bdl.evaluation import Matches, bootstrap, bootstrapping, match
from bdl.evaluation.bootstrapping import weight_blocks
from bdl.evaluation.metrics import F1, FalseAlarmRate, Precision, Sensitivity, TimingError
from bdl.events import Events
from naive import evaluation as naive
from naive import evaluation_cases as cases


def matched(
    case: cases.Case,
    detections: list[naive.Detection],
    durations: dict[str, float] | None = None,
) -> Matches:
    return match(
        cases.table(case.truths, scored=False),
        cases.table(detections, scored=True),
        case.tolerances,
        recordings=case.recordings,
        event_free=case.event_free,  # type: ignore[arg-type]
        unknown="ignore",
        durations=durations,
        intervals=(),  # every false detection is an alarm
    )


def draw_clusters(size: int, *, replicates: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, size, (replicates, size))


@pytest.mark.parametrize("block", [1, 7, 60, 10_000])
def test_replicates_in_blocks_are_the_replicates_at_once(
    block: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bootstrapping, "BLOCK", block)
    cluster_of = np.array([0, 1, 1, 2, 0, 3, 4])
    parts = [*weight_blocks(cluster_of, replicates=37, seed=5)]
    assert max(part.size for part in parts) <= max(block, 7)
    drawn = draw_clusters(5, replicates=37, seed=5)
    naive_weights = [[list(row).count(c) for c in cluster_of] for row in drawn]
    np.testing.assert_array_equal(np.concatenate(parts), naive_weights)


def naive_value(
    metric: str, case: cases.Case, detections: list[naive.Detection], drawn: list[list[str]]
) -> float:
    truths, sampled = naive.resample(case.truths, detections, drawn)
    types = sorted({e for _, e, _ in case.truths})
    sampled = [d for d in sampled if d[1] in types]
    if not truths:
        return math.nan
    ap, f1 = naive.figures(truths, sampled, types, case.tolerances, case.event_free)
    if metric == "mAP":
        return naive.mean(ap)
    if metric == "mF1":
        return naive.mean(f1)
    return naive.mean([[row[0]] for row in ap])  # AP at the first tolerance


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("metric", ["mAP", "mF1", "AP@first"])
@pytest.mark.parametrize("grouped", [False, True])
def test_equals_the_naive_bootstrap_replicate_by_replicate(
    seed: int, metric: str, grouped: bool
) -> None:
    rng = np.random.default_rng(seed)
    case = cases.draw(rng, recordings=6, rows=25)
    other = cases.draw(rng, recordings=6, rows=25).detections
    kept = [d for d in other if d[0] in case.recordings]
    systems = {
        "first": [matched(case, case.detections)],
        "second": [matched(case, kept), matched(case, kept[::2])],  # two seeds
    }
    scored = systems["first"][0].recordings
    groups = {name: f"g{int(name[1:]) % 3}" if grouped else name for name in scored}
    labels = sorted(set(groups.values()))
    name = f"AP@{case.tolerances[0]:g}" if metric == "AP@first" else metric
    result = bootstrap(systems, clusters=groups, replicates=11, seed=seed, metric=name)
    for b, clusters in enumerate(draw_clusters(len(labels), replicates=11, seed=seed)):
        drawn = [[r for r in scored if groups[r] == labels[c]] for c in clusters]
        first = naive_value(metric, case, case.detections, drawn)
        second = np.mean([naive_value(metric, case, part, drawn) for part in (kept, kept[::2])])
        np.testing.assert_allclose(result.replicates[b], [first, second], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [Sensitivity, Precision, F1, FalseAlarmRate])
def test_metrics_at_a_threshold_equal_rescoring_the_resampled_recordings(kind: Any) -> None:
    rng = np.random.default_rng(7)
    case = cases.draw(rng, recordings=6, rows=60)
    tolerance = case.tolerances[0]
    lengths = {name: 1000.0 * (i + 1) for i, name in enumerate(case.recordings)}
    kept = matched(case, case.detections, lengths)
    metric = kind(threshold=0.25, tolerance=tolerance)
    result = bootstrap({"only": kept}, replicates=9, seed=3, metric=metric)
    for b, clusters in enumerate(draw_clusters(len(kept.recordings), replicates=9, seed=3)):
        drawn = [[kept.recordings[c]] for c in clusters]
        truths, sampled = naive.resample(case.truths, case.detections, drawn)
        hits = taken = 0
        for event in kept.types:
            pooled, _ = naive.ranked_hits(truths, sampled, event, tolerance, "count")
            hits += sum(hit for score, hit in pooled if score >= 0.25)
            taken += sum(score >= 0.25 for score, _ in pooled)
        days = sum(lengths[kept.recordings[c]] for c in clusters) / 86400
        expected = {
            "sensitivity": hits / len(truths),
            "precision": hits / taken if taken else math.nan,
            "F1": 2 * hits / (taken + len(truths)),
            "false_alarms_per_day": (taken - hits) / days,
        }[metric.kind]
        assert result.replicates[b, 0] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("statistic", ["bias", "median", "p95"])
def test_timing_errors_equal_those_of_the_repeated_recordings(
    statistic: Literal["bias", "median", "p95"],
) -> None:
    rng = np.random.default_rng(11)
    case = cases.draw(rng, recordings=5, rows=60)
    kept = matched(case, case.detections)
    metric = TimingError(statistic=statistic, tolerance=case.tolerances[0])
    result = bootstrap({"only": kept}, replicates=9, seed=5, metric=metric)
    for b, clusters in enumerate(draw_clusters(len(kept.recordings), replicates=9, seed=5)):
        errors = [
            kept.time[row] - kept.truth_time[truth]
            for c in clusters
            for name in kept.types
            for row, truth in zip(*kept.hits(name, case.tolerances[0]), strict=True)
            if kept.recording[row] == c
        ]
        expected = {
            "bias": lambda e: np.mean(e),
            "median": lambda e: np.quantile(np.abs(e), 0.5),
            "p95": lambda e: np.quantile(np.abs(e), 0.95),
        }[statistic](errors)
        assert result.replicates[b, 0] == pytest.approx(expected, abs=1e-9)


def two_systems() -> tuple[Matches, Matches]:
    truth = Events.of(list("abcdef"), "x", [10.0] * 6)
    good = Events.of(list("abcdef"), "x", [10.0] * 6, np.arange(6.0))
    poor = Events.of(list("abcdef"), "x", [10.0, 99.0] * 3, np.arange(6.0))
    return match(truth, good, [5.0]), match(truth, poor, [5.0])


def test_is_the_same_for_the_same_seed_and_another_for_another() -> None:
    good, poor = two_systems()
    first, again, other = (
        bootstrap({"poor": poor, "good": good}, replicates=50, seed=s) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.replicates, again.replicates)
    assert not np.array_equal(first.replicates, other.replicates)


def test_fold_differences_are_given_beside_the_interval() -> None:
    good, poor = two_systems()
    folds = {name: "1" if name in "ab" else "2" for name in "abcdef"}
    result = bootstrap({"poor": poor, "good": good}, replicates=20, folds=folds)
    for fold in ("1", "2"):
        expected = [_only(matches, folds, fold) for matches in (poor, good)]
        assert list(result.folds[fold].values()) == pytest.approx(expected)
        assert result.fold_differences[fold] == {"good - poor": expected[1] - expected[0]}
    assert result.to_dict()["differences"]["good - poor"]["value"] > 0


def _only(kept: Matches, folds: dict[str, str], fold: str) -> float:
    truth = Events.of(
        [r for r in folds if folds[r] == fold], "x", [10.0] * list(folds.values()).count(fold)
    )
    rows = [i for i, r in enumerate(kept.recording) if folds[kept.recordings[r]] == fold]
    limited = Events.of(
        [kept.recordings[kept.recording[i]] for i in rows], "x", kept.time[rows], kept.score[rows]
    )
    return match(truth, limited, [5.0]).mean_average_precision()


def test_systems_on_other_recordings_cannot_be_paired() -> None:
    good, _ = two_systems()
    other = match(Events.of("z", "x", [1.0]), Events.of("z", "x", [1.0], [1.0]), [5.0])
    with pytest.raises(InputError, match="other recordings"):
        bootstrap({"good": good, "other": other})


def test_impossible_requests_are_refused() -> None:
    good, _ = two_systems()
    with pytest.raises(ConfigError, match="metric"):
        bootstrap({"good": good}, metric="accuracy")
    with pytest.raises(ConfigError, match="not a number"):
        bootstrap({"good": good}, metric="AP@wide")
    with pytest.raises(ConfigError, match="tolerance 7"):
        bootstrap({"good": good}, metric="AP@7")
    with pytest.raises(ConfigError, match="replicate"):
        bootstrap({"good": good}, replicates=0)
    with pytest.raises(ConfigError, match="level"):
        bootstrap({"good": good}, level=1.0)
    with pytest.raises(ConfigError, match="at least one system"):
        bootstrap({})
    with pytest.raises(InputError, match="have no cluster"):
        bootstrap({"good": good}, clusters={"a": "1"})
    with pytest.raises(ConfigError, match="duration"):
        bootstrap({"good": good}, metric="false_alarms_per_day@5>=0")
