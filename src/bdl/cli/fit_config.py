"""The configuration file of ``bdl fit``.

It is YAML (or JSON) with the keys of `FitConfig`; paths in it are relative to the file. Its key
``detector`` has the fields of `bdl.detector.DetectorSettings`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from bdl.config import Value, read_yaml, validate
from bdl.detector.presets import PresetName
from bdl.intervals import IntervalType

EventFree = Literal["ignore", "count"]
Plain = dict[str, Any]


class FitConfig(Value):
    """A configuration of ``bdl fit``: data, what to learn, and how."""

    recordings: str  # path of the recordings: a file, a folder, a glob or a prepared store
    format: str | None = None  # name of the recordings' format; recognised if not given
    pattern: str | None = None  # which files of a folder
    # Options of the recordings' format, such as the period or the names of columns.
    layout: dict[str, Any] = Field(default_factory=dict)
    events: str | None = None  # path of the events; not needed to detect
    # event_format, event_columns, event_codes, event_period: As in `bdl.formats.read_events`.
    event_format: str | None = None
    event_columns: dict[str, str] | None = None
    event_codes: dict[str, str] | None = None
    event_period: float | None = Field(default=None, gt=0)
    # Table of the spans (recording, start, end) in which events are annotated; all if not given.
    annotated: str | None = None
    types: tuple[str, ...] | None = None  # event types to learn; all if not given
    # Interval types: which event types are onset and offset of what.
    intervals: tuple[IntervalType, ...] = ()
    detector: Plain = Field(default_factory=dict)  # fields of `bdl.detector.DetectorSettings`
    preset: PresetName = "fast"  # what ``detector`` changes
    event_free: EventFree = "ignore"  # whether held-out recordings without events count


def read_config(path: Path) -> FitConfig:
    """Read a configuration file; every problem is named with its key."""
    config: FitConfig = validate(FitConfig, read_yaml(path), str(path))
    here = path.parent
    events = None if config.events is None else str(here / config.events)
    annotated = None if config.annotated is None else str(here / config.annotated)
    return config.replace(
        recordings=str(here / config.recordings), events=events, annotated=annotated
    )
