"""What the columns of a table hold, by their names.

A role (``recording``, ``time``, ...) is filled by the column that the user names, or by the one
whose name is the role or one of its other names, whatever its case, spaces and punctuation. Of
several such columns the one with the plainest name is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from bdl.errors import InputError

OTHER_NAMES = {
    "recording": "recording_id record record_id file filename file_name participant participant_id "
    "subject subject_id patient patient_id",
    "event": "type event_type label annotation description",
    "time": "timestamp time_stamp datetime date_time time_s seconds",
    "start": "start_time begin onset start_s from bedtime bed_time",
    "end": "end_time stop offset end_s to until wake_time waketime wakeup",
    "score": "confidence probability",
}


def plain_name(name: str) -> str:
    """A column's name in lower case, with anything but letters and digits as ``_``.

    Examples
    --------
    >>> plain_name(" Time (s)")
    'time_s'
    """
    return re.sub(r"[\W_]+", "_", name.strip().lower()).strip("_")


def find_columns(
    columns: Sequence[str],
    named: Mapping[str, str | None],
    roles: Iterable[str],
    source: object,
    needed: Iterable[str] = (),
    flag: str = "--column {role}=NAME",
) -> dict[str, str]:
    """The column of each role that has one.

    Parameters
    ----------
    columns
        Names of all columns.
    named
        Columns that the user names, by role; one that is missing is an error.
    roles
        The roles that columns may have.
    source
        What the table is, for error messages.
    needed
        Roles that must have a column.
    flag
        Option by which the column of a role is named, for error messages.

    Examples
    --------
    >>> find_columns(["File", "Bedtime", "Label"], {"time": "Bedtime"}, OTHER_NAMES, "a.csv")
    {'recording': 'File', 'event': 'Label', 'time': 'Bedtime'}
    """
    found: dict[str, str] = {}
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
    for role in roles:
        if (wanted := named.get(role)) is not None:
            found[role] = wanted if wanted in columns else plain[plain_name(wanted)]
            continue
        for name in (role, *OTHER_NAMES.get(role, "").split()):
            if name in plain and plain[name] not in {*taken, *found.values()}:
                found[role] = plain[name]
                break
    for role in needed:
        if role not in found:
            raise InputError(
                f"{source}: column {role!r} is missing; it has {', '.join(columns)}; name it "
                f"({role}=, {flag.format(role=role)})"
            )
    return found


def guess_notes(found: Mapping[str, str], named: Mapping[str, str | None], source: object) -> str:
    """In words which columns were guessed, and how to say otherwise; empty if none was.

    Examples
    --------
    >>> guess_notes({"time": "Time (s)", "event": "event"}, {}, "a.csv")
    "a.csv: column 'Time (s)' is read as time"
    """
    guessed = [
        f"{column!r} is read as {role}"
        for role, column in found.items()
        if named.get(role) is None and column != role
    ]
    return f"{source}: column {', '.join(guessed)}" if guessed else ""
