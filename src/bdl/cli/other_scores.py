"""Scorings of ``bdl score`` other than AP: collar F-measure, seizures, screening, heart beats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bdl.cli import console
from bdl.cli.option_types import parse_pairs
from bdl.cli.options import interval_types
from bdl.cli.score_tables import Setup
from bdl.cli.scoring_options import OtherScoring
from bdl.errors import ConfigError
from bdl.evaluation.estimate import plain as finite
from bdl.text_tables import number_text, text_table

if TYPE_CHECKING:
    from bdl.evaluation import Tally
    from bdl.events import Events
    from bdl.intervals import IntervalType


@dataclass(frozen=True)
class OtherScore:
    """A result as plain data for JSON, and as text."""

    plain: dict[str, Any]
    text: str


def collar_scores(setup: Setup, path: Path, options: OtherScoring, threshold: float) -> OtherScore:
    """F-measure with a collar: of events by type, or of intervals where types are given."""
    from bdl.evaluation.collar import collar_f, interval_collar_f
    from bdl.pairing import pair

    types, collar = interval_types(options.interval), options.collar or 0.0
    truth, detections, header = _events(setup, path, types, threshold)
    if types:
        above = detections.above(threshold)
        tallies = {
            kind.name: interval_collar_f(
                pair(truth, kind),
                pair(above, kind),
                collar=collar,
                offset_share=options.offset_share or 0.0,
            )
            for kind in types
        }
    elif options.offset_share is not None:
        raise ConfigError("--offset-share is about interval ends: name them with --interval")
    else:
        tallies = collar_f(truth, detections, collar, threshold=threshold)
    rows = {name: _rates(tally) for name, tally in tallies.items()}
    head = f"F-measure, collar {collar:g}, largest one-to-one pairing"
    return OtherScore(
        {"collar": collar, **header.plain, "types": rows},
        "\n".join([head, header.text, *_table(rows)]),
    )


def seizure_scores(setup: Setup, path: Path, options: OtherScoring, threshold: float) -> OtherScore:
    """Event and sample scores of intervals with false positives per day."""
    from bdl.evaluation.interval_overlap import (
        ANY_OVERLAP,
        EventRule,
        event_overlap,
        sample_overlap,
    )
    from bdl.formats.events.annotation_format import found_types
    from bdl.pairing import pair

    types = interval_types(options.interval) or found_types(setup.truth)
    if not types:
        raise ConfigError(
            "--scoring seizures needs intervals: name the event types of their ends, as in "
            "--interval seizure=onset,offset"
        )
    truth, detections, header = _events(setup, path, types, threshold)
    if setup.unit != "seconds":
        raise ConfigError("--scoring seizures works in seconds: give --unit seconds and --period")
    durations = setup.rules["durations"]
    if not durations:
        raise ConfigError(
            "--scoring seizures needs the duration of every recording: give --recordings, a table "
            "with the columns recording and duration (seconds)"
        )
    rule = ANY_OVERLAP if options.any_overlap else EventRule()
    rows: dict[str, dict[str, float | None]] = {}
    unpaired = 0
    for kind in types:
        annotated, detected = pair(truth, kind), pair(detections, kind, threshold=threshold)
        unpaired += detected.unpaired
        rows[f"{kind.name}, events"] = event_overlap(annotated, detected, durations, rule).to_dict()
        rows[f"{kind.name}, samples"] = sample_overlap(annotated, detected, durations).to_dict()
    lines = [
        f"intervals that overlap ({'any overlap' if options.any_overlap else 'SzCORE rules'})",
        header.text,
        *_table(rows),
    ]
    if rule.longest is not None:
        lines.append(
            f"a false interval counts once per {rule.longest:g} s of its length; "
            "--any-overlap counts it once"
        )
    if unpaired:
        lines.append(f"left out: {unpaired:,} detected ends that belong to no interval")
    plain = {
        "rule": rule.model_dump(mode="json"),
        **header.plain,
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
    from bdl.evaluation.coverage import undetected_text
    from bdl.evaluation.event_score import EVENT_FREE
    from bdl.evaluation.metrics.metric import number

    [detections] = setup.detections([path])
    matches = setup.score(detections, tolerances).matches
    plain: dict[str, Any] = {}
    rows: list[tuple[str, ...]] = []
    for name in matches.types:
        for tolerance in matches.tolerances:
            curve = screening(matches, name, tolerance)
            values = {number(rate): finite(curve.sensitivity_at(rate)) for rate in rates}
            thresholds = {number(rate): curve.threshold_at(rate) for rate in rates}
            plain.setdefault(name, {})[number(tolerance)] = {
                "sensitivity_at": values,
                "threshold_at": {rate: finite(score) for rate, score in thresholds.items()},
                **{
                    column: [finite(value) for value in array.tolist()]
                    for column, array in curve.columns().items()
                },
            }
            for rate, value in values.items():
                score = number_text(finite(thresholds[rate]), ".4g")
                row = (name, number(tolerance), f"up to {rate}", number_text(value), score)
                rows.append(row)
    lines = [f"sensitivity at false alarms per day; {EVENT_FREE[matches.event_free]}"]
    lines += filter(None, [undetected_text(matches)])
    heads = ("type", "tolerance", "false/day", "sensitivity", "threshold")
    columns = {head: [row[place] for row in rows] for place, head in enumerate(heads)}
    table = text_table(columns, width=console.width())
    header = {"event_free": matches.event_free, "undetected": [*matches.undetected]}
    return OtherScore({**header, "types": plain}, "\n".join([*lines, *table]))


def beat_scores(setup: Setup, path: Path, options: OtherScoring, threshold: float) -> OtherScore:
    """Beat-by-beat comparison of heart beats by AAMI EC57."""
    from bdl.evaluation.beat_by_beat import LEARNING, WINDOW, beat_by_beat, beats_only

    beats = parse_pairs(options.beat or [], "--beat")
    window = WINDOW if options.match_window is None else options.match_window
    learning = LEARNING if options.learning_period is None else options.learning_period
    if setup.unit != "seconds":
        raise ConfigError("--scoring aami works in seconds: give --unit seconds and --period")
    if setup.rules["types"] is not None:
        raise ConfigError("--type has no effect with --scoring aami, which scores all beats")
    truth, detections, header = _events(
        setup, path, (), threshold, lambda events: beats_only(events, beats)
    )
    above = detections.above(threshold)
    result = beat_by_beat(truth, above, window=window, learning=learning, beats=beats)
    head = (
        f"beat-by-beat comparison (AAMI EC57), in percent: match window {window:g} s, the first "
        f"{learning:g} s left out"
    )
    plain = {"window": window, "learning": learning, **header.plain, **result.to_dict()}
    return OtherScore(plain, "\n".join([head, header.text, result.text(console.width())]))


def _events(
    setup: Setup,
    path: Path,
    types: tuple[IntervalType, ...],
    threshold: float,
    relevant: Callable[[Events], Events] = lambda events: events,
) -> tuple[Events, Events, OtherScore]:
    """Annotated events and detections of the scored recordings and types, and a header on both.

    ``relevant`` selects the events whose recordings and types are checked.
    """
    from bdl.evaluation.coverage import undetected_text

    rules = setup.rules
    if rules["regions"] is not None:
        raise ConfigError("--regions has no effect on this scoring")
    if rules["types"] is not None and types:
        raise ConfigError("--type and --interval contradict each other: give one of them")
    [detections] = setup.detections([path], scored=False)
    # Matching, at any tolerance, checks recordings and types.
    checked = replace(setup, truth=relevant(setup.truth), rules={**rules, "event_free": "count"})
    matches = checked.score(relevant(detections), [1.0]).matches
    lowest, left_out = finite(threshold), matches.left_out.lines()
    counted = "all detections" if lowest is None else f"detections with score >= {lowest:g}"
    lines = [counted, *filter(None, [undetected_text(matches)])]
    lines += [f"left out: {line}" for line in left_out]
    plain = {"threshold": lowest, "undetected": [*matches.undetected], "left_out": left_out}
    scored = rules["recordings"]
    if matches.left_out.recordings_without_detections:
        scored = matches.recordings
    elif scored is None and rules["unknown"] == "ignore":
        scored = setup.truth.recordings
    selection = {"types": rules["types"], "recordings": scored}
    header = OtherScore(plain, "\n".join(lines))
    return setup.truth.select(**selection), detections.select(**selection), header


def _rates(tally: Tally[float]) -> dict[str, float | None]:
    return {
        "hits": tally.hits,
        "detections": tally.detections,
        "truths": tally.truths,
        "precision": finite(tally.precision),
        "recall": finite(tally.recall),
        "F1": finite(tally.f1),
    }


def _table(rows: dict[str, dict[str, float | None]]) -> list[str]:
    """Rows of numbers under their names."""
    columns = {"type": [*rows]}
    for name in next(iter(rows.values()), {}):
        head = name.replace("_per_day", "/day").replace("false_positives", "false")
        head = head.replace("truths", "events")
        values = [row[name] for row in rows.values()]
        columns[head] = [number_text(v, ".4f" if isinstance(v, float) else ",") for v in values]
    return text_table(columns, width=console.width())
