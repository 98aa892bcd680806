"""The configuration file of ``bdl fit``.

It is YAML (or JSON) with the keys of `FitConfig`; paths in it are relative to the file. Its key
``detector`` has the fields of `bdl.detector.DetectorSettings`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from bdl.config import Value, read_yaml, validate
from bdl.intervals import IntervalType

EventFree = Literal["ignore", "count"]
Plain = dict[str, Any]


class FitConfig(Value):
    """A configuration of ``bdl fit``: data, what to learn, and how.

    Parameters
    ----------
    recordings
        Path of the recordings: a file, a folder, a glob or a prepared store.
    format
        Name of the recordings' format; recognised if not given.
    pattern
        Which files of a folder.
    layout
        Options of the recordings' format, such as the period or the names of columns.
    events
        Path of the events; not needed to detect.
    event_format, event_columns, event_period
        As in `bdl.formats.read_events`.
    types
        Event types to learn; all if not given.
    intervals
        Interval types: which event types are onset and offset of what.
    detector
        Fields of `bdl.detector.DetectorSettings`.
    validation
        Share of groups on which the epoch and the decoder are chosen; 0 for none.
    event_free
        Whether recordings without events count in that choice.

    Examples
    --------
    >>> config = FitConfig(recordings="walks", events="events.csv", detector={"tile": 5})
    >>> config.validation
    0.2
    """

    recordings: str
    format: str | None = None
    pattern: str | None = None
    layout: dict[str, Any] = Field(default_factory=dict)
    events: str | None = None
    event_format: str | None = None
    event_columns: dict[str, str] | None = None
    event_period: float | None = Field(default=None, gt=0)
    types: tuple[str, ...] | None = None
    intervals: tuple[IntervalType, ...] = ()
    detector: Plain = Field(default_factory=dict)
    validation: float = Field(default=0.2, ge=0, lt=1)
    event_free: EventFree = "ignore"


def read_config(path: Path) -> FitConfig:
    """Read a configuration file; every problem is named with its key."""
    config: FitConfig = validate(FitConfig, read_yaml(path), str(path))
    here = path.parent
    events = None if config.events is None else str(here / config.events)
    return config.replace(recordings=str(here / config.recordings), events=events)
