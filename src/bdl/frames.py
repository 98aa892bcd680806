"""Data frames: columns as codes and numbers, tables of events, and results as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl import column_values
from bdl.arrays import Flags, Floats, Ints
from bdl.arrow import from_numpy, from_texts
from bdl.column_names import TIME_UNITS, find_columns, guess_notes, time_unit
from bdl.column_values import ColumnPlace, is_text
from bdl.errors import InputError, MissingExtraError
from bdl.table_plots import Drawing, draw

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Backend = Literal["pandas", "polars", "pyarrow"]
Frame = Any  # a data frame of one of these
SHOWN = 20  # rows of a table in a notebook
_OPTIONAL: tuple[Backend, ...] = ("polars", "pandas")
Codes = Ints


def open_frame(frame: Any, names: Sequence[str], source: str) -> nw.DataFrame[Any]:
    """A pandas, polars or pyarrow table that has the named columns."""
    try:
        table: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise InputError(
            f"{source}: a pandas, polars or pyarrow table expected, got {type(frame).__name__}"
        ) from error
    for name in names:
        if name not in table.columns:
            raise InputError(
                f"{source}: column {name!r} is missing; it has {', '.join(table.columns)}"
            )
    return table


def encode(column: nw.Series[Any], place: ColumnPlace) -> tuple[tuple[str, ...], Codes]:
    """Sorted distinct names of a text column, and each row's index among them."""
    array = _arrow_array(column, place)
    if not is_text(array.type):
        array = array.cast(pa.string())
    return _in_order(*column_values.names(array, place))


def encode_names(names: Sequence[str] | NDArray[Any], what: str) -> tuple[tuple[str, ...], Codes]:
    """Sorted distinct names, and the index of each name among them."""
    listed = names.tolist() if isinstance(names, np.ndarray) else names
    place: dict[str, int] = {}
    codes = np.fromiter((place.setdefault(n, len(place)) for n in listed), np.int32, len(listed))
    for name in place:
        if not isinstance(name, str):
            raise InputError(f"events need texts as {what}, got {name!r}")
        try:
            name.encode()
        except UnicodeError as error:
            raise InputError(f"events need texts as {what}: {error}") from error
    return _in_order([*place], codes)


def _in_order(distinct: list[str], codes: NDArray[np.integer]) -> tuple[tuple[str, ...], Codes]:
    """The same names, sorted, and the codes in that order."""
    order = sorted(range(len(distinct)), key=distinct.__getitem__)
    rank = np.empty(len(distinct), np.int32)
    rank[order] = np.arange(len(distinct), dtype=np.int32)
    return tuple(map(distinct.__getitem__, order)), rank[codes]


def numbers(column: nw.Series[Any], place: ColumnPlace) -> Floats:
    """A column as float64, NaN where it is missing; text is an error that names the row."""
    return np.array(column_values.numbers(_arrow_array(column, place), place))


def _arrow_array(column: nw.Series[Any], place: ColumnPlace) -> pa.Array:
    try:
        array = column.to_arrow()
    except (pa.ArrowException, UnicodeError, TypeError) as error:
        raise InputError(
            f"{place.path}: column {place.column!r}: values of one type expected: {error}"
        ) from error
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def backend_of(table: nw.DataFrame[Any]) -> Backend:
    """The kind of data frame behind a table."""
    name = str(table.implementation).split(".")[-1].lower()
    return name if name in ("pandas", "polars", "pyarrow") else "polars"  # type: ignore[return-value]


def _default_backend() -> Backend:
    installed: list[Backend] = [name for name in _OPTIONAL if find_spec(name) is not None]
    return installed[0] if installed else "pyarrow"


def merge(parts: list[tuple[tuple[str, ...], Codes]]) -> tuple[tuple[str, ...], Codes]:
    """The names of several tables, sorted, and the codes of all rows."""
    names = tuple(sorted({name for part, _ in parts for name in part}))
    place = {name: i for i, name in enumerate(names)}
    codes = [np.array([place[name] for name in part], dtype=np.int32)[code] for part, code in parts]
    return names, np.concatenate(codes)


def event_columns(
    frame: Any, named: dict[str, str | None], *, score: str | None, issued: str | None, source: str
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
    table = open_frame(frame, (), source)
    roles = (*named, "score") if score == "score" else tuple(named)
    by_role = find_columns(table.columns, named, roles, source, needed=named)
    score = by_role.get("score", score)
    columns: dict[str, Any] = {"backend": backend_of(table)}
    for role, names, codes in (
        ("recording", "recordings", "recording_code"),
        ("event", "types", "type_code"),
    ):
        place = ColumnPlace(source, by_role[role])
        columns[names], columns[codes] = encode(table.get_column(by_role[role]), place)
    for field, column in (("time", by_role["time"]), ("score", score), ("issued", issued)):
        if column is not None and column in table.columns:
            columns[field] = numbers(table.get_column(column), ColumnPlace(source, column))
            unit = time_unit(column) or "s"
            if field != "score" and unit != "s":
                columns[field] = columns[field] * TIME_UNITS[unit]
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


class Tabular:
    """Base of results that are tables, with an HTML form, conversions to data frames and a plot.

    A subclass is a dataclass whose fields are the columns, or defines `columns`; its ``drawing``
    selects the columns that `plot` draws.

    Examples
    --------
    >>> class Squares(Tabular):
    ...     def columns(self):
    ...         return {"x": [1, 2], "square": [1.0, 4.0]}
    >>> Squares().to_polars()["square"].to_list()
    [1.0, 4.0]
    >>> Squares()._repr_html_()[:30]
    '<table><thead><tr><th>x</th><t'
    """

    drawing: ClassVar[Drawing] = Drawing()

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name."""
        return {name: getattr(self, name) for name in getattr(self, "__dataclass_fields__", ())}

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The table as a data frame.

        Parameters
        ----------
        backend
            ``polars``, ``pandas`` or ``pyarrow``; by default the first of these that is installed.
        """
        columns, backend = self.columns(), backend or _default_backend()
        if backend == "pyarrow":
            return pa.table({name: _arrow(column) for name, column in columns.items()})
        if find_spec(backend) is None:
            raise MissingExtraError(f"{backend} is not installed: pip install {backend}")
        if backend == "polars":  # it would not know the type of an empty column of names
            columns = {
                name: column if len(column) else _arrow(column) for name, column in columns.items()
            }
        return nw.from_dict(columns, backend=backend).to_native()

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        return self.to_frame("pandas")

    def to_polars(self) -> Any:
        """The table as a polars data frame."""
        return self.to_frame("polars")

    def plot(self) -> Figure:
        """Draw the table as an interactive plotly figure."""
        return draw(self.columns(), self.drawing)

    def _repr_html_(self) -> str:
        return html_table(self.columns())


def columns_of(rows: Sequence[Any], kind: type) -> dict[str, list[Any]]:
    """The columns of rows that are dataclasses of one kind; NaN where a field is None.

    Examples
    --------
    >>> from bdl.intervals import IntervalType
    >>> columns_of([IntervalType("sleep", "onset", "wakeup")], IntervalType)
    {'name': ['sleep'], 'onset': ['onset'], 'offset': ['wakeup']}
    """
    values = {column.name: [getattr(row, column.name) for row in rows] for column in fields(kind)}
    return {
        name: [np.nan if value is None else value for value in column]
        for name, column in values.items()
    }


def _arrow(column: Any) -> Any:
    """A column as an Arrow array, without pyarrow's own conversion, which imports pandas."""
    values = np.asarray(column)
    return from_texts(values.tolist()) if values.dtype.kind in "OU" else from_numpy(values)


def counts_text(head: str, names: Sequence[str], codes: Codes) -> str:
    """A table in a few lines: its head, and the number of rows with each name."""
    counts = np.bincount(codes, minlength=len(names))
    width = max(map(len, names), default=0)
    rows = (f"  {name:<{width}}  {count:,}" for name, count in zip(names, counts, strict=True))
    return "\n".join([head, *rows])


def html_table(columns: dict[str, Any]) -> str:
    """Columns as an HTML table for notebooks, its first rows only."""
    size = len(next(iter(columns.values()), ()))

    def text(value: Any) -> str:
        number = isinstance(value, (float, np.floating))
        return escape(f"{value:.6g}" if number else str(value))

    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{text(column[row])}</td>' for column in columns.values())}</tr>"
        for row in range(min(size, SHOWN))
    )
    more = f"<p>{size:,} rows, {SHOWN} shown</p>" if size > SHOWN else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"
