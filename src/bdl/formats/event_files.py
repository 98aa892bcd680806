"""Reading and writing events: the format is recognised, or named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bdl.column_names import find_columns
from bdl.errors import ConfigError, InputError, some
from bdl.events import Events
from bdl.formats.event_places import event_places, table_suffixes
from bdl.formats.events.event_format import EventFormat
from bdl.formats.events.event_table import ROLES, EventTable
from bdl.formats.files import existing, known_path, reading
from bdl.formats.format_options import check_options, option_names, with_options
from bdl.formats.recordings.table_format import open_table
from bdl.frames import backend_of, open_frame
from bdl.intervals import IntervalType
from bdl.recording import Recordings


def read_events(
    path: Any,
    *,
    format: str | EventFormat | None = None,
    recordings: Recordings | None = None,
    defaults: Mapping[str, Any] | None = None,
    **options: Any,
) -> Events:
    """Events of a file or folder, in seconds from each recording's start.

    Parameters
    ----------
    path
        A file, a folder or a glob of files, which are read as one table, or an address of such; or
        a data frame of pandas, polars or pyarrow.
    format
        Name of a format (see `bdl.formats.events`), or one with its options; recognised by suffix
        and columns if it is not given.
    recordings
        The recordings, on whose clocks dates and times are placed.
    defaults
        Options that are used if the format has them, such as the period of the recordings.
    **options
        Options of the format, such as ``period`` of Kaggle tables; one that it does not have is
        an error.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("who,what,when\\na,beat,1.5\\n")
    >>> read_events(file, columns={"recording": "who", "event": "what", "time": "when"}).types
    ('beat',)
    >>> read_events(file, format="bdl", period=5.0)
    Traceback (most recent call last):
    bdl.errors.ConfigError: unknown option period (--period): event format bdl has columns, ...
    """
    if not isinstance(path, str | Path):
        return _read_frame(path, format, options, recordings)
    return _read(path, format, options, defaults, recordings)


def _read(
    path: str | Path,
    format: str | EventFormat | None,
    options: Mapping[str, Any],
    defaults: Mapping[str, Any] | None,
    recordings: Recordings | None,
    *writers: EventFormat,
) -> Events:
    """The events of all files; an option that neither their format nor a writer has is an error."""
    parts = []
    for file in event_places(path, format):
        with reading(file, "a table of events"):
            chosen = recognise(file, options) if format is None else parse_format(format, options)
            check_options(options, chosen, *writers)
            parts.append(parse_format(chosen, options, defaults).read_on(file, recordings))
    return parts[0] if len(parts) == 1 else Events.concat(parts)


def _read_frame(
    frame: Any,
    format: str | EventFormat | None,
    options: Mapping[str, Any],
    recordings: Recordings | None,
) -> Events:
    table = open_frame(frame, (), "event table")
    chosen = parse_format(format or "bdl", options)
    check_options(options, chosen)
    if not isinstance(chosen, EventTable):
        raise ConfigError(f"a data frame is read as format bdl, not {chosen.kind}")
    events = chosen.read_table(table.to_arrow(), "event table", recordings)
    return replace(events, backend=backend_of(table))


def read_annotated(path: str | Path, recordings: Recordings) -> Recordings:
    """The recordings with their annotated spans, from a table of recording, start and end.

    Parameters
    ----------
    path
        The table; its columns and times are read like those of an event table.
    recordings
        The recordings.

    Examples
    --------
    >>> import tempfile
    >>> from bdl.recording import Recording
    >>> file = Path(tempfile.mkdtemp()) / "annotated.csv"
    >>> _ = file.write_text("recording,start,end\\na,2,8\\n")
    >>> ten = Recordings.of([Recording.of([0.0] * 10, id="a", period=1.0)])
    >>> read_annotated(file, ten).infos[0].annotated
    ((2.0, 8.0),)
    """
    file = existing(path)
    columns = open_table(file).columns
    if not {"start", "end"} <= find_columns(columns, {}, ROLES, path).keys():
        raise InputError(
            f"{path}: a table of annotated spans with the columns recording, start and end "
            f"expected (--annotated), it has {', '.join(columns)}"
        )
    span = IntervalType("annotated", "start", "end")
    events = read_events(file, format="bdl", recordings=recordings, intervals=(span,))
    if unknown := [id for id in events.recordings if id not in recordings]:
        raise InputError(
            f"{path}: spans of {some(unknown)}, which are not among the {len(recordings)} "
            f"recordings ({some(recordings.ids)}); do the names agree (--annotated)?"
        )
    spans: dict[str, list[tuple[float, float]]] = {}
    ends = zip(events.recording[::2], events.time[::2].tolist(), events.time[1::2], strict=True)
    for id, start, end in ends:  # each row became a start and an end
        spans.setdefault(id, []).append((start, float(end)))
    return recordings.annotate(spans)


def recognise(path: str | Path, options: Mapping[str, Any]) -> EventFormat:
    """The format of an event file or folder, with those of the options that it has."""
    place = known_path(path)
    if not place.exists():
        raise InputError(f"{place}: no such file or folder")
    is_table = not place.is_dir() and place.suffix.lower() in table_suffixes()
    columns = open_table(place).columns if is_table else ()
    kinds = EventFormat.kinds()
    for kind in kinds:
        format = parse_format(kind, options)
        if format.recognises(place, columns):
            return format
    for kind in kinds if columns else ():
        format = parse_format(kind, options)
        if format.resembles(columns):
            return format
    problem = f"has the columns {', '.join(columns)}" if columns else "is not recognised"
    raise InputError(
        f"{place}: it {problem}, which no event format has; name the format, one of "
        f"{', '.join(kinds)} (format=, --events-format), or the columns of the table "
        "(columns=, --column time=NAME, or start=NAME and end=NAME, or sample=NAME)"
    )


def parse_format(
    format: str | EventFormat,
    options: Mapping[str, Any],
    defaults: Mapping[str, Any] | None = None,
) -> EventFormat:
    """A format from its name or value, with those of the options, or defaults, that it has."""
    chosen = EventFormat.parse(format, "event format")
    known = option_names(type(chosen))
    given = {name: value for name, value in options.items() if value is not None}
    values = {**(defaults or {}), **given}
    return with_options(chosen, {name: values[name] for name in values if name in known})


def write_events(
    events: Events,
    path: str | Path,
    *,
    format: str | EventFormat = "bdl",
    recordings: Recordings | None = None,
    defaults: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Write events, whole or not at all; what a format cannot keep is an error.

    Parameters
    ----------
    events
        The events.
    path
        File to write, or a folder for a format with one file per recording.
    format
        Name of a format (see `bdl.formats.events`), or one with its options.
    recordings
        Recordings to list even without events, in formats that list recordings.
    defaults
        Options that are used if the format has them.
    **options
        Options of the format, such as ``period`` of Kaggle tables; one that it does not have is
        an error.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.parquet"
    >>> write_events(Events.of("a", "beat", [0.5], [0.9]), file)
    >>> read_events(file).score.tolist()
    [0.9]
    """
    chosen = parse_format(format, options, defaults)
    check_options(options, chosen)
    chosen.write(events, Path(path), recordings)


def convert_events(
    source: str | Path,
    target: str | Path,
    *,
    source_format: str | EventFormat | None = None,
    target_format: str | EventFormat = "bdl",
    recordings: Recordings | None = None,
    defaults: Mapping[str, Any] | None = None,
    **options: Any,
) -> Events:
    """Read events in one format and write them in another.

    Parameters
    ----------
    source, target
        What to read, as in `read_events`, and the file or folder to write.
    source_format
        Format of the source; recognised if it is not given.
    target_format
        Format of the target.
    recordings
        Their clocks place dates and times; those without events appear in formats that list them.
    defaults
        Options that are used by the formats that have them, such as the period of the recordings.
    **options
        Options of the two formats; one that neither has is an error.

    Returns
    -------
    events
        The events.
    """
    # The columns that the user names are those of the source.
    writer = parse_format(target_format, {**options, "columns": None}, defaults)
    events = _read(source, source_format, options, defaults, recordings, writer)
    writer.write(events, Path(target), recordings)
    return events
