"""Where ``fit`` and ``detect`` find their data: a data set, files, or a configuration file.

The configuration file is YAML (or JSON) with the keys of `FitConfig`; paths in it are relative to
the file. ``detector`` holds parameters of `bdl.Detector` by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from bdl.cli.options import parse_options
from bdl.config import Value, read_yaml, validate
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.formats.layout import Layout
from bdl.intervals import IntervalType
from bdl.recording import Recordings

EventFree = Literal["ignore", "count"]


class FitConfig(Value):
    """A whole fit: data, what to learn, and how.

    Parameters
    ----------
    recordings : path of the recordings; a file, a folder, a glob or a prepared store.
    pattern : which files of a folder.
    layout : columns and clock of tables.
    events : path of the events; not needed to detect.
    event_format, event_columns, event_period : as `bdl.formats.read_events` takes them.
    types : event types to learn; all if not given.
    intervals : which types are onset and offset of what.
    detector : parameters of `bdl.Detector`.
    validation : share of groups set aside to choose the epoch and the decoder on; 0 for none.
    event_free : whether recordings without events count in that choice.

    >>> FitConfig(recordings="walks", events="events.csv", detector={"stride": 5}).validation
    0.2
    """

    recordings: str
    pattern: str | None = None
    layout: Layout = Layout()
    events: str | None = None
    event_format: str | None = None
    event_columns: dict[str, str] | None = None
    event_period: float | None = Field(default=None, gt=0)
    types: tuple[str, ...] | None = None
    intervals: tuple[IntervalType, ...] = ()
    detector: dict[str, Any] = Field(default_factory=dict)
    validation: float = Field(default=0.2, ge=0, lt=1)
    event_free: EventFree = "ignore"


@dataclass(frozen=True)
class Source:
    """Data and settings of a fit or a detection."""

    recordings: Recordings
    events: Events
    intervals: tuple[IntervalType, ...]
    types: tuple[str, ...] | None
    detector: dict[str, Any]
    validation: float
    event_free: EventFree
    notes: tuple[str, ...] = ()


def read_config(path: Path) -> FitConfig:
    """A configuration file; every problem is named with its key."""
    config: FitConfig = validate(FitConfig, read_yaml(path), str(path))
    here = path.parent
    events = None if config.events is None else str(here / config.events)
    return config.replace(recordings=str(here / config.recordings), events=events)


def find_source(
    *,
    dataset: str | None,
    data: Path | None,
    option: list[str] | None,
    recordings: str | None,
    events: str | None = None,
    config: Path | None = None,
    need_events: bool = False,
) -> Source:
    """The one source that the options of a command name."""
    options = parse_options(option or [])
    ways = [
        name
        for name, given in (
            ("--dataset", dataset),
            ("--recordings", recordings),
            ("--config", config),
        )
        if given is not None
    ]
    if len(ways) != 1:
        told = " and ".join(ways) if ways else "none of them"
        raise ConfigError(f"one of --dataset, --recordings or --config expected, got {told}")
    if dataset is not None:
        return _dataset(dataset, data, options)
    if config is not None:
        return _files(read_config(config), need_events)
    assert recordings is not None
    if need_events and events is None:
        raise ConfigError("--recordings needs --events beside it")
    layout = validate(Layout, options, "--option")
    return _files(FitConfig(recordings=recordings, events=events, layout=layout), need_events)


def _dataset(name: str, data: Path | None, options: dict[str, Any]) -> Source:
    from bdl.datasets import load

    if data is None:
        raise ConfigError("--dataset needs --data, the folder it was published as")
    found = load(name, data, **options)
    settings = found.settings
    longest = max((info.duration for info in found.recordings.infos), default=settings.window)
    notes = found.notes
    if longest < settings.window:
        notes = (*notes, f"window cut to the longest recording, {longest:g} s")
    parameters = {
        "stride": settings.stride,
        "window": min(settings.window, longest),
        "calendar": settings.calendar,
        "scaling": settings.divisor,
        "tolerances": settings.tolerances,
        "separation": settings.separation,
        "sigma": settings.sigma,
        "reference_spacing": settings.reference_spacing,
        "jitter": settings.jitter,
    }
    return Source(
        found.recordings,
        found.events,
        found.intervals,
        settings.types,
        parameters,
        0.2,
        settings.event_free,
        notes,
    )


def _files(config: FitConfig, need_events: bool) -> Source:
    from bdl.formats import read_events, read_recordings

    recordings = read_recordings(config.recordings, pattern=config.pattern, layout=config.layout)
    events = Events.empty()
    if config.events is not None:
        events = read_events(
            config.events,
            format=config.event_format,  # type: ignore[arg-type]
            period=config.event_period,
            columns=config.event_columns,
            intervals=config.intervals or None,
        )
    elif need_events:
        raise ConfigError("events: a path expected, got none")
    intervals, parameters = config.intervals, dict(config.detector)
    notes: tuple[str, ...] = ()
    if need_events and "stride" not in parameters:
        intervals, parameters, notes = _proposed(recordings, events, config)
    return Source(
        recordings,
        events,
        intervals,
        config.types,
        parameters,
        config.validation,
        config.event_free,
        notes,
    )


def _proposed(
    recordings: Recordings, events: Events, config: FitConfig
) -> tuple[tuple[IntervalType, ...], dict[str, Any], tuple[str, ...]]:
    """Settings that nobody gave, from a look at the data; each with its reason."""
    from bdl.proposal import propose

    made = propose(recordings, events)
    names = ("stride", "tolerances", "window", "separation", "reference_spacing", "calendar")
    chosen = {name: made[name].value for name in (*names, "scaling")}
    notes = tuple(
        f"{name} {made[name].value}: {made[name].reason}"
        for name in chosen
        if name not in config.detector
    )
    return config.intervals or made["intervals"].value, {**chosen, **config.detector}, notes
