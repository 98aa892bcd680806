"""Scorings of ``bdl score`` beside AP: collar F-measure, seizures, screening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bdl.cli.score_tables import Setup
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl.evaluation import Tally
    from bdl.events import Events
    from bdl.intervals import IntervalType


@dataclass(frozen=True)
class OtherScore:
    """A result as plain data for JSON, and as text."""

    plain: dict[str, Any]
    text: str


def collar_scores(
    setup: Setup,
    path: Path,
    collar: float,
    types: tuple[IntervalType, ...],
    offset_share: float | None,
    threshold: float,
) -> OtherScore:
    """F-measure with a collar: of events by type, or of intervals where types are given."""
    from bdl.evaluation.collar import collar_f, interval_collar_f
    from bdl.pairing import pair

    truth, detections = _events(setup, path, types)
    if types:
        above = detections.above(threshold)
        tallies = {
            kind.name: interval_collar_f(
                pair(truth, kind),
                pair(above, kind),
                collar=collar,
                offset_share=offset_share or 0.0,
            )
            for kind in types
        }
    elif offset_share is not None:
        raise ConfigError("--offset-share is about interval ends: name them with --interval")
    else:
        tallies = collar_f(truth, detections, collar, threshold=threshold)
    rows = {name: _rates(tally) for name, tally in tallies.items()}
    head = f"F-measure, collar {collar:g}, largest one-to-one pairing"
    return OtherScore({"collar": collar, "types": rows}, "\n".join([head, *_table(rows)]))


def seizure_scores(
    setup: Setup, path: Path, types: tuple[IntervalType, ...], threshold: float, any_overlap: bool
) -> OtherScore:
    """Event and sample scores of intervals with false positives per day."""
    from bdl.evaluation.interval_overlap import (
        ANY_OVERLAP,
        EventRule,
        event_overlap,
        sample_overlap,
    )
    from bdl.formats.events.annotation_format import found_types
    from bdl.pairing import pair

    types = types or found_types(setup.truth)
    if not types:
        raise ConfigError(
            "--scoring seizures needs intervals: name the event types of their ends, as in "
            "--interval seizure=onset,offset"
        )
    truth, detections = _events(setup, path, types)
    if setup.unit != "seconds":
        raise ConfigError("--scoring seizures works in seconds: give --unit seconds and --period")
    durations = setup.rules["durations"]
    if not durations:
        raise ConfigError(
            "--scoring seizures needs the duration of every recording: give --recordings, a table "
            "with the columns recording and duration (seconds)"
        )
    rule = ANY_OVERLAP if any_overlap else EventRule()
    rows: dict[str, dict[str, float | None]] = {}
    unpaired = 0
    for kind in types:
        true, detected = pair(truth, kind), pair(detections, kind, threshold=threshold)
        unpaired += detected.unpaired
        rows[f"{kind.name}, events"] = event_overlap(true, detected, durations, rule).to_dict()
        rows[f"{kind.name}, samples"] = sample_overlap(true, detected, durations).to_dict()
    lines = [
        "intervals that overlap (" + ("any overlap" if any_overlap else "SzCORE rules") + ")",
        *_table(rows),
    ]
    if unpaired:
        lines.append(f"left out: {unpaired:,} detected ends that belong to no interval")
    plain = {
        "rule": rule.model_dump(mode="json"),
        "events": {kind.name: rows[f"{kind.name}, events"] for kind in types},
        "samples": {kind.name: rows[f"{kind.name}, samples"] for kind in types},
        "unpaired": unpaired,
    }
    return OtherScore(plain, "\n".join(lines))


def screening_scores(
    setup: Setup, path: Path, tolerances: list[float], rates: Sequence[float]
) -> OtherScore:
    """Sensitivity at given numbers of false alarms per day, by type and tolerance."""
    from bdl.evaluation import screening
    from bdl.evaluation.event_score import EVENT_FREE
    from bdl.evaluation.metrics.metric import number

    matches = setup.score(setup.detections(path), tolerances).matches
    plain: dict[str, Any] = {}
    lines = [
        f"sensitivity at false alarms per day; {EVENT_FREE[matches.event_free]}",
        f"{'type':<16} {'tolerance':>10} " + " ".join(f"{number(rate):>8}" for rate in rates),
    ]
    for name in matches.types:
        for tolerance in matches.tolerances:
            curve = screening(matches, name, tolerance)
            values = {number(rate): curve.sensitivity_at(rate) for rate in rates}
            plain.setdefault(name, {})[number(tolerance)] = {
                "sensitivity_at": values,
                **{column: array.tolist() for column, array in curve.columns().items()},
            }
            texts = " ".join(f"{value:8.4f}" for value in values.values())
            lines.append(f"{name:<16} {number(tolerance):>10} {texts}")
    return OtherScore({"event_free": matches.event_free, "types": plain}, "\n".join(lines))


def _events(setup: Setup, path: Path, types: tuple[IntervalType, ...]) -> tuple[Events, Events]:
    """Truth and detections of the scored recordings and types."""
    truth, detections = setup.truth, setup.detections(path, scored=False)
    rules = setup.rules
    if rules["regions"] is not None:
        raise ConfigError("--regions has no effect on this scoring")
    if rules["types"] is not None and types:
        raise ConfigError("--type and --interval contradict each other: give one of them")
    chosen = {"types": rules["types"], "recordings": rules["recordings"]}
    return truth.select(**chosen), detections.select(**chosen)


def _rates(tally: Tally[float]) -> dict[str, float | None]:
    from bdl.evaluation.estimate import plain

    return {
        "hits": tally.hits,
        "detections": tally.detections,
        "truths": tally.truths,
        "precision": plain(tally.precision),
        "recall": plain(tally.recall),
        "F1": plain(tally.f1),
    }


def _table(rows: dict[str, dict[str, float | None]]) -> list[str]:
    """Rows of numbers under their names."""
    names = [*next(iter(rows.values()), {})]
    heads = [name.replace("_per_day", "/day").replace("false_positives", "false") for name in names]
    width = max([16, *map(len, rows)])
    lines = [f"{'type':<{width}} " + " ".join(f"{head:>11}" for head in heads)]
    for label, row in rows.items():
        texts = " ".join(f"{_text(value):>11}" for value in row.values())
        lines.append(f"{label:<{width}} {texts}")
    return lines


def _text(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else f"{value:,}"
