"""Status: how far a study in a directory is, how long it will still take, and what it has so far.

Read from the run directory alone, so it works from another terminal or machine while the study
runs. Before the test part is opened, the live table shows what the calibration (or validation)
recordings say; afterwards the study's own tables stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from bdl.study.protocol import Part
from bdl.study.results import Results
from bdl.study.run_directory import StudyStep
from bdl.study.run_reader import RunReader
from bdl.study.study_data import Fingerprint
from bdl.study.study_plan import StudyPlan
from bdl.study.study_reader import StudyReader


@dataclass(frozen=True)
class Status:
    """Progress of a study.

    Parameters
    ----------
    name : of the protocol.
    done, total : steps by kind.
    seconds_left : estimate from the steps done so far, None before the first one.
    live : per row the best score so far in each fold (mean over seeds), None where there is none.
    results : all figures once the study is scored.
    ledger : its last entries.
    """

    name: str
    done: dict[str, int]
    total: dict[str, int]
    seconds_left: float | None
    live: dict[str, list[float | None]]
    results: Results | None
    ledger: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "done": self.done,
            "total": self.total,
            "seconds_left": self.seconds_left,
            "finished": self.results is not None,
            "live": self.live,
            "ledger": self.ledger[-5:],
        }


def status_of(url: str) -> Status:
    """Look at a run directory."""
    run = StudyReader(url)
    protocol = run.protocol
    ledger = run.ledger()
    plain = [run.get_json(f"{name}.json") for name in ("split", "data", "models")]
    found = run.get_json("results.json")
    results = None if found is None else Results.from_dict(found)
    if any(part is None for part in plain):
        return Status(protocol.name, {}, {}, None, {}, results, ledger)
    split, data, models = plain
    parts = tuple(Part(**part) for part in split["parts"])
    plan = StudyPlan(protocol, parts, Fingerprint.from_dict(data), models)
    nested = protocol.regime == "nested"
    steps = plan.selects() if nested else plan.validates()
    first, second = ("select", "final") if nested else ("validate", "tune")
    runs = len([*plan.runs()])
    total = {first: len(steps), second: runs * len(parts) if nested else runs, "score": 1}
    spent: dict[str, dict[str, float]] = {}
    for entry in ledger:
        if entry["event"] == "step":
            spent.setdefault(entry["kind"], {})[entry["step"]] = entry["seconds"]
    done = {kind: min(len(spent.get(kind, {})), count) for kind, count in total.items()}
    return Status(
        protocol.name,
        done,
        total,
        0.0 if results else _left(spent, done, total, ledger),
        _live(run, plan, steps),
        results,
        ledger,
    )


def _left(
    spent: dict[str, dict[str, float]],
    done: dict[str, int],
    total: dict[str, int],
    ledger: Sequence[dict[str, Any]],
) -> float | None:
    """Seconds left: mean time of each kind, or of the first kind where none is done yet."""
    if not spent:
        return None
    jobs = [entry["workers"]["jobs"] for entry in ledger if entry["event"] == "started"]
    usual = mean(next(iter(spent.values())).values())
    left = 0.0
    for kind, count in total.items():
        each = mean(spent[kind].values()) if kind in spent else usual if kind == "final" else 1.0
        left += each * (count - done[kind])
    return left / (jobs[-1] if jobs else 1)


def _live(
    run: RunReader, plan: StudyPlan, steps: Sequence[StudyStep]
) -> dict[str, list[float | None]]:
    """Best calibration or validation score so far, by row and fold."""
    live: dict[str, list[float | None]] = {}
    prefixes = {step.name: step for step in steps}
    for row in plan.protocol.rows:
        scores: list[float | None] = []
        for fold in range(len(plan.parts)):
            marker = f"/{plan.slug(row)}/fold-{fold}/"
            marks = [run.done(step.id) for name, step in prefixes.items() if marker in name]
            found = [
                mark["result"]["score"]
                for mark in marks
                if mark is not None and mark["result"]["status"] == "ok"
            ]
            scores.append(max(found) if found else None)
        live[row.name] = scores
    return live
