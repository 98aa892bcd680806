"""The roles of the columns of a table, by their names.

The column of a role (``recording``, ``time``, ...) is the one that the user names, or the one whose
name is the role or one of its other names, regardless of case, spaces and punctuation. Among
several such columns, the first in the order of `OTHER_NAMES` is used. A column of times may have
its unit after its name: ``Time (ms)``, ``duration_min``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from bdl.errors import InputError

OTHER_NAMES = {
    "recording": "recording_id record record_id file filename file_name participant participant_id "
    "subject subject_id patient patient_id",
    "event": "type event_type label annotation description kind class category",
    "time": "timestamp time_stamp datetime date_time seconds t",
    "start": "start_time begin onset from sleep_onset bedtime bed_time lights_off in_bed",
    "end": "end_time stop offset to until wake_time waketime wakeup wake_up lights_on out_of_bed",
    "duration": "length",
    "score": "confidence conf probability prob",
}
TIME_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_OTHER_UNITS = {
    other: unit
    for unit, others in {
        "s": ("sec", "secs", "second", "seconds"),
        "ms": ("msec", "msecs", "millisecond", "milliseconds"),
        "us": ("µs", "μs", "usec", "microsecond", "microseconds"),
        "min": ("mins", "minute", "minutes"),
        "h": ("hr", "hrs", "hour", "hours"),
    }.items()
    for other in others
}
_TIMES = ("time", "start", "end", "duration", "issued")  # roles of columns that may have a unit


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """A column's name in lower case, with anything but letters and digits as ``_``.

    Examples
    --------
    >>> plain_name(" Time (s)")
    'time_s'
    """
    return re.sub(r"[\W_]+", "_", name.strip().lower()).strip("_")


def is_time_unit(text: str) -> bool:
    """Whether a text is a unit of time.

    Examples
    --------
    >>> is_time_unit("msec"), is_time_unit("mV")
    (True, False)
    """
    return text in TIME_UNITS or text in _OTHER_UNITS


def time_unit(column: str) -> str | None:
    """The unit of time at the end of a column's name; None if it has none.

    Examples
    --------
    >>> [time_unit(column) for column in ("Time (ms)", "onset_sec", "Time")]
    ['ms', 's', None]
    """
    name, _, unit = plain_name(column).rpartition("_")
    return _OTHER_UNITS.get(unit, unit) if name and is_time_unit(unit) else None


def find_columns(
    columns: Sequence[str],
    named: Mapping[str, str | None],
    roles: Iterable[str],
    source: object,
    needed: Iterable[str] = (),
    flag: str = "--column {role}=NAME",
) -> dict[str, str]:
    """The column of each role that has one.

    ``named`` are the columns that the user names, by role; one that is missing is an error, as is
    a role of ``needed`` without a column. Errors name the table, ``source``, and the option by
    which the column of a role is named, ``flag``.

    Examples
    --------
    >>> find_columns(["File", "Bedtime", "Label"], {"time": "Bedtime"}, OTHER_NAMES, "a.csv")
    {'recording': 'File', 'event': 'Label', 'time': 'Bedtime'}
    """
    by_role: dict[str, str] = {}
    taken = [column for column in named.values() if column is not None]
    for column in taken:
        # A column may be named without regard to case and spaces, too.
        if not any(plain_name(other) == plain_name(column) for other in columns):
            role = next(role for role, name in named.items() if name == column)
            raise InputError(
                f"{source}: column {column!r} is missing; it has {', '.join(columns)}; name "
                f"another ({flag.format(role=role)})"
            )
    plain = {plain_name(column): column for column in reversed(columns)}
    stems = {plain_name(c).rpartition("_")[0]: c for c in reversed(columns) if time_unit(c)}
    for role in roles:
        if (name := named.get(role)) is not None:
            by_role[role] = name if name in columns else plain[plain_name(name)]
            continue
        names = (role, *OTHER_NAMES.get(role, "").split())
        used = {*taken, *by_role.values()}
        for known in (plain, stems) if role in _TIMES else (plain,):
            free = [known[name] for name in names if name in known and known[name] not in used]
            if free:
                by_role[role] = free[0]
                break
    for role in needed:
        if role not in by_role:
            raise InputError(
                f"{source}: column {role!r} is missing; it has {', '.join(columns)}; name it "
                f"({role}=, {flag.format(role=role)})"
            )
    return by_role


def guess_notes(by_role: Mapping[str, str], named: Mapping[str, str | None], source: object) -> str:
    """A note about the columns that were guessed; empty if none was.

    Examples
    --------
    >>> guess_notes({"time": "Time (s)", "event": "event"}, {}, "a.csv")
    "a.csv: column 'Time (s)' is read as time in s"
    """
    texts = []
    for role, column in by_role.items():
        unit = time_unit(column) if role in _TIMES else None
        if named.get(role) is None and column != role:
            texts.append(f"{column!r} is read as {role}" + (f" in {unit}" if unit else ""))
        elif unit is not None:
            texts.append(f"{column!r} is in {unit}")
    return f"{source}: column {', '.join(texts)}" if texts else ""
