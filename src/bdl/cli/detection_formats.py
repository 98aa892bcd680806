"""Event formats that ``bdl detect`` and ``bdl decode`` write besides our own table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl.cli.generated_options import Fields
from bdl.errors import ConfigError, some
from bdl.events import Events
from bdl.formats.events import EventFormat
from bdl.formats.recordings import RecordingFormat
from bdl.intervals import IntervalType
from bdl.recording import Recordings
from bdl.sampling import nearest_sample

if TYPE_CHECKING:
    from bdl.cli.detection_table import DetectionTable
    from bdl.formats.densities import DensityEntry

# Options that say how events are read; scores are always left out where a format has none.
_OTHER = ("columns", "codes", "incomplete", "labels", "drop_scores")
_SHARED = {name for kind in RecordingFormat.kinds().values() for name in kind.model_fields}
WRITING_OPTIONS = Fields(EventFormat, without=(*_OTHER, *_SHARED))


def detection_format(name: str | None, options: Mapping[str, Any], out: Path) -> EventFormat | None:
    """Return the chosen event format, its output checked; None for the table of detections."""
    from bdl.formats.event_files import parse_format
    from bdl.formats.format_options import check_options
    from bdl.formats.outputs import check_output

    if name is None or name == "bdl":
        if options:
            raise ConfigError(
                f"{', '.join(sorted(options))}: options of event formats, which have no effect "
                "without --to"
            )
        return None
    format = parse_format(name, options)
    check_options(options, format)
    if not format.writes():
        format.write(Events.empty(), out)  # raises an error that lists the formats
    check_output(out, folder=format.writes_folder(out))
    return format


def write_detections(
    format: EventFormat,
    table: DetectionTable,
    detections: Events,
    intervals: Sequence[IntervalType],
    recordings: Recordings,
    out: Path,
) -> bool:
    """Write detections, as intervals where the table has them; return whether scores were dropped.

    ``intervals`` are those of the model, which the option ``intervals`` of the format renames;
    ``recordings`` are those that were searched for events.
    """
    from bdl.formats.event_files import parse_format, write_events
    from bdl.formats.format_options import option_names

    types = _renamed(intervals, format.named_intervals)
    events = _ends(table, intervals) if table.intervals else detections
    if "period" in option_names(type(format)):
        events = _on_samples(events, {info.id: info.period for info in recordings.infos})
    defaults = {
        "drop_scores": True,
        "period": next((info.period for info in recordings.infos), None),
    }
    renamed_format = parse_format(format, {"intervals": types if table.intervals else ()})
    write_events(events, out, format=renamed_format, recordings=recordings, defaults=defaults)
    return not format.scored


def sample_periods(
    format: EventFormat | None, entries: Sequence[DensityEntry], period: float | None
) -> dict[str, float]:
    """Seconds per sample of each recording, for a format that counts samples; else nothing."""
    from bdl.formats.format_options import option_names

    if format is None or "period" not in option_names(type(format)):
        return {}
    periods = {entry.id: period or entry.period for entry in entries}
    if len(differing := sorted({*periods.values()})) > 1:
        raise ConfigError(
            f"--to {format.kind}: the recordings differ in their seconds per sample "
            f"({some(map(str, differing))}); give those of the written samples (--period)"
        )
    return periods


def write_decoded(
    format: EventFormat,
    detections: Events,
    intervals: Sequence[IntervalType],
    periods: Mapping[str, float],
    out: Path,
) -> bool:
    """Write detections of saved densities; return whether scores were dropped.

    ``periods`` are those of `sample_periods`.
    """
    from bdl.formats.event_files import write_events

    events = _on_samples(detections, periods) if periods else detections
    period = next(iter(periods.values()), None)
    defaults = {"drop_scores": True, "intervals": intervals or None, "period": period}
    write_events(events, out, format=format, defaults=defaults)
    return not format.scored


def _renamed(
    intervals: Sequence[IntervalType], named: Sequence[IntervalType]
) -> tuple[IntervalType, ...]:
    """Interval types of the model under the names that the user has given."""
    names = {(kind.onset, kind.offset): kind for kind in named}
    detected = {(kind.onset, kind.offset) for kind in intervals}
    for ends, kind in names.items():
        if ends not in detected:
            pairs = ", ".join(f"{onset},{offset}" for onset, offset in sorted(detected)) or "none"
            raise ConfigError(
                f"--interval {kind.name}={','.join(ends)}: the model detects no such interval; its "
                f"ends are {pairs}"
            )
    return tuple(names.get((kind.onset, kind.offset), kind) for kind in intervals)


def _on_samples(events: Events, periods: Mapping[str, float]) -> Events:
    """Events at the nearest samples of their recordings, for formats that count samples."""
    period = np.array([periods[id] for id in events.recordings])[events.recording_code]
    return replace(events, time=nearest_sample(events.time, period) * period)


def _ends(table: DetectionTable, intervals: Sequence[IntervalType]) -> Events:
    """Both ends of each interval, with its score."""
    kinds = {kind.name: kind for kind in intervals}
    rows = [*table.frame.select("recording", "event", "start", "end", "score").iter_rows()]
    ends = [
        (recording, type, time, score)
        for recording, name, start, end, score in rows
        for type, time in ((kinds[name].onset, start), (kinds[name].offset, end))
    ]
    return Events.of(*zip(*ends, strict=True)) if ends else Events.empty(scored=True)
