"""Paired cluster bootstrap over matches.

A replicate draws as many clusters (recordings, or groups such as patients) as there are, with
replacement, and pools them; each system is scored on the *same* draw, its seeds are averaged
within the replicate, and the confidence interval is that of percentiles over replicates. It
holds fitted models and splits fixed, so it does not replace differences per fold, which are given
beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Floats
from bdl.errors import ConfigError, InputError
from bdl.evaluation.bootstrap_result import BootstrapResult, compared_pairs
from bdl.evaluation.estimate import Estimate
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics import Metric
from bdl.evaluation.multiplicity import differences

BLOCK = 1 << 23


def bootstrap(
    systems: Mapping[str, Matches | Sequence[Matches]],
    *,
    clusters: Mapping[str, str] | None = None,
    replicates: int = 1000,
    seed: int = 0,
    metric: str | Metric = "mAP",
    level: float = 0.95,
    folds: Mapping[str, str] | None = None,
    baseline: str | None = None,
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
        Share of replicates inside the confidence interval.
    folds
        Fold of each recording, for the differences per fold.
    baseline
        The system that all others are compared with; None compares every pair.

    Returns
    -------
    BootstrapResult
        Each system and each difference, later system minus earlier one, with confidence intervals;
        those of differences also adjusted by Holm's method (`bdl.evaluation.multiplicity`).

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
        raise ConfigError(
            f"bootstrap: at least one replicate (--bootstrap) expected, got {replicates}"
        )
    if not 0 < level < 1:
        raise ConfigError(f"bootstrap: a level (--level) between 0 and 1 expected, got {level}")
    if baseline is not None and baseline not in systems:
        raise ConfigError(
            f"baseline {baseline!r} (--baseline) is none of the systems {', '.join(systems)}"
        )
    chosen = Metric.parse(metric)
    seeds = {n: [m] if isinstance(m, Matches) else [*m] for n, m in systems.items()}
    recordings = _common_recordings(seeds)
    cluster_of = group_codes(recordings, clusters, "cluster")

    def table(weights: Floats) -> Floats:
        """The metric of each replicate and system, averaged over training seeds."""
        columns = [
            np.mean([chosen.replicates(matches, weights) for matches in listed], axis=0)
            for listed in seeds.values()
        ]
        return np.stack(columns, axis=1)

    blocks = weight_blocks(cluster_of, replicates=replicates, seed=seed)
    points = table(np.ones((1, len(recordings))))
    values = np.concatenate([table(weights) for weights in blocks])
    names = list(seeds)
    pairs = compared_pairs(names, baseline)
    first, second = ([names.index(pair[side]) for pair in pairs] for side in (0, 1))
    all_values = np.concatenate([points, values])  # the data as they are, then every replicate
    changes = all_values[:, np.array(first, dtype=int)] - all_values[:, np.array(second, dtype=int)]
    listed = differences(changes[0], changes[1:], level)
    by_fold: dict[str, dict[str, float]] = {}
    if folds is not None:
        fold_of = group_codes(recordings, folds, "fold")
        labels = sorted({folds[name] for name in recordings})
        rows = table((fold_of == np.arange(len(labels))[:, None]).astype(np.float64)).tolist()
        by_fold = {
            label: dict(zip(names, row, strict=True))
            for label, row in zip(labels, rows, strict=True)
        }
    return BootstrapResult(
        chosen.name,
        level,
        int(cluster_of.max()) + 1,
        {
            name: Estimate.of_replicates(points[0, i], values[:, i], level)
            for i, name in enumerate(names)
        },
        {f"{a} - {b}": change for (a, b), change in zip(pairs, listed, strict=True)},
        values,
        by_fold,
        seeds,
        baseline,
    )


def group_codes(
    recordings: tuple[str, ...], groups: Mapping[str, str] | None, what: str = "group"
) -> NDArray[np.int64]:
    """Number of each recording's group, groups sorted by name.

    Examples
    --------
    >>> group_codes(("a", "b", "c"), {"a": "x", "b": "y", "c": "x"})
    array([0, 1, 0])
    """
    if groups is None:
        return np.arange(len(recordings))
    lacking = [name for name in recordings if name not in groups]
    if lacking:
        raise InputError(f"{len(lacking)} recordings have no {what}, such as {lacking[0]!r}")
    return np.unique([groups[name] for name in recordings], return_inverse=True)[1]


def weight_blocks(
    cluster_of: NDArray[np.integer], *, replicates: int, seed: int
) -> Iterator[Floats]:
    """How often each recording is drawn, (replicates, recordings) for some replicates at a time.

    ``BLOCK`` weights or draws at most are held at a time, so that memory does not grow with the
    number of replicates; the draws are the same for any number.
    """
    size, rng = int(cluster_of.max()) + 1, np.random.default_rng(seed)
    step = max(1, BLOCK // len(cluster_of))
    for first in range(0, replicates, step):
        rows = min(step, replicates - first)
        flat = rng.integers(0, size, (rows, size)) + np.arange(rows)[:, None] * size
        counts = np.bincount(flat.ravel(), minlength=rows * size).reshape(rows, size)
        yield counts[:, cluster_of].astype(np.float64)


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
