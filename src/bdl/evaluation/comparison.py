"""Comparison of systems: every system scored on the same recordings, with paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from bdl.errors import ConfigError
from bdl.evaluation.bootstrap_result import BootstrapResult
from bdl.evaluation.bootstrapping import bootstrap
from bdl.evaluation.coverage import ScoringRules, matching_rules, warn_of_undetected, without
from bdl.evaluation.given_events import as_events
from bdl.evaluation.matching import all_recordings, match
from bdl.evaluation.metrics import Metric
from bdl.events import Events
from bdl.frames import Frame


def compare(
    truth: Events | Frame,
    systems: Mapping[str, Events | Frame | Sequence[Events | Frame]],
    tolerances: Sequence[float],
    *,
    metric: str | Metric = "mAP",
    clusters: Mapping[str, str] | None = None,
    replicates: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    folds: Mapping[str, str] | None = None,
    baseline: str | None = None,
    **rules: Unpack[ScoringRules],
) -> BootstrapResult:
    """Compare two or more systems by a paired bootstrap over recordings or groups.

    Parameters
    ----------
    truth, tolerances, **rules
        As in `bdl.evaluation.score`.
    systems
        For each name the detections of the system (`Events` or a data frame), or a list of one
        table for each training seed.
    metric, clusters, replicates, seed, level, folds, baseline
        As in `bdl.evaluation.bootstrap`.

    Returns
    -------
    BootstrapResult
        The metric of each system, and of each pair the later system minus the earlier one (or each
        system minus the ``baseline``), with confidence intervals of their own and adjusted for the
        number of differences.

    Examples
    --------
    >>> truth = Events.of(list("abcd"), "beat", [10.0] * 4)
    >>> late = Events.of(list("abcd"), "beat", [16.0, 16.0, 10.0, 10.0], score=[1.0] * 4)
    >>> good = Events.of(list("abcd"), "beat", [10.0] * 4, score=[1.0] * 4)
    >>> result = compare(truth, {"late": late, "good": good}, [5.0], replicates=200)
    >>> print("\\n".join(str(result).splitlines()[2:]))
    system     mAP            95% CI
    late    0.2500  [0.0000, 1.0000]
    good    1.0000  [1.0000, 1.0000]
    difference      mAP            95% CI       p
    good - late  0.7500  [0.0000, 1.0000]  0.1393
    """
    if len(systems) < 2:
        raise ConfigError("compare: at least two systems expected; `score` is for one")
    true = as_events(truth, "table of annotated events")
    tables = {
        name: [as_events(table, f"detections of {name}") for table in _seeds(given)]
        for name, given in systems.items()
    }
    every = [table for seeds in tables.values() for table in seeds]
    matching, lost = matching_rules(true, every, rules)
    if matching.get("unknown") == "event-free":  # every system on the recordings of all of them
        matching["recordings"] = all_recordings(true, every, matching)
    matches = {
        name: [without(match(true, table, tolerances, **matching), lost, true) for table in seeds]
        for name, seeds in tables.items()
    }
    warn_of_undetected(matches, rules)
    return bootstrap(
        matches, clusters=clusters, replicates=replicates, seed=seed, metric=metric, level=level,
        folds=folds, baseline=baseline,
    )  # fmt: skip


def _seeds(given: Events | Frame | Sequence[Events | Frame]) -> Sequence[Events | Frame]:
    """One table for each training seed."""
    return given if isinstance(given, (list, tuple)) else [given]
