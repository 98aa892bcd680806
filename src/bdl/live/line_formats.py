"""Samples as lines of text: NDJSON or CSV.

NDJSON has one object per line, ``{"time": 12.5, "values": [0.1, 0.2]}``: seconds from the start of
the stream, and one number per channel in the order of the model, or an object of numbers by
channel. ``null`` is missing. CSV has a header, then one row per sample: a column ``time`` and one
column per channel, found by name; an empty cell is missing. Without times, samples follow each
other.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from bdl.errors import ConfigError, InputError

LONGEST_MESSAGE = 300  # characters of a message about a line

LineFormat = Literal["ndjson", "csv"]


class Sample(NamedTuple):
    """One sample: its time in seconds, or None, and one number per channel."""

    time: float | None
    values: list[float]


class LineReader:
    """Reads samples of the channels of a model from the lines of one source.

    Without a format it is recognised by the first line.

    Examples
    --------
    >>> reader = LineReader(["x", "y"])
    >>> [reader.sample(line) for line in ("time,y,x", "0.5,1,2", "1.0,,4")]
    [None, Sample(time=0.5, values=[2.0, 1.0]), Sample(time=1.0, values=[4.0, nan])]
    >>> LineReader(["x"]).sample('{"time": 3, "values": [null]}')
    Sample(time=3.0, values=[nan])
    """

    def __init__(self, channels: Sequence[str], format: LineFormat | None = None) -> None:
        self.channels = tuple(channels)
        self.format = format
        self.header: list[str] | None = None

    def sample(self, line: str) -> Sample | None:
        """The sample of a line; None for an empty line and for the header of CSV.

        Raises
        ------
        InputError
            The line cannot be read; the next one may be.
        ConfigError
            The header of CSV lacks a channel, so that no later line can be read.
        """
        text = line.strip()
        if not text:
            return None
        format = self.format or ("ndjson" if text.startswith("{") else "csv")
        sample = self._object(text) if format == "ndjson" else self._line(text)
        self.format = format  # not set by a first line that cannot be read
        return sample

    def _object(self, text: str) -> Sample:
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"not JSON: {error}") from error
        if not isinstance(content, dict) or "values" not in content:
            raise InputError('an object {"time": seconds, "values": [...]} expected')
        unknown = [key for key in content if key not in ("time", "values")]
        if unknown:
            raise InputError(f"unknown key {unknown[0]!r}; an object has time and values")
        values = content["values"]
        if isinstance(values, dict):
            missing = [name for name in self.channels if name not in values]
            if missing:
                raise InputError(f"channel {', '.join(missing)} is missing")
            values = [values[name] for name in self.channels]
        if not isinstance(values, list) or len(values) != len(self.channels):
            count = len(values) if isinstance(values, list) else 1
            raise InputError(
                f"{len(self.channels)} values expected ({', '.join(self.channels)}), got {count}"
            )
        time = content.get("time")
        return Sample(
            None if time is None else _time(time),
            [_number(value, name) for value, name in zip(values, self.channels, strict=True)],
        )

    def _header(self, row: list[str]) -> list[str]:
        names = [name.strip() for name in row]
        missing = [name for name in self.channels if name not in names]
        if missing:
            # With a header that lacks a channel, no later line can be read either.
            error = ConfigError if {"time", *self.channels} & {*names} else InputError
            raise error(
                f"a header with time and the channels {', '.join(self.channels)} expected; "
                f"{', '.join(missing)} is missing from {', '.join(names)}"
            )
        return names

    def _line(self, text: str) -> Sample | None:
        row = next(csv.reader([text]))
        if self.header is None:
            self.header = self._header(row)
            return None
        if len(row) != len(self.header):
            raise InputError(f"{len(self.header)} cells expected, got {len(row)}")
        cells = dict(zip(self.header, row, strict=True))
        time = cells.get("time", "").strip()
        return Sample(
            _time(time) if time else None,
            [_number(cells[name].strip() or None, name) for name in self.channels],
        )


def short(message: str) -> str:
    """A message about a line, cut if it is long.

    >>> len(short("x" * 1_000_000))
    301
    """
    return message if len(message) <= LONGEST_MESSAGE else message[:LONGEST_MESSAGE] + "…"


def _time(value: Any) -> float:
    """A time in seconds."""
    number = _number(value, "time")
    if math.isnan(number):
        raise InputError("time: a finite number expected, got NaN")
    return number


def _number(value: Any, what: str) -> float:
    """A number; None is missing."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(f"{what}: a number expected, got {value!r}")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise InputError(f"{what}: a number expected, got {value!r}") from None
    if math.isinf(number):
        raise InputError(f"{what}: a finite number expected, got {value!r}; a missing one is empty")
    return number
