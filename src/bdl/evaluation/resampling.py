"""Paired cluster bootstrap over kept matches.

A replicate draws as many clusters (recordings, or groups such as patients) as there are, with
replacement, and pools them; each system is scored on the *same* draw, its seeds are averaged
within the replicate, and the interval is the percentile interval over replicates. It holds fitted
models and splits fixed: differences fold by fold stand beside it, because it does not replace
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.errors import ConfigError, InputError
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics import Metric, named

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value on the data as they are, and its percentile interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Result of `bootstrap`.

    Parameters
    ----------
    metric, level, clusters : what was asked for; ``clusters`` is their number.
    systems : estimate of each system.
    differences : estimate of each later system minus the first one.
    replicates : (replicates, systems) every replicate's value.
    folds : per fold, each system's value on that fold's recordings alone.
    """

    metric: str
    level: float
    clusters: int
    systems: dict[str, Estimate]
    differences: dict[str, Estimate]
    replicates: Floats = field(repr=False)
    folds: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def fold_differences(self) -> dict[str, dict[str, float]]:
        """Per fold, each later system minus the first one."""
        first, *others = self.systems
        return {
            fold: {f"{name} - {first}": values[name] - values[first] for name in others}
            for fold, values in self.folds.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""

        def plain(estimates: dict[str, Estimate]) -> dict[str, Any]:
            return {
                name: {"value": _or_none(e.value), "interval": [_or_none(e.low), _or_none(e.high)]}
                for name, e in estimates.items()
            }

        return {
            "metric": self.metric,
            "level": self.level,
            "replicates": len(self.replicates),
            "clusters": self.clusters,
            "systems": plain(self.systems),
            "differences": plain(self.differences),
            "folds": {
                fold: {name: _or_none(value) for name, value in values.items()}
                for fold, values in self.folds.items()
            },
        }


def bootstrap(
    systems: Mapping[str, Matches | Sequence[Matches]],
    *,
    clusters: Mapping[str, str] | None = None,
    replicates: int = 1000,
    seed: int = 0,
    metric: str | Metric = "mAP",
    level: float = 0.95,
    folds: Mapping[str, str] | None = None,
    durations: Mapping[str, float] | None = None,
) -> Bootstrap:
    """Percentile intervals of one or more systems, and of their paired differences.

    Parameters
    ----------
    systems : for each name its matches, or one for each training seed; all on the same recordings.
    clusters : group of each recording; by default each recording is a cluster of its own.
    replicates, seed : number of draws and the seed of their generator.
    metric : a name such as ``mAP`` or ``AP@60``, or a function of matches and weights
        (see `bdl.evaluation.metrics`).
    level : share of replicates inside the interval.
    folds : fold of each recording, for the differences fold by fold.
    durations : seconds of each recording, for metrics of false alarms.

    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> truth = Events.of(list("abcd"), "beat", [10.0] * 4)
    >>> good = match(truth, Events.of(list("abcd"), "beat", [10.0] * 4, score=[1.0] * 4), [5.0])
    >>> half = match(truth, Events.of(list("ab"), "beat", [10.0] * 2, score=[1.0] * 2), [5.0])
    >>> result = bootstrap({"half": half, "good": good}, replicates=200)
    >>> print(result.differences["good - half"])
    0.5000 [0.0000, 1.0000]
    """
    if not systems:
        raise ConfigError("bootstrap: at least one system expected")
    if replicates < 1:
        raise ConfigError(f"bootstrap: at least one replicate expected, got {replicates}")
    if not 0 < level < 1:
        raise ConfigError(f"bootstrap: a level between 0 and 1 expected, got {level}")
    seeds = {n: [m] if isinstance(m, Matches) else [*m] for n, m in systems.items()}
    recordings = _common_recordings(seeds)
    function = named(metric, durations) if isinstance(metric, str) else metric
    cluster_of = _codes(recordings, clusters, "cluster")
    weights = draw_weights(cluster_of, replicates=replicates, seed=seed)
    whole = np.ones((1, len(recordings)))
    names = list(seeds)
    points = [_average(function, seeds[name], whole)[0] for name in names]
    values = np.stack([_average(function, seeds[name], weights) for name in names], axis=1)
    estimates = {
        name: _estimate(point, values[:, i], level)
        for i, (name, point) in enumerate(zip(names, points, strict=True))
    }
    differences = {
        f"{name} - {names[0]}": _estimate(points[i] - points[0], values[:, i] - values[:, 0], level)
        for i, name in enumerate(names)
        if i
    }
    by_fold: dict[str, dict[str, float]] = {}
    if folds is not None:
        fold_of = _codes(recordings, folds, "fold")
        labels = sorted({folds[name] for name in recordings})
        only = (fold_of == np.arange(len(labels))[:, None]).astype(np.float64)
        table = [_average(function, seeds[name], only) for name in names]
        by_fold = {
            label: {name: float(row[i]) for name, row in zip(names, table, strict=True)}
            for i, label in enumerate(labels)
        }
    return Bootstrap(
        metric if isinstance(metric, str) else str(metric),
        level,
        int(cluster_of.max()) + 1,
        estimates,
        differences,
        values,
        by_fold,
    )


def draw_weights(cluster_of: NDArray[np.integer], *, replicates: int, seed: int) -> Floats:
    """How often each recording is drawn in each replicate: (replicates, recordings).

    >>> draw_weights(np.array([0, 0, 1]), replicates=2, seed=1)
    array([[1., 1., 1.],
           [0., 0., 2.]])
    """
    size = int(cluster_of.max()) + 1
    drawn = draw(size, replicates=replicates, seed=seed)
    flat = drawn + np.arange(replicates)[:, None] * size
    counts = np.bincount(flat.ravel(), minlength=replicates * size).reshape(replicates, size)
    return counts[:, cluster_of].astype(np.float64)


def draw(size: int, *, replicates: int, seed: int) -> NDArray[np.int64]:
    """The clusters of each replicate: (replicates, size) numbers below ``size``."""
    return np.random.default_rng(seed).integers(0, size, (replicates, size))


def _average(function: Metric, seeds: list[Matches], weights: Floats) -> Floats:
    """The metric of each replicate, averaged over training seeds."""
    values: Floats = np.mean([function(matches, weights) for matches in seeds], axis=0)
    return values


def _estimate(point: float, values: Floats, level: float) -> Estimate:
    known = values[~np.isnan(values)]
    if not len(known):
        return Estimate(float(point), float("nan"), float("nan"))
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(point), float(low), float(high))


def _common_recordings(systems: dict[str, list[Matches]]) -> tuple[str, ...]:
    first: Matches | None = None
    for name, listed in systems.items():
        if not listed:
            raise ConfigError(f"bootstrap: system {name!r} has no matches")
        for matches in listed:
            first = first or matches
            if matches.recordings != first.recordings:
                differ = set(matches.recordings) ^ set(first.recordings)
                raise InputError(
                    f"bootstrap: system {name!r} is scored on other recordings than the first "
                    f"({len(differ)} differ, such as {min(differ)!r}); pairing needs the same"
                )
    assert first is not None
    return first.recordings


def _codes(
    recordings: tuple[str, ...], labels: Mapping[str, str] | None, what: str
) -> NDArray[np.int64]:
    """Number of each recording's label, labels sorted."""
    if labels is None:
        return np.arange(len(recordings))
    lacking = [name for name in recordings if name not in labels]
    if lacking:
        raise InputError(
            f"bootstrap: {len(lacking)} scored recordings have no {what}, such as {lacking[0]!r}"
        )
    return np.unique([labels[name] for name in recordings], return_inverse=True)[1]


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
