"""Where the table begins in a CSV file, how it is delimited, and what the lines before it say.

Actigraphs write lines about the device before the table: ActiGraph between lines of dashes,
Actiwatch (Actiware) before a line of column names with ``Line``, ``Date`` and ``Time``, GENEActiv
one hundred lines of ``name,value`` before rows without column names.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from typing import Any

UNNAMED = "(no name)"
_GENEACTIV = ("time", "x", "y", "z", "light", "button", "temperature")
_ACTIGRAPH = ("Axis1", "Axis2", "Axis3", "Steps", "Lux", "Inclinometer")


@dataclass(frozen=True)
class CsvHeader:
    """Where the rows of a CSV file are.

    Parameters
    ----------
    delimiter
        What separates fields.
    names
        Names of the columns.
    skip
        Number of lines before the first row.
    device
        Name of the device that wrote the file, if it is known.
    about
        What the lines before the table say: ``period``, ``date_order``, ``start`` (local).
    """

    delimiter: str
    names: tuple[str, ...]
    skip: int = 1
    device: str | None = None
    about: dict[str, Any] = field(default_factory=dict)


def read_csv_header(lines: list[str], tabs: bool) -> CsvHeader:
    """The header of a file by its first lines.

    Parameters
    ----------
    lines
        The first lines, some hundred if there are so many.
    tabs
        Whether the suffix tells that tabs separate fields.

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
        names = _fields(line, _delimiter(line))
        if number and {"Line", "Date", "Time"} <= {*names}:
            return CsvHeader(_delimiter(line), names, number + 1, "Actiwatch")
    delimiter = "\t" if tabs else _delimiter(lines[0])
    return CsvHeader(delimiter, _fields(lines[0], delimiter))


def _delimiter(line: str) -> str:
    """Of comma, semicolon and tab the most frequent outside quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    return max(",;\t", key=bare.count)


def _fields(line: str, delimiter: str) -> tuple[str, ...]:
    row = next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter), [])
    # A delimiter at the end of every line makes a column without a name.
    return tuple([*row[:-1], UNNAMED] if len(row) > 1 and not row[-1] else row)


def _actigraph(lines: list[str]) -> CsvHeader:
    """Lines between dashes; after them a line of column names, or the rows at once."""
    dashes = [number for number, line in enumerate(lines) if line.startswith("-----")]
    first = dashes[1] + 1 if len(dashes) > 1 else 1
    text = "".join(lines[:first])
    about: dict[str, Any] = {}
    if form := re.search(r"date format ([dMy]+)\S", text):
        about["date_order"] = "month-first" if form[1].startswith("M") else "day-first"
    if epoch := re.search(r"Epoch Period \(hh:mm:ss\) (\d+):(\d+):(\d+)", text):
        hours, minutes, seconds = map(int, epoch.groups())
        about["period"] = float(3600 * hours + 60 * minutes + seconds)
    date = re.search(r"Start Date (\S+)", text)
    time = re.search(r"Start Time (\S+)", text)
    if date and time and (parts := re.fullmatch(r"(\d+)\D(\d+)\D(\d{4})", date[1])):
        day, month = (2, 1) if about.get("date_order") == "month-first" else (1, 2)
        iso = f"{parts[3]}-{int(parts[month]):02}-{int(parts[day]):02}"
        about["start"] = f"{iso} {time[1].zfill(8)}"
    line = lines[first] if first < len(lines) else ""
    delimiter = _delimiter(line)
    names = _fields(line, delimiter)
    if any(re.search("[A-Za-z]", name) for name in names[:1]):
        return CsvHeader(delimiter, names, first + 1, "ActiGraph", about)
    named = (*_ACTIGRAPH, *(f"column_{i}" for i in range(len(_ACTIGRAPH), len(names))))
    return CsvHeader(delimiter, named[: len(names)], first, "ActiGraph", about)


def _geneactiv(lines: list[str]) -> CsvHeader:
    """The first line that begins with a date and a time and has numbers after it is a row."""
    row = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(:\d+)?,-?\d")
    first = next((number for number, line in enumerate(lines) if row.match(line)), len(lines))
    count = len(_fields(lines[first], ",")) if first < len(lines) else len(_GENEACTIV)
    more = tuple(f"column_{i}" for i in range(len(_GENEACTIV), count))
    return CsvHeader(",", (*_GENEACTIV, *more)[:count], first, "GENEActiv")
