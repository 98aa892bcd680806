"""Where events are: in files, in folders of files, matched by a glob, at addresses."""

from __future__ import annotations

import glob
from pathlib import Path

from bdl.errors import InputError
from bdl.formats.addresses import address_of, is_folder, listed
from bdl.formats.events.event_format import EventFormat
from bdl.formats.files import known_path, matching
from bdl.formats.local_copies import fetch, fetch_folder
from bdl.formats.recordings.recording_format import RecordingFormat
from bdl.formats.recordings.table_format import TableFormat


def event_places(path: str | Path, format: str | EventFormat | None) -> list[Path]:
    """What a path, a glob or an address names: files, or the folder of a format that has folders.

    What is at an address is fetched.

    Parameters
    ----------
    path
        The path, glob or address.
    format
        The format, if it is named.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.csv", "a.csv"):
    ...     _ = (folder / name).write_text("recording,event,time")
    >>> [file.name for file in event_places(folder, None)]
    ['a.csv', 'b.csv']
    """
    if address_of(path) is not None:
        if glob.has_magic(str(path)):
            return [fetch(file) for file in listed(path, (), None)]
        if not is_folder(Path(path)):
            return [fetch(Path(path))]
        place = _fetched(Path(path), format)
    elif not (place := known_path(path)).exists() and glob.has_magic(str(path)):
        return matching(path, ())
    if not place.is_dir():
        return [place]
    kinds = _formats(format)
    if any(kind.ending() and (format or kind.recognises(place, ())) for kind in kinds):
        return [place]
    return matching(place, table_suffixes())


def _fetched(folder: Path, format: str | EventFormat | None) -> Path:
    """A local copy of the event files of a folder at an address.

    Files of recordings are fetched if nothing else has events.
    """
    formats = _formats(format)
    ends = {end for kind in formats for end in (*kind.suffixes, kind.ending()) if end}
    recordings = {end for kind in formats if kind.in_recordings for end in kind.suffixes}
    light = sorted({*ends, *table_suffixes()} - recordings)
    try:
        return fetch_folder(folder, light)
    except InputError:
        if not recordings:
            raise
        return fetch_folder(folder, sorted(recordings))


def _formats(format: str | EventFormat | None) -> list[EventFormat]:
    """The format that is named, or all."""
    kinds = EventFormat.kinds() if format is None else [format]
    return [EventFormat.parse(kind, "event format") for kind in kinds]


def table_suffixes() -> list[str]:
    """Suffixes of all tables that can be read."""
    kinds = RecordingFormat.kinds().values()
    return [end for kind in kinds if issubclass(kind, TableFormat) for end in kind.suffixes]
