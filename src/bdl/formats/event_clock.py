"""Times of events on the clocks of their recordings.

Numbers are seconds from the start of the recording, or in the unit that the column's name gives;
those that count from 1970 to our time are instants if the recordings have a start.
Text and timestamps are dates and times: with a UTC offset they are instants, without one they are
times of the recording's local clock, as it is known from its own times or its zone. A local time
that came twice is taken as the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrays import Floats, Longs
from bdl.arrow import from_numpy
from bdl.column_names import TIME_UNITS, time_unit
from bdl.column_values import ColumnPlace, decoded, epoch_unit, is_text, numbers
from bdl.errors import InputError
from bdl.formats.date_forms import DateOrder
from bdl.formats.time_zones import NANO, early_and_late, utc_offset
from bdl.formats.timestamps import parse_times
from bdl.recording import RecordingInfo, Recordings

_DAY = 86400 * NANO
_DURATION = re.compile(r"\s*(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*")
_WALL_CLOCK = re.compile(r"\d[:/]\d|\d{4}-\d\d-\d\d|\d\.\d+\.\d")


def _texts(array: pa.Array) -> list[str]:
    """The first texts of a column of text."""
    return [*filter(None, array[:50].to_pylist())] if is_text(array.type) else []


def is_wall_clock(array: pa.Array) -> bool:
    """Whether a column holds dates and times rather than numbers."""
    array = decoded(array).drop_null()
    if pa.types.is_timestamp(array.type):
        return True
    return any(_WALL_CLOCK.search(text) for text in _texts(array))


def since_1970(array: pa.Array, column: str, recordings: Recordings | None) -> str | None:
    """The unit of a column of numbers since 1970; None for others, or without starts to place it.

    Parameters
    ----------
    array, column
        The numbers, and the name of their column.
    recordings
        The recordings, all of which need a start.
    """
    if recordings is None or any(info.start is None for info in recordings.infos):
        return None
    return epoch_unit(decoded(array), time_unit(column))


def is_time_of_day(array: pa.Array) -> bool:
    """Whether a column holds times of day without a date."""
    texts = _texts(decoded(array).drop_null())
    return bool(texts) and all(re.match(r"\s*\d{1,2}:\d\d", text) for text in texts)


def dates_of(array: pa.Array) -> pa.Array:
    """The dates of a column of dates and times in text.

    Examples
    --------
    >>> dates_of(pa.array(["22.10.2024 23:10", "2024-10-22T23:10"])).to_pylist()
    ['22.10.2024', '2024-10-22']
    """
    import pyarrow.compute as pc

    return pc.replace_substring_regex(decoded(array), r"[ T,]+\d{1,2}:\d\d.*$", "")


def event_seconds(
    array: pa.Array,
    place: ColumnPlace,
    ids: NDArray[np.object_],
    recordings: Recordings | None,
    order: DateOrder | None = None,
    after: Floats | None = None,
    next_day: bool = False,
) -> Floats:
    """Seconds from the start of the recording of each event; NaN where the time is missing.

    Parameters
    ----------
    array, place
        The column of times, and where it is, for error messages.
    ids, recordings
        (n,) recording of each event, and the recordings; needed for dates and times only.
    order
        Which number of a date is the day, if it is known.
    after, next_day
        (n,) seconds that the times must follow: of two times that have one name the second is
        taken if only it does; and whether a time that does not follow is one of the day after.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from bdl.recording import Recording
    >>> start = datetime(2024, 1, 15, 22, tzinfo=UTC)
    >>> night = Recordings.of([Recording.of(np.zeros(9), id="a", period=3600.0, start=start)])
    >>> times = pa.array(["2024-01-15T23:30:00+01:00"])
    >>> event_seconds(times, ColumnPlace("a.csv", "Bedtime"), np.array(["a"], object), night)
    array([1800.])
    """
    array = decoded(array)
    if not is_wall_clock(array):
        unit = since_1970(array, place.column, recordings)
        if unit is None or recordings is None:
            return _counted(array, place)
        starts = {info.id: info.start.timestamp() for info in recordings.infos if info.start}
        begins: Floats = np.array([starts.get(id, 0.0) for id in ids])
        return _counted(array, place, unit) - begins
    if recordings is None:
        raise InputError(
            f"{place.path}: column {place.column!r} holds dates and times, which are placed on the "
            f"clocks of recordings (recordings=): `bdl convert {place.path} --recordings FOLDER "
            "--out events.csv` does it once for all commands"
        )
    seconds = np.full(len(array), np.nan)
    present = np.array([text not in (None, "") for text in array.to_pylist()], np.bool_)
    if not present.any():
        return seconds
    # Rows without a time repeat the one before, so that errors name the right row.
    first = int(np.argmax(present))
    filled = np.maximum.accumulate(np.where(present, np.arange(len(array)), 0))[first:]
    times = np.zeros(len(array), np.int64)
    filled_times = array.take(from_numpy(filled))
    times[first:], _, local = parse_times(filled_times, place.after(first), order=order)
    for id in dict.fromkeys(ids[present].tolist()):
        if id not in recordings:
            continue  # checked with all events, where the unknown ones are counted
        rows, info = np.flatnonzero(present & (ids == id)), recordings.info(id)
        if info.start is None:
            raise place.error(
                int(rows[0]), "seconds", array[int(rows[0])].as_py(),
                f"recording {id!r} has no start time on which to place it; does its file lack a "
                "time zone (--zone Europe/Berlin)?",
            )  # fmt: skip
        least = None if after is None else after[rows]
        placed = _on_clock(times[rows], local, info, place, rows, least)
        if next_day and least is not None and (placed < least).any():
            later = times[rows] + np.where(placed < least, _DAY, 0)
            placed = _on_clock(later, local, info, place, rows, least)
        seconds[rows] = placed
    return seconds


def sample_seconds(
    columns: Mapping[str, pa.Array], place: ColumnPlace, recordings: Recordings | None
) -> Floats:
    """Seconds of the sample numbers in the column ``sample``, by the periods of the recordings."""
    if recordings is None:
        raise InputError(
            f"{place.path}: column {place.column!r} has sample numbers, which take the periods of "
            f"the recordings (recordings=): `bdl convert {place.path} --recordings FOLDER --out "
            "events.csv` makes seconds of them, once for all commands"
        )
    ids = columns["recording"].to_pylist()
    periods = {info.id: info.period for info in recordings.infos}
    period: Floats = np.array([periods.get(str(id), np.nan) for id in ids])
    return numbers(columns["sample"], place) * period


def _on_clock(
    times: Longs,
    local: bool,
    info: RecordingInfo,
    place: ColumnPlace,
    rows: NDArray[np.intp],
    after: Floats | None,
) -> Floats:
    assert info.start is not None
    begin = info.start.timestamp()
    seconds = (times - round(begin * 1e6) * 1000) / NANO
    if not local:
        return seconds
    instants = begin + np.array([sample for sample, _ in info.offset_changes]) * info.period
    offsets = [utc_offset(begin, info.start.tzinfo), *(east for _, east in info.offset_changes)]
    early, late = early_and_late(instants, np.array(offsets, np.int64), times // NANO)
    if (early < late).any():
        i = int(np.argmax(early < late))
        text = str(np.datetime64(int(times[i]) // NANO, "s"))
        cause = f"clocks were set forward over it in recording {info.id!r}"
        raise place.error(int(rows[i]), "a time of the local clock", text, cause)
    first = seconds - early
    return first if after is None else np.where(first < after, seconds - late, first)


def _counted(array: pa.Array, place: ColumnPlace, unit: str | None = None) -> Floats:
    """Numbers in seconds, from the unit given or that of the column's name."""
    return numbers(array, place) * TIME_UNITS[unit or time_unit(place.column) or "s"]


def duration_seconds(array: pa.Array, place: ColumnPlace) -> Floats:
    """Durations in seconds, of numbers or of texts such as ``7:35`` (hours) or ``0:00:30``.

    Examples
    --------
    >>> place = ColumnPlace("a.csv", "Duration (min)")
    >>> duration_seconds(pa.array(["7:30", "0:00:30"]), place).tolist()
    [27000.0, 30.0]
    >>> duration_seconds(pa.array([2.5]), place).tolist()
    [150.0]
    """
    array = decoded(array)
    if not is_wall_clock(array):
        return _counted(array, place)
    seconds = np.full(len(array), np.nan)
    for row, text in enumerate(array.to_pylist()):
        if text and (parts := _DURATION.fullmatch(text)):
            hours, minutes, remaining_seconds = (float(part or 0) for part in parts.groups())
            seconds[row] = 3600 * hours + 60 * minutes + remaining_seconds
        elif text:
            raise place.error(row, "a duration such as 7:35 or 7:35:00", text)
    return seconds
