"""Where the table begins in a CSV file, how it is delimited, and what the lines before it say.

Actigraphs write lines about the device before the table: ActiGraph between lines of dashes,
Actiwatch (Actiware) before a line of column names with ``Line``, ``Date`` and ``Time``, GENEActiv
one hundred lines of ``name,value`` before rows without column names. In any other file that does
not begin with its table, the line of column names is the first one that holds no number and has as
many fields as the lines after it. A line of units below the names joins them: ``x`` and ``mg``
become ``x [mg]``. A table that begins with numbers or dates has no names.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from bdl.column_names import is_time_unit
from bdl.units import is_unit

UNNAMED = "(no name)"
_GENEACTIV = ("time", "x [g]", "y [g]", "z [g]", "light [lux]", "button", "temperature [°C]")
_ACTIGRAPH = ("Axis1", "Axis2", "Axis3", "Steps", "Lux", "Inclinometer")
_NUMBER = re.compile(r"\s*[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?\s*")
_DATE = re.compile(r"\s*(\d{4}-\d\d-\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})([ T,]+[\d:.,]+.*)?")
_ALIKE = 10  # lines after the names that must have as many fields


@dataclass(frozen=True)
class CsvHeader:
    """Where the rows of a CSV file are."""

    delimiter: str
    names: tuple[str, ...]  # of the columns
    skip: int = 1  # lines before the first row
    device: str | None = None  # that wrote the file, if it is known
    # What the lines before the table say: period, date_order and start (local).
    about: dict[str, Any] = field(default_factory=dict)


def read_csv_header(lines: list[str], tabs: bool) -> CsvHeader:
    """The header of a file by its first lines; ``tabs`` says whether its suffix is that of TSV.

    Examples
    --------
    >>> read_csv_header(["Time;Activity", "0;1,5"], False)
    CsvHeader(delimiter=';', names=('Time', 'Activity'), skip=1, device=None, about={})
    """
    if "ActiGraph" in lines[0]:
        return _actigraph(lines)
    if lines[0].lower().startswith("device type,geneactiv"):
        return _geneactiv(lines)
    for number, line in enumerate(lines):
        names = _names(line, _delimiter(line))
        if number and {"Line", "Date", "Time"} <= {*names}:
            return CsvHeader(_delimiter(line), names, number + 1, "Actiwatch")
    first = _first_line(lines, tabs)
    delimiter = "\t" if tabs else _delimiter(lines[first])
    names = _names(re.sub(r"^#\s*", "", lines[first]), delimiter)
    if _holds_values(names):
        return CsvHeader(delimiter, _numbered(names), first)
    if units := _units(*(split_fields(line, delimiter) for line in lines[first + 1 : first + 3])):
        pairs = zip_longest(names, units, fillvalue="")
        joined = tuple(f"{name} [{unit}]" if unit else name for name, unit in pairs)
        return CsvHeader(delimiter, joined, first + 2)
    return CsvHeader(delimiter, names, first + 1)


def _first_line(lines: list[str], tabs: bool) -> int:
    """Where the table begins; the first line if no other one is more likely."""

    def fields(line: str, delimiter: str) -> int:
        return len(split_fields(line, delimiter)) if line.strip() else 0

    for number, line in enumerate(lines):
        delimiter = "\t" if tabs else _delimiter(line)
        names = _names(line, delimiter) if line.strip() else ()
        below = lines[number + 1 : number + 1 + _ALIKE]
        regular = bool(names) and all(fields(line, delimiter) == len(names) for line in below)
        if number == 0 and regular:
            return 0
        named = len(names) > 1 and not any(map(_NUMBER.fullmatch, names))
        if regular and named and below and re.search(r"\d", below[0]):
            return number
    return 0


def _holds_values(names: tuple[str, ...]) -> bool:
    """Whether what should be names are numbers or dates, but not those that count columns."""
    if not all(_NUMBER.fullmatch(name) or _DATE.fullmatch(name) for name in names):
        return False
    return names not in [tuple(map(str, range(i, i + len(names)))) for i in (0, 1)]


def _numbered(values: tuple[str, ...]) -> tuple[str, ...]:
    """Names of columns that have none; the first that begins with a date is the time."""
    names = [f"column_{number}" for number in range(1, len(values) + 1)]
    for place, value in enumerate(values):
        if _DATE.fullmatch(value):
            names[place] = "time"
            break
    return tuple(names)


def _units(fields: tuple[str, ...] = (), below: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The units of a line that holds nothing else, above values; otherwise none."""
    units = tuple(field.strip("[]()- ") for field in fields)
    if not any(units) or not all(is_unit(unit) or is_time_unit(unit) for unit in units if unit):
        return ()
    values = [value for unit, value in zip_longest(units, below, fillvalue="") if unit]
    return units if all(_NUMBER.fullmatch(v) or _DATE.fullmatch(v) for v in values) else ()


def _delimiter(line: str) -> str:
    """Of comma, semicolon and tab the most frequent outside quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    return max(",;\t", key=bare.count)


def split_fields(line: str, delimiter: str) -> tuple[str, ...]:
    """The fields of a line.

    Examples
    --------
    >>> split_fields('a,"b, c",', ",")
    ('a', 'b, c', '')
    """
    return tuple(next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), []))


def _names(line: str, delimiter: str) -> tuple[str, ...]:
    """The fields of a line of names; a delimiter at its end makes a column without a name."""
    row = split_fields(line, delimiter)
    return (*row[:-1], UNNAMED) if len(row) > 1 and not row[-1] else row


def _actigraph(lines: list[str]) -> CsvHeader:
    """Lines between dashes; after them a line of column names, or the rows at once."""
    dashes = [number for number, line in enumerate(lines) if line.startswith("-----")]
    first = dashes[1] + 1 if len(dashes) > 1 else 1
    text = "".join(lines[:first])
    about: dict[str, Any] = {}
    if form := re.search(r"date format ([dM]+)\S", text):
        about["date_order"] = "month-first" if form[1].startswith("M") else "day-first"
    epoch = re.search(r"Epoch Period \(hh:mm:ss\) (\d+):(\d+):(\d+)", text)
    hours, minutes, seconds = map(int, epoch.groups()) if epoch else (0, 0, 0)
    if length := 3600 * hours + 60 * minutes + seconds:
        about["period"] = float(length)
    elif rate := re.search(r" at (\d+) Hz", text):  # raw values have no epochs
        about["period"] = 1 / int(rate[1])
    date = re.search(r"Start Date (\S+)", text)
    time = re.search(r"Start Time (\S+)", text)
    if date and time and (parts := re.fullmatch(r"(\d+)\D(\d+)\D(\d+)", date[1])):
        numbers = [*map(int, parts.groups())]
        if len(parts[1]) == 4:
            numbers.reverse()
        elif about.get("date_order") == "month-first":
            numbers[:2] = numbers[1::-1]
        day, month, year = numbers
        year += 2000 if year < 100 else 0
        about["start"] = f"{year:04}-{month:02}-{day:02} {time[1].zfill(8)}"
    line = lines[first] if first < len(lines) else ""
    delimiter = _delimiter(line)
    names = _names(line, delimiter)
    if any(re.search("[A-Za-z]", name) for name in names[:1]):
        return CsvHeader(delimiter, names, first + 1, "ActiGraph", about)
    named = (*_ACTIGRAPH, *(f"column_{i}" for i in range(len(_ACTIGRAPH), len(names))))
    return CsvHeader(delimiter, named[: len(names)], first, "ActiGraph", about)


def _geneactiv(lines: list[str]) -> CsvHeader:
    """The first line that begins with a date and a time and has numbers after it is a row."""
    row = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(:\d+)?,-?\d")
    first = next((number for number, line in enumerate(lines) if row.match(line)), len(lines))
    count = len(split_fields(lines[first], ",")) if first < len(lines) else len(_GENEACTIV)
    more = tuple(f"column_{i}" for i in range(len(_GENEACTIV), count))
    return CsvHeader(",", (*_GENEACTIV, *more)[:count], first, "GENEActiv")
