"""Events and the recordings they belong to: which are outside, and the recording of each row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrow import from_texts
from bdl.errors import InputError, some
from bdl.events import Events
from bdl.formats.event_clock import is_wall_clock
from bdl.frames import Codes, merge
from bdl.recording import Recordings
from bdl.sampling import nearest_sample


def outside(events: Events, recordings: Recordings) -> NDArray[np.bool_]:
    """Which events of known recordings have no nearest sample in their recording: (n,)."""
    if not len(events):
        return np.zeros(0, dtype=bool)
    infos = [recordings.info(id) if id in recordings else None for id in events.recordings]
    period = np.array([1.0 if info is None else info.period for info in infos])
    length = np.array([np.inf if info is None else info.samples for info in infos])
    sample = nearest_sample(events.time, period[events.recording_code])
    length = length[events.recording_code]
    result: NDArray[np.bool_] = ((sample < 0) | (sample >= length)) & np.isfinite(length)
    return result


def of_recordings(
    columns: dict[str, pa.Array],
    recordings: Recordings,
    source: object,
    *,
    incomplete: Literal["error", "drop"],
) -> tuple[dict[str, pa.Array], list[str]]:
    """The columns with ids as those of the recordings, and notes.

    An id may be the name of the recording's file, or differ by spaces around it and by upper and
    lower case. Rows of other recordings are left out if they are to be dropped; those with dates
    and times, or sample numbers, cannot be placed otherwise.
    """
    ids = texts_of(columns["recording"])
    names = {id: id for id in dict.fromkeys(ids) if id is not None}
    if all(id in recordings for id in names):
        return columns, []
    plain: dict[str, list[str]] = {}
    for id in recordings.ids:
        plain.setdefault(id.strip().casefold(), []).append(id)
    for id in [id for id in names if id not in recordings]:
        stem = Path(id).stem
        similar_ids = plain.get(id.strip().casefold()) or plain.get(stem.strip().casefold(), [])
        names[id] = stem if stem in recordings or len(similar_ids) != 1 else similar_ids[0]
    files = [id for id, name in names.items() if id != name and name in recordings]
    notes = [f"{source}: recording {files[0]!r} is taken as {names[files[0]]!r}"] if files else []
    known = [names[id] if id in files else id for id in ids]
    columns = {**columns, "recording": from_texts(known)}
    unknown = [*dict.fromkeys(id for id in known if id is not None and id not in recordings)]
    if not unknown:
        return columns, notes
    what = f"{len(unknown)} of its recordings are not among the {len(recordings)} given"
    if incomplete == "drop":
        kept = pa.array([id is None or id in recordings for id in known])
        notes.append(f"{source}: {what} and are left out: {some(unknown)}")
        return {role: column.filter(kept) for role, column in columns.items()}, notes
    placed = any(is_wall_clock(columns[role]) for role in ("time", "start") if role in columns)
    if placed or ("sample" in columns and "time" not in columns):
        raise InputError(
            f"{source}: {what} ({some(recordings.ids)}): {some(unknown)}; is another column "
            "their name (--column recording=NAME)? To leave these rows out: incomplete='drop', "
            "--incomplete drop"
        )
    return columns, notes


def trimmed(events: Events, *, ids: bool) -> Events:
    """Events without spaces around the names of their types and, if asked for, recordings."""

    def names(known: tuple[str, ...], codes: Codes) -> tuple[tuple[str, ...], Codes]:
        plain = tuple(name.strip() or name for name in known)
        return (known, codes) if plain == known else merge([(plain, codes)])

    types, type_code = names(events.types, events.type_code)
    recordings, code = events.recordings, events.recording_code
    if ids:
        recordings, code = names(recordings, code)
    return replace(
        events, types=types, type_code=type_code, recordings=recordings, recording_code=code
    )


def texts_of(column: pa.Array) -> list[Any]:
    """The texts of a column; None where there is none."""
    # Casting loads the compute functions of Arrow, which takes longer than most tables.
    texts = column if pa.types.is_string(column.type) else column.cast(pa.string())
    listed: list[Any] = texts.to_pylist()
    return listed


def only_recording(recordings: Recordings | None, table: pa.Table, source: object) -> str:
    """The id of the only recording, for a table without a column of recordings."""
    if recordings is not None and len(recordings) == 1:
        return recordings.ids[0]
    raise InputError(
        f"{source}: no column of recordings; it has {', '.join(table.column_names)}; name it "
        "(columns=, --column recording=NAME)"
    )
