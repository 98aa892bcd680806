"""Status: how much of a study is done, the time left, and the scores so far.

It is read from the run directory only, so it works from another terminal or machine while the
study runs. Before the test part is opened, the scores are those on the calibration (or validation)
recordings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from bdl.study.model_fits import FitResult
from bdl.study.results import Results
from bdl.study.runner import PROCEDURES
from bdl.study.study_plan import StudyPlan
from bdl.study.study_reader import StudyReader


@dataclass(frozen=True)
class StudyStatus:
    """Progress of a study."""

    name: str
    done: dict[str, int]  # steps by kind
    total: dict[str, int]
    seconds_left: float | None  # from the steps done so far; None before the first one
    live: dict[str, list[float | None]]  # best score so far by row, per fold
    results: Results | None  # once the study is finished
    ledger: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "name": self.name,
            "done": self.done,
            "total": self.total,
            "seconds_left": self.seconds_left,
            "finished": self.results is not None,
            "live": self.live,
            "ledger": self.ledger[-5:],
        }


def status_of(url: str) -> StudyStatus:
    """Read the status of a study from its run directory."""
    study = StudyReader(url)
    protocol, ledger = study.protocol, study.ledger()
    results = None if study.get_json("results.json") is None else study.results
    plan = StudyPlan.stored(study)
    if plan is None:
        return StudyStatus(protocol.name, {}, {}, None, {}, results, ledger)
    total = {**PROCEDURES[protocol.regime].step_counts(plan), "score": 1}
    seconds: dict[str, dict[str, float]] = {}
    for entry in ledger:
        if entry["event"] == "step":
            seconds.setdefault(entry["kind"], {})[entry["step"]] = entry["seconds"]
    done = {kind: min(len(seconds.get(kind, {})), count) for kind, count in total.items()}
    return StudyStatus(
        protocol.name,
        done,
        total,
        0.0 if results else _seconds_left(seconds, done, total, ledger),
        _live(study, plan),
        results,
        ledger,
    )


def _seconds_left(
    seconds: Mapping[str, Mapping[str, float]],
    done: Mapping[str, int],
    total: Mapping[str, int],
    ledger: Sequence[dict[str, Any]],
) -> float | None:
    """Mean time of each kind of step, or of the first kind if none is done yet, per worker."""
    if not seconds:
        return None
    jobs = [entry["workers"]["jobs"] for entry in ledger if entry["event"] == "started"]
    training = mean(next(iter(seconds.values())).values())
    left = 0.0
    for kind, count in total.items():
        unknown = training if kind == "final" else 1.0
        seconds_per_step = mean(seconds[kind].values()) if kind in seconds else unknown
        left += seconds_per_step * (count - done[kind])
    return left / (jobs[-1] if jobs else 1)


def _live(study: StudyReader, plan: StudyPlan) -> dict[str, list[float | None]]:
    """Best calibration or validation score so far, by row and fold."""
    steps = PROCEDURES[plan.protocol.regime].first_steps(plan)
    live: dict[str, list[float | None]] = {}
    for row in plan.protocol.rows:
        live[row.name] = []
        for fold in range(len(plan.folds)):
            marks = [study.done(step.id) for step in steps[row.name, fold]]
            fits = [FitResult(**mark["result"]) for mark in marks if mark is not None]
            scores = [fit.score for fit in fits if fit.score is not None]
            live[row.name].append(max(scores, default=None))
    return live
