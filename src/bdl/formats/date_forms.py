"""Dates and times in common local forms, rewritten as ISO 8601.

Known are ``15.01.2024 9:05``, ``1/15/2024 9:05:30 PM``, ``2024/01/15 09:05``, ``15-Jan-2024 9:05``,
``Jan 15, 2024 9:05``, two-digit years, and decimals after a comma or a colon. Numbers before a dot
or dash are day first; before a slash, a number above 12 shows which is the day, or the user says
it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa

from bdl.arrays import Longs
from bdl.arrow import to_numpy
from bdl.column_values import ColumnPlace, decoded
from bdl.errors import InputError
from bdl.formats.time_zones import NANO

DateOrder = Literal["day-first", "month-first"]
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_NAMED_MONTHS = (  # become day.month.year
    *((rf"(?i)(^|[^a-z]){m}[a-z]*", rf"\1<{i:02}>") for i, m in enumerate(_MONTHS.split("|"), 1)),
    (r"^(\d\d?)[ .\-/]*<(\d\d)>[ .,\-/]*(\d{4}|\d\d)[ ,:T]*", r"\1.\2.\3 "),
    (r"(?i)^(?:[a-z]+,? )?<(\d\d)>\.? (\d\d?),? (\d{4})[ ,]*", r"\2.\1.\3 "),
)
_NUMBERS = (  # day first becomes year first, all of two digits at least
    (r"(?i)\s*([ap]\.?m\.?)?$", ""),
    (r"(:\d+[.,]\d)-", r"\10-"),
    (r"\b(\d)([/.:,\-])", r"0\1\2"),
    (r":(\d)$", r":0\1"),
    (r"(\d\d:\d\d:\d\d)[:,](\d+)$", r"\1.\2"),
    (r"^(\d\d[/.]\d\d[/.])(\d\d)([ ,T]|$)", r"\120\2\3"),
    (r"^(\d{4})[/.](\d\d)[/.](\d\d)", r"\1-\2-\3"),
    (r"^(\d\d)[/.\-](\d\d)[/.\-](\d{4})", r"\3-\2-\1"),
    (r"^(\d{4}-\d\d-\d\d)[ ,T]+", r"\1 "),
)


def is_iso(texts: pa.Array) -> bool:
    """Whether the first text that is there has the form of ISO 8601."""
    return all(_ISO.fullmatch(first) for first in texts.drop_null()[:1].to_pylist())


def joined_texts(columns: Sequence[pa.Array]) -> pa.Array:
    """A column of times, or columns of dates and times as one of text.

    Examples
    --------
    >>> joined_texts([pa.array(["2024-01-15"]), pa.array(["09:05"])]).to_pylist()
    ['2024-01-15 09:05']
    """
    if len(columns) == 1:
        return columns[0]
    import pyarrow.compute as pc

    texts = [pc.utf8_trim_whitespace(decoded(column).cast(pa.string())) for column in columns]
    return pc.binary_join_element_wise(*texts, pa.scalar(" "))


def find_date_order(array: pa.Array, place: ColumnPlace) -> DateOrder | None:
    """Which number of the dates in a column is the day; None if no date shows it, or in ISO 8601.

    Examples
    --------
    >>> find_date_order(pa.array(["1/2/2024", "1/15/2024"]), ColumnPlace("a.csv", "Date"))
    'month-first'
    """
    if is_iso(texts := decoded(array).drop_null()):
        return None
    form = re.compile(r"\s*(\d\d?)([/.-])(\d\d?)[/.-]", re.ASCII)
    dates = [date.groups() for text in texts.to_pylist() if (date := form.match(text))]
    if not dates or any(mark != "/" for _, mark, _ in dates):
        return "day-first"
    first, second = (max(int(date[i]) for date in dates) > 12 for i in (0, 2))
    if first and second:
        raise place.error(0, "dates of one order", f"{array[0].as_py()} and others")
    return "day-first" if first else "month-first" if second else None


def rewrite(array: pa.Array, place: ColumnPlace, order: DateOrder | None) -> tuple[pa.Array, Longs]:
    """Texts as ISO 8601 without AM and PM, and the nanoseconds to add for those."""
    import pyarrow.compute as pc

    named = re.search(_MONTHS, array[0].as_py().lower())
    order = order or ("day-first" if named else find_date_order(array, place))
    if order is None:
        raise InputError(
            f"{place.path}: column {place.column!r}: is {array[0].as_py()!r} the day or the month "
            "first? Say which (date_order=, --date-order day-first or month-first)"
        )
    texts = pc.utf8_trim_whitespace(array)
    pm, am = (to_numpy(pc.match_substring_regex(texts, rf"(?i){m}\.?m\.?$")) for m in "pa")
    swapped = ((r"^(\d\d?)([/.\-])(\d\d?)([/.\-])", r"\3\2\1\4"),) if order == "month-first" else ()
    for pattern, replacement in (*swapped, *(_NAMED_MONTHS if named else ()), *_NUMBERS):
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    late = to_numpy(pc.match_substring_regex(texts, "^.{10} (1[3-9]|2)")) & (pm | am)
    if late.any():
        row = int(np.argmax(late))
        raise place.error(row, "an hour up to 12 before AM or PM", array[row].as_py())
    noon = to_numpy(pc.match_substring_regex(texts, "^.{10} 12:")) & (pm | am)
    return texts, (pm.astype(np.int64) - noon) * (12 * 3600 * NANO)
