"""Times of events on the clocks of their recordings.

Numbers are seconds from the start of the recording, or in the unit that the column's name tells;
those that count from 1970 to our time are instants if the recordings have a start.
Text and timestamps are dates and times: with a UTC offset they are instants, without one they are
times of the recording's local clock, as it is known from its own times or its zone. A local time
that came twice is taken as the first.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.column_names import TIME_UNITS, time_unit
from bdl.column_values import ColumnPlace, decoded, is_text, numbers
from bdl.errors import InputError
from bdl.formats.time_texts import DateOrder
from bdl.formats.time_zones import NANO, Longs, early_and_late, utc_offset
from bdl.formats.timestamps import epoch_unit, nanoseconds, parse_times
from bdl.recording import RecordingInfo, Recordings

Floats = NDArray[np.float64]
_DAY = 86400 * NANO
_DURATION = re.compile(r"\s*(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*")
_WALL_CLOCK = re.compile(r"\d[:/]\d|\d{4}-\d\d-\d\d|\d\.\d+\.\d")


def is_wall_clock(array: pa.Array) -> bool:
    """Whether a column holds dates and times rather than numbers."""
    array = decoded(array)
    if not is_text(array.type):
        return bool(pa.types.is_timestamp(array.type))
    return any(_WALL_CLOCK.search(text) for text in array.drop_null()[:50].to_pylist())


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
    array = decoded(array)
    texts = array.drop_null()[:50].to_pylist() if is_text(array.type) else []
    return bool(texts) and all(re.match(r"\s*\d{1,2}:\d\d", text) for text in texts if text)


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
    array
        The column of times.
    place
        Where it is, for error messages.
    ids
        (n,) recording of each event.
    recordings
        The recordings; needed for dates and times only.
    order
        Which number of a date is the day, if it is known.
    after
        (n,) seconds that the times must follow: of two times that have one name the second is
        taken if only it does.
    next_day
        Whether a time that does not follow is one of the day after.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from bdl.recording import Recording
    >>> start = datetime(2024, 1, 15, 22, tzinfo=UTC)
    >>> night = Recordings.of([Recording.of(np.zeros(9), id="a", period=3600.0, start=start)])
    >>> times = pa.array(["15.1.2024 23:30", "2024-01-15T23:30:00+01:00"])
    >>> place, ids = ColumnPlace("a.csv", "Bedtime"), np.array(["a"], object)
    >>> [event_seconds(times[i : i + 1], place, ids, night).tolist() for i in (0, 1)]
    [[5400.0], [1800.0]]
    """
    array = decoded(array)
    if not is_wall_clock(array):
        unit = since_1970(array, place.column, recordings)
        counted = np.array(numbers(array, place), np.float64)
        if unit is None or recordings is None:
            return counted * TIME_UNITS[time_unit(place.column) or "s"]
        starts = {info.id: info.start.timestamp() for info in recordings.infos if info.start}
        begin = np.array([starts.get(id, 0.0) for id in ids], np.float64)
        return counted * TIME_UNITS[unit] - begin
    if recordings is None:
        raise InputError(
            f"{place.path}: column {place.column!r} holds dates and times, which are placed on the "
            f"clocks of recordings (recordings=): `bdl convert {place.path} --recordings FOLDER "
            "--out events.csv` does it once for all commands"
        )
    seconds = np.full(len(array), np.nan)
    known = np.flatnonzero(~np.array([text is None or text == "" for text in array.to_pylist()]))
    if pa.types.is_timestamp(array.type):
        local = array.type.tz is None
        times = nanoseconds(array.drop_null(), place, "ns")
    else:
        times, offsets = parse_times(array.take(pa.array(known)), place, order)
        local = offsets is None
    for id in dict.fromkeys(ids[known].tolist()):
        rows = np.flatnonzero(ids[known] == id)
        if id not in recordings:
            continue  # checked with all events, where the unknown ones are counted
        info = recordings.info(id)
        if info.start is None:
            raise place.error(
                int(known[rows[0]]), "seconds", array[int(known[rows[0]])].as_py(),
                f"recording {id!r} has no start time on which to place it; does its file lack a "
                "time zone (--zone Europe/Berlin)?",
            )  # fmt: skip
        least = None if after is None else after[known[rows]]
        found = _on_clock(times[rows], local, info, place, known[rows], least)
        if next_day and least is not None and (found < least).any():
            later = times[rows] + np.where(found < least, _DAY, 0)
            found = _on_clock(later, local, info, place, known[rows], least)
        seconds[known[rows]] = found
    return seconds


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
    if not local:
        return (times - round(begin * 1e6) * 1000) / NANO
    instants = begin + np.array([sample for sample, _ in info.offset_changes]) * info.period
    offsets = [utc_offset(begin, info.start.tzinfo), *(east for _, east in info.offset_changes)]
    early, late = early_and_late(instants, np.array(offsets, np.int64), times // NANO)
    if (early < late).any():
        i = int(np.argmax(early < late))
        text = str(np.datetime64(int(times[i]) // NANO, "s"))
        raise place.error(
            int(rows[i]), "a time of the local clock", text,
            f"clocks were set forward over it in recording {info.id!r}",
        )  # fmt: skip
    first, second = ((times - round(begin * 1e6) * 1000) / NANO - part for part in (early, late))
    return first if after is None else np.where(first < after, second, first)


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
        return (
            np.array(numbers(array, place), np.float64) * TIME_UNITS[time_unit(place.column) or "s"]
        )
    seconds = np.full(len(array), np.nan)
    for row, text in enumerate(array.to_pylist()):
        if text and (parts := _DURATION.fullmatch(text)):
            seconds[row] = sum(
                float(n or 0) * size for n, size in zip(parts.groups(), (3600, 60, 1), strict=True)
            )
        elif text:
            raise place.error(row, "a duration such as 7:35 or 7:35:00", text)
    return seconds
