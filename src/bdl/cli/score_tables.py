"""The tables that scoring commands read, converted to one unit.

A table with Kaggle's columns is in steps, every other one in seconds; an extra table may name all
scored recordings with their duration (seconds), group and fold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from bdl.cli import console
from bdl.cli.numbers import SECONDS
from bdl.cli.option_types import parse_pairs
from bdl.errors import ConfigError, InputError

if TYPE_CHECKING:
    from bdl.arrays import Floats
    from bdl.evaluation import Regions, Score, ScoringRules
    from bdl.events import Events
    from bdl.formats.table_file import TableFile
    from bdl.intervals import IntervalType


@dataclass(frozen=True)
class Rules:
    """Options that say what is scored, and in which unit."""

    unit: Annotated[
        Literal["seconds", "steps"] | None,
        Option(help="Unit of the tolerances [default: the tables' unit]."),
    ] = None
    period: Annotated[
        float | None, Option(parser=SECONDS, help="Seconds per step, needed where units are mixed.")
    ] = None
    event_free: Annotated[
        Literal["ignore", "count"] | None,
        Option(
            help="Detections in recordings without annotated events: ignore them (the rule of the "
            "benchmarks) or count them as false alarms (screening). If given, recordings that only "
            "the detections name have no events [default: ignore, and such a recording is an "
            "error]."
        ),
    ] = None
    unknown: Annotated[
        Literal["error", "ignore"],
        Option(help="Detections in recordings, or of types, that no option or table names."),
    ] = "error"
    undetected: Annotated[
        Literal["count", "ignore"] | None,
        Option(
            help="Recordings with annotated events but without any detection: count the events as "
            "missed, or leave the recordings out, if they were not processed [default: count, and "
            "warn]."
        ),
    ] = None
    types: Annotated[
        list[str] | None, Option("--type", help="Event type to score; may be repeated.")
    ] = None
    recordings: Annotated[
        Path | None,
        Option(
            help="Table of the scored recordings: recording and, where known, duration (s), group, "
            "fold. Durations give false alarms per day."
        ),
    ] = None
    regions: Annotated[
        Path | None, Option(help="Table of scored regions: recording, start, end (in --unit).")
    ] = None
    column: Annotated[
        list[str] | None,
        Option(help="Column of the table of events, ROLE=NAME, such as time=Bedtime."),
    ] = None
    detection_column: Annotated[
        list[str] | None,
        Option(help="Column of the tables of detections, ROLE=NAME, such as score=p."),
    ] = None


@dataclass(frozen=True)
class Setup:
    """Everything that is read before the detections, in ``unit``."""

    truth: Events
    truth_path: Path
    truth_unit: str  # of the table of annotated events
    unit: str
    period: float | None
    recording_rows: Mapping[str, Mapping[str, str]]  # of the table of recordings, by id
    rules: ScoringRules
    detection_columns: Mapping[str, str]
    ends: tuple[IntervalType, ...]  # names of the ends of intervals, also in tables of intervals

    @classmethod
    def of(
        cls,
        truth: Path,
        options: Rules,
        intervals: tuple[IntervalType, ...] = (),
        ends: tuple[IntervalType, ...] = (),
    ) -> Setup:
        """Read everything but the detections; ``intervals`` are one false alarm each."""
        ends = ends or intervals
        events, table_unit = read(truth, parse_pairs(options.column or [], "--column"), ends)
        console.err.notes(events.notes)
        unit = options.unit or table_unit
        rows = {} if options.recordings is None else _recording_rows(options.recordings)
        # The option --event-free implies that recordings without events may exist.
        lenient = options.event_free is not None and not rows and options.unknown == "error"
        regions = None if options.regions is None else _regions(options.regions)
        durations = {n: _number(row["duration"]) for n, row in rows.items() if "duration" in row}
        if regions is not None:
            # Regions may be in steps of unknown length: then durations are not known.
            seconds = 1.0 if unit == "seconds" else options.period
            durations = {n: seconds * size for n, size in regions.durations.items() if seconds}
        rules: ScoringRules = {
            "types": options.types or None,
            "event_free": options.event_free or "ignore",
            "recordings": [*rows] or None,
            "regions": regions,
            "unknown": "event-free" if lenient else options.unknown,
            "durations": durations,
            "intervals": intervals or None,
            "undetected": options.undetected,
        }
        events = convert(events, table_unit, unit, options.period, truth)
        columns = parse_pairs(options.detection_column or [], "--detection-column")
        return cls(events, truth, table_unit, unit, options.period, rows, rules, columns, ends)

    def detections(self, paths: Sequence[Path], *, scored: bool = True) -> list[Events]:
        """Tables of detections in the unit of this setup; ``scored`` ones need scores."""
        tables = [self._read(path, scored) for path in paths]
        regions_in_steps = self.rules["regions"] is not None and self.unit == "steps"
        units = {self.unit, self.truth_unit, *(unit for _, unit in tables)}
        if self.period is not None and len(units) == 1 and not regions_in_steps:
            raise ConfigError(f"--period has no effect: all tables are in {self.unit}")
        return [
            convert(events, unit, self.unit, self.period, path)
            for path, (events, unit) in zip(paths, tables, strict=True)
        ]

    def _read(self, path: Path, scored: bool) -> tuple[Events, str]:
        """A table of detections and its unit."""
        try:
            events, unit = read(path, self.detection_columns, self.ends)
            console.err.notes(events.notes)
            events = _with_ends_of(self.truth, events, path)
        except InputError as error:
            message = re.sub(r"--column\b", "--detection-column", str(error))
            raise InputError(message) from error
        if scored and events.score is None:
            raise InputError(
                f"{path}: detections need a column 'score' (--detection-column score=NAME); "
                "without scores, use --metric mF1, or `bdl score`, which then counts all of them"
            )
        return events, unit

    def score(self, events: Events, tolerances: list[float]) -> Score:
        """The scores of one table of detections."""
        from bdl.evaluation import score

        return score(self.truth, events, tolerances, **self.rules)

    def folds(self) -> dict[str, str] | None:
        """Fold of each recording, where the table of recordings has that column."""
        rows = self.recording_rows.items()
        return {name: row["fold"] for name, row in rows if "fold" in row} or None

    def groups(self) -> dict[str, str]:
        """Group of each recording, from the table of recordings or that of events."""
        rows = [*self.recording_rows.items()]
        if not rows and self.truth_path.is_file():
            rows += _rows(self.truth_path, ("group",))
        groups = {name: row["group"] for name, row in rows if row.get("group")}
        if not groups:
            raise ConfigError(
                "--cluster group needs a column 'group' in the table of --recordings or of --truth"
            )
        return groups


def _with_ends_of(truth: Events, detections: Events, path: Path) -> Events:
    """Detected intervals with the names that the annotated events give to their ends."""
    from bdl.events import Events
    from bdl.formats.events.annotation_format import found_types
    from bdl.intervals import likely_intervals

    annotated = likely_intervals(truth.types)
    detected = [kind for kind in found_types(detections) if kind.onset not in truth.types]
    if len(annotated) != 1 or len(detected) != 1:
        return detections
    names = {detected[0].onset: annotated[0].onset, detected[0].offset: annotated[0].offset}
    note = f"{path}: the ends of {detected[0].name!r} are taken as {' and '.join(names.values())}"
    console.err.notes([note])
    types = [names.get(name, name) for name in detections.event]
    return Events.of(
        detections.recording, types, detections.time, detections.score, detections.issued
    )


def read(
    path: Path, columns: Mapping[str, str], intervals: tuple[IntervalType, ...]
) -> tuple[Events, str]:
    """Events of a table and their unit; rows without time or score are dropped and counted."""
    from bdl.formats.event_files import read_events, recognise

    format = recognise(path, {"columns": columns or None})
    # A period of one leaves steps as they are.
    defaults = {"period": 1.0, "incomplete": "drop", "intervals": intervals or None}
    return read_events(path, format=format, defaults=defaults), format.unit


def convert(events: Events, unit: str, target: str, period: float | None, path: Path) -> Events:
    """Events with their times in the target unit; two units need the period of a step."""
    if unit == target:
        return events
    if period is None:
        raise ConfigError(
            f"mixed units: {path} is in {unit}, the tolerances or the other table in {target}; "
            "give --period, the seconds of one step"
        )

    # Nine digits: a quotient such as 0.3 / 0.1 must not miss its step by the last bit.
    def converted(times: Floats) -> Floats:
        return times * period if target == "seconds" else (times / period).round(9)

    issued = None if events.issued is None else converted(events.issued)
    return replace(events, time=converted(events.time), issued=issued)


def _recording_rows(path: Path) -> dict[str, dict[str, str]]:
    """The row of each recording in a table of recordings."""
    recordings: dict[str, dict[str, str]] = {}
    for name, row in _rows(path, ("duration", "group", "fold")):
        if name in recordings:
            raise InputError(
                f"--recordings {path}: recording {name!r} is named twice; one row per recording "
                "expected"
            )
        recordings[name] = row
    if not recordings:
        raise InputError(f"{path}: the table names no recordings")
    return recordings


def _regions(path: Path) -> Regions:
    import pyarrow as pa

    from bdl.evaluation import Regions

    source, key = _open(path)
    if not {"start", "end"} <= {*source.columns}:
        raise InputError(
            f"--regions {path}: columns {key}, start and end expected, it has "
            f"{', '.join(source.columns)}"
        )
    table = pa.Table.from_batches(source.batches([key, "start", "end"]))
    return Regions.from_frame(table, recording=key, source=str(path))


def _rows(path: Path, names: tuple[str, ...]) -> list[tuple[str, dict[str, str]]]:
    """Recording and those of the named columns that exist, of each row, as text."""
    source, key = _open(path)
    columns = [name for name in names if name in source.columns]
    rows = []
    for batch in source.batches([key, *columns]):
        for row in batch.to_pylist():
            texts = {name: str(row[name]) for name in columns if row[name] is not None}
            rows.append((str(row[key]), texts))
    return rows


def _open(path: Path) -> tuple[TableFile, str]:
    """A table, and its column of recordings."""
    from bdl.formats.recordings.table_format import open_table

    source = open_table(path)
    key = "series_id" if "series_id" in source.columns else "recording"
    if key not in source.columns:
        raise InputError(f"{path}: no column 'recording'; it has {', '.join(source.columns)}")
    return source, key


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"duration: a number expected, got {text!r}") from None
