"""Paired cluster bootstrap over matches.

A replicate draws as many clusters (recordings, or groups such as patients) as there are, with
replacement, and pools them; each system is scored on the *same* draw, its seeds are averaged
within the replicate, and the confidence interval is the percentile interval over replicates. It
holds fitted models and splits fixed, so it does not replace differences per fold, which are given
beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.errors import ConfigError, InputError
from bdl.evaluation.estimate import Estimate, plain
from bdl.evaluation.groups import group_codes
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics import Metric
from bdl.frames import Tabular

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BootstrapResult(Tabular):
    """Result of `bootstrap`.

    Parameters
    ----------
    metric
        Name of the metric.
    level
        Share of replicates inside the confidence intervals.
    clusters
        Number of clusters that replicates are drawn from.
    systems
        Estimate of each system.
    differences
        Estimate of each later system minus the first one.
    replicates
        (replicates, systems) the metric of every replicate.
    folds
        By fold, each system's metric on the recordings of that fold alone.
    matches
        Matches of each system, one for each training seed.
    """

    metric: str
    level: float
    clusters: int
    systems: dict[str, Estimate]
    differences: dict[str, Estimate]
    replicates: Floats = field(repr=False)
    folds: dict[str, dict[str, float]] = field(default_factory=dict)
    matches: dict[str, list[Matches]] = field(default_factory=dict, repr=False)

    @property
    def fold_differences(self) -> dict[str, dict[str, float]]:
        """By fold, each later system minus the first one."""
        first, *others = self.systems
        return {
            fold: {f"{name} - {first}": values[name] - values[first] for name in others}
            for fold, values in self.folds.items()
        }

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: systems, then differences."""
        rows = {**self.systems, **self.differences}
        estimates = [*rows.values()]
        return {
            "name": [*rows],
            self.metric: [estimate.value for estimate in estimates],
            "low": [estimate.low for estimate in estimates],
            "high": [estimate.high for estimate in estimates],
        }

    def text(self, cluster: str = "cluster") -> str:
        """Heading, systems, differences and differences per fold, one per line.

        ``cluster`` is what a replicate draws: a recording or a group.
        """
        estimates = {**self.systems, **self.differences}
        width = max(map(len, estimates))
        folds = [
            f"fold {fold}: {name:<{width}}  {change:+.4f}"
            for fold, changes in self.fold_differences.items()
            for name, change in changes.items()
        ]
        heading = (
            f"{self.metric} with its {self.level:.0%} confidence interval: "
            f"{len(self.replicates):,} bootstrap replicates over {self.clusters:,} {cluster}s, "
            "models held fixed"
        )
        rows = [f"{name:<{width}}  {estimate}" for name, estimate in estimates.items()]
        return "\n".join([heading, *rows, *folds])

    def __str__(self) -> str:
        return self.text()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "metric": self.metric,
            "level": self.level,
            "replicates": len(self.replicates),
            "clusters": self.clusters,
            "systems": {name: estimate.to_dict() for name, estimate in self.systems.items()},
            "differences": {name: e.to_dict() for name, e in self.differences.items()},
            "folds": {
                fold: {name: plain(value) for name, value in values.items()}
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
) -> BootstrapResult:
    """Confidence intervals of one or more systems, and of their paired differences.

    Parameters
    ----------
    systems
        For each name its matches, or one for each training seed; all on the same recordings.
    clusters
        Group of each recording. By default each recording is a cluster of its own.
    replicates, seed
        Number of draws and the seed of their generator.
    metric
        A metric, or its name such as ``mAP`` or ``AP@60`` (see `bdl.evaluation.metrics`).
    level
        Share of replicates inside the interval.
    folds
        Fold of each recording, for the differences per fold.

    Examples
    --------
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
    chosen = Metric.parse(metric)
    seeds = {n: [m] if isinstance(m, Matches) else [*m] for n, m in systems.items()}
    recordings = _common_recordings(seeds)
    cluster_of = group_codes(recordings, clusters, "cluster")
    weights = draw_weights(cluster_of, replicates=replicates, seed=seed)
    whole = np.ones((1, len(recordings)))
    names = list(seeds)
    points = [_average(chosen, seeds[name], whole)[0] for name in names]
    values = np.stack([_average(chosen, seeds[name], weights) for name in names], axis=1)
    estimates = {
        name: Estimate.of_replicates(point, values[:, i], level)
        for i, (name, point) in enumerate(zip(names, points, strict=True))
    }
    differences = {
        f"{name} - {names[0]}": Estimate.of_replicates(
            points[i] - points[0], values[:, i] - values[:, 0], level
        )
        for i, name in enumerate(names)
        if i
    }
    by_fold: dict[str, dict[str, float]] = {}
    if folds is not None:
        fold_of = group_codes(recordings, folds, "fold")
        labels = sorted({folds[name] for name in recordings})
        only = (fold_of == np.arange(len(labels))[:, None]).astype(np.float64)
        table = [_average(chosen, seeds[name], only) for name in names]
        by_fold = {
            label: {name: float(row[i]) for name, row in zip(names, table, strict=True)}
            for i, label in enumerate(labels)
        }
    clusters_drawn = int(cluster_of.max()) + 1
    return BootstrapResult(
        chosen.name, level, clusters_drawn, estimates, differences, values, by_fold, seeds
    )


def draw_weights(cluster_of: NDArray[np.integer], *, replicates: int, seed: int) -> Floats:
    """How often each recording is drawn in each replicate: (replicates, recordings)."""
    size = int(cluster_of.max()) + 1
    drawn = draw(size, replicates=replicates, seed=seed)
    flat = drawn + np.arange(replicates)[:, None] * size
    counts = np.bincount(flat.ravel(), minlength=replicates * size).reshape(replicates, size)
    return counts[:, cluster_of].astype(np.float64)


def draw(size: int, *, replicates: int, seed: int) -> NDArray[np.int64]:
    """The clusters of each replicate: (replicates, size) numbers below ``size``."""
    return np.random.default_rng(seed).integers(0, size, (replicates, size))


def _average(metric: Metric, seeds: list[Matches], weights: Floats) -> Floats:
    """The metric of each replicate, averaged over training seeds."""
    values: Floats = np.mean([metric.values(matches, weights) for matches in seeds], axis=0)
    return values


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
