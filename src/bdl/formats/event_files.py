"""Reading and writing events in any format, and checking them against their recordings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.bids import read_bids, write_bids
from bdl.formats.dcase import COLUMNS, read_dcase, write_dcase
from bdl.formats.event_tables import Missing, read_kaggle, read_table, write_kaggle, write_table
from bdl.formats.read import EDF
from bdl.formats.sources import open_source
from bdl.intervals import IntervalType
from bdl.recording import Recordings
from bdl.sampling import nearest_sample

Format = Literal["bdl", "kaggle", "bids", "seizures", "dcase", "edf", "wfdb"]
FORMATS: tuple[str, ...] = get_args(Format)


def read_events(
    path: str | Path,
    *,
    format: Format | None = None,
    period: float | None = None,
    intervals: Iterable[IntervalType] | None = None,
    missing: Missing | None = None,
    columns: dict[str, str] | None = None,
    extension: str = "atr",
    labels: Literal["symbol", "aux_note"] = "symbol",
) -> Events:
    """Events of a file or folder, in seconds from each recording's start.

    Parameters
    ----------
    path : the file; a folder for BIDS, EDF and WFDB, which have one file a recording.
    format : which format; None tells by suffix and columns.
    period : seconds a step, for Kaggle tables.
    intervals : names of the two events that an interval stands for (``<label>:onset`` and
        ``<label>:offset`` where not given).
    missing : what to do with rows without a time or score; None drops them from Kaggle tables
        (counted in ``Events.dropped``) and is an error elsewhere.
    columns : names of the columns ``recording``, ``event``, ``time``, ``score`` in our own format.
    extension, labels : which annotation file of WFDB records, and which of its texts names events.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("who,what,when\\na,beat,1.5\\n")
    >>> read_events(file, columns={"recording": "who", "event": "what", "time": "when"}).types
    ('beat',)
    """
    kind = format or guess(path, columns)
    if kind == "bdl":
        return read_table(path, missing=missing or "error", **_known(columns))
    if kind == "kaggle":
        return read_kaggle(path, period=period, missing=missing or "drop")
    if kind in ("bids", "seizures"):
        return read_bids(path, intervals=intervals)
    if kind == "dcase":
        return read_dcase(path, intervals=intervals)
    if kind == "edf":
        from bdl.formats.edf import read_annotations

        return read_annotations(path, intervals=intervals)
    if kind == "wfdb":
        from bdl.formats.wfdb import read_beats

        return read_beats(path, extension=extension, labels=labels)
    raise ConfigError(f"event format {kind!r}: one of {', '.join(FORMATS)} expected")


def _known(columns: dict[str, str] | None) -> dict[str, Any]:
    for name in columns or {}:
        if name not in ("recording", "event", "time", "score"):
            raise ConfigError(f"columns: recording, event, time or score expected, got {name!r}")
    return dict(columns or {})


def guess(path: str | Path, columns: dict[str, str] | None = None) -> Format:
    """The format of an event file, by suffix and columns."""
    place = Path(path)
    if place.is_dir():
        if any(place.glob("**/*_events.tsv")):
            return "bids"
        if any(place.glob("*.hea")):
            return "wfdb"
        if any(file.suffix.lower() in EDF for file in place.iterdir()):
            return "edf"
        raise InputError(f"{place}: the folder has no *_events.tsv, *.hea, *.edf or *.bdf file")
    if place.suffix.lower() in EDF:
        return "edf"
    if place.suffix.lower() in (".hea", ".atr"):
        return "wfdb"
    there = open_source(place).columns
    if columns or {"recording", "event", "time"} <= {*there}:
        return "bdl"
    if {"series_id", "step", "event"} <= {*there}:
        return "kaggle"
    if {*COLUMNS} <= {*there}:
        return "dcase"
    if {"onset", "duration"} <= {*there}:
        return "seizures" if "eventType" in there and "trial_type" not in there else "bids"
    raise InputError(
        f"{place}: the columns {', '.join(there)} are those of no event table known here: "
        "(recording, event, time), (series_id, step, event), (onset, duration, trial_type or "
        "eventType) or (filename, onset, offset, event_label); name the columns"
    )


def write_events(
    events: Events,
    path: str | Path,
    *,
    format: Format = "bdl",
    period: float | None = None,
    intervals: Iterable[IntervalType] | None = None,
    recordings: Recordings | None = None,
    drop_scores: bool = False,
) -> None:
    """Write events, whole or not at all; what a format cannot keep is an error.

    Parameters
    ----------
    format : ``bdl``, ``kaggle``, ``bids``, ``seizures`` or ``dcase``.
    period : seconds a step, for Kaggle tables.
    intervals : which pairs of events are intervals; None takes ``<label>:onset/offset``.
    recordings : lets event-free recordings appear in formats that list them.
    drop_scores : write without scores, for formats that have none.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.parquet"
    >>> write_events(Events.of("a", "beat", [0.5], [0.9]), file)
    >>> read_events(file).score.tolist()
    [0.9]
    """
    if format == "bdl":
        write_table(events, path)
    elif format == "kaggle":
        write_kaggle(events, path, period=period)
    elif format in ("bids", "seizures"):
        write_bids(
            events,
            path,
            intervals=intervals,
            recordings=recordings,
            seizures=format == "seizures",
        )
    elif format == "dcase":
        write_dcase(
            events, path, intervals=intervals, recordings=recordings, drop_scores=drop_scores
        )
    else:
        raise ConfigError(
            f"event format {format!r}: bdl, kaggle, bids, seizures or dcase can be written"
        )


def check_events(events: Events, recordings: Recordings, source: str = "events") -> None:
    """Raise where an event names an unknown recording or lies outside its recording.

    >>> from bdl.recording import Recording
    >>> ten = Recordings.of([Recording.of(np.zeros(10), id="a", period=1.0)])
    >>> check_events(Events.of("a", "beat", [10.5]), ten)
    Traceback (most recent call last):
    bdl.errors.InputError: events: row 0: 'beat' at 10.5 s lies outside recording 'a'
    """
    unknown = [name for name in events.recordings if name not in recordings]
    used = set(np.unique(events.recording_code).tolist())
    unknown = [name for name in unknown if events.recordings.index(name) in used]
    if unknown:
        raise InputError(
            f"{source}: events name {len(unknown)} unknown recording(s), first {unknown[0]!r}; "
            f"there are {len(recordings)} ({', '.join(recordings.ids[:3])}, ...); do the ids "
            "differ by a suffix?"
        )
    out = outside(events, recordings)
    if out.any():
        row = int(np.flatnonzero(out)[0])
        id = events.recordings[events.recording_code[row]]
        raise InputError(
            f"{source}: row {row}: {events.types[events.type_code[row]]!r} at {events.time[row]} s "
            f"lies outside recording {id!r} (0 to {recordings.info(id).duration:g} s); "
            f"{int(out.sum())} such rows"
        )


def outside(events: Events, recordings: Recordings) -> NDArray[np.bool_]:
    """Which events of known recordings have no nearest sample in their recording."""
    known = [recordings.info(id) if id in recordings else None for id in events.recordings]
    period = np.array([1.0 if info is None else info.period for info in known])
    length = np.array([np.inf if info is None else info.samples for info in known])
    code = events.recording_code
    if not len(code):
        return np.zeros(0, dtype=bool)
    sample = nearest_sample(events.time, period[code])
    known_ones = np.isfinite(length)[code]
    found: NDArray[np.bool_] = ((sample < 0) | (sample >= length[code])) & known_ones
    return found
