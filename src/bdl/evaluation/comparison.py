"""Comparison of systems: every system scored on the same recordings, with paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from bdl.errors import ConfigError
from bdl.evaluation.bootstrapping import BootstrapResult, bootstrap
from bdl.evaluation.matching import MatchingRules, all_recordings, match
from bdl.evaluation.metrics import Metric
from bdl.events import Events


def compare(
    truth: Events,
    systems: Mapping[str, Events | Sequence[Events]],
    tolerances: Sequence[float],
    *,
    metric: str | Metric = "mAP",
    clusters: Mapping[str, str] | None = None,
    replicates: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    folds: Mapping[str, str] | None = None,
    **rules: Unpack[MatchingRules],
) -> BootstrapResult:
    """Compare two or more systems by a paired bootstrap over recordings or groups.

    Parameters
    ----------
    truth, tolerances, **rules
        As in `bdl.evaluation.match`.
    systems
        For each name the detections of the system, or one table for each training seed.
    metric, clusters, replicates, seed, level, folds
        As in `bdl.evaluation.bootstrap`.

    Returns
    -------
    BootstrapResult
        The metric of each system, and each later system minus the first, with confidence
        intervals.

    Examples
    --------
    >>> truth = Events.of(list("abcd"), "beat", [10.0] * 4)
    >>> good = Events.of(list("abcd"), "beat", [10.0] * 4, score=[1.0] * 4)
    >>> half = Events.of(list("ab"), "beat", [10.0] * 2, score=[1.0] * 2)
    >>> result = compare(truth, {"half": half, "good": good}, [5.0], replicates=200)
    >>> print("\\n".join(str(result).splitlines()[1:]))
    half         0.5000 [0.0000, 1.0000]
    good         1.0000 [1.0000, 1.0000]
    good - half  0.5000 [0.0000, 1.0000]
    """
    if len(systems) < 2:
        raise ConfigError("compare: at least two systems expected; `score` is for one")
    tables = {n: [t] if isinstance(t, Events) else [*t] for n, t in systems.items()}
    if rules.get("unknown") == "event-free":  # every system on the recordings of all of them
        every = (table for seeds in tables.values() for table in seeds)
        rules["recordings"] = all_recordings(truth, every, rules)
    matches = {
        name: [match(truth, detections, tolerances, **rules) for detections in seeds]
        for name, seeds in tables.items()
    }
    return bootstrap(
        matches, clusters=clusters, replicates=replicates, seed=seed, metric=metric, level=level,
        folds=folds,
    )  # fmt: skip
