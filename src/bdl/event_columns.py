"""The columns of a table of events: found by their names, in seconds, and checked."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from bdl import frames
from bdl.arrays import Flags, Floats
from bdl.column_names import TIME_UNITS, find_columns, guess_notes, time_unit
from bdl.column_values import ColumnPlace
from bdl.errors import InputError


def event_columns(
    frame: Any,
    named: dict[str, str | None],
    *,
    score: str | None,
    issued: str | None,
    source: str,
) -> dict[str, Any]:
    """The fields of `bdl.Events` of a data frame; arguments are those of `Events.from_frame`.

    ``named`` are the columns of recording, event and time that the user names.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"recording": ["a"], "event": ["beat"], "time (ms)": [1500]})
    >>> named = dict.fromkeys(("recording", "event", "time"))
    >>> event_columns(frame, named, score=None, issued=None, source="table")["time"].tolist()
    [1.5]
    """
    table = frames.open_frame(frame, (), source)
    roles = (*named, "score") if score == "score" else tuple(named)
    by_role = find_columns(table.columns, named, roles, source, needed=named)
    score = by_role.get("score", score)
    columns: dict[str, Any] = {"backend": frames.backend_of(table)}
    for role, names, codes in (
        ("recording", "recordings", "recording_code"),
        ("event", "types", "type_code"),
    ):
        place = ColumnPlace(source, by_role[role])
        columns[names], columns[codes] = frames.encode(table.get_column(by_role[role]), place)
    for field, column in (("time", by_role["time"]), ("score", score), ("issued", issued)):
        if column is not None and column in table.columns:
            columns[field] = frames.numbers(table.get_column(column), ColumnPlace(source, column))
            if field != "score":
                columns[field] *= TIME_UNITS[time_unit(column) or "s"]
    note = guess_notes(by_role, named, source)
    return columns | {"notes": (note,) if note else ()}


def incomplete_rows(
    numbers: dict[str, Floats], rule: Literal["error", "drop"], source: str
) -> Flags:
    """Whether each row lacks a finite time or time of issue, or a score.

    The rule ``error`` raises an error for the first one.

    Examples
    --------
    >>> incomplete_rows({"time": np.array([1.0, np.nan])}, "drop", "table").tolist()
    [False, True]
    """
    incomplete = np.isnan(numbers.get("score", numbers["time"]))
    for name in numbers.keys() - {"score"}:
        incomplete |= ~np.isfinite(numbers[name])
    if rule == "error" and incomplete.any():
        row = int(np.flatnonzero(incomplete)[0])
        values = ", ".join(f"{name} {column[row]}" for name, column in numbers.items())
        raise InputError(
            f"{source}: row {row} has no finite time or no score ({values}); "
            f"{int(incomplete.sum())} such rows; leave them out (incomplete='drop', --incomplete "
            "drop)"
        )
    return incomplete
