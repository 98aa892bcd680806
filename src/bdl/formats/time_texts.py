"""Common local forms of dates and times, rewritten as ISO 8601.

Known are ``15.01.2024 9:05``, ``1/15/2024 9:05:30 PM``, ``2024/01/15 09:05``, ``15-Jan-2024 9:05``,
``Jan 15, 2024 9:05``, two-digit years, and decimals after a comma or a colon. Numbers before a dot
or dash are day first; before a slash, a number above 12 tells which is the day, or the user does.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrow import to_numpy
from bdl.column_values import ColumnPlace
from bdl.errors import InputError

DateOrder = Literal["day-first", "month-first"]
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?")
_HALF_DAY = 12 * 3600 * 10**9
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = (  # with the name of a month in place of {}
    r"(?i)^(\d{{1,2}})[ .\-/]*{}[a-z]*[ .,\-/]*(\d{{4}}|\d\d)[ ,:T]*",
    r"(?i)^(?:[a-z]+,? )?{}[a-z]*\.? (\d{{1,2}}),? (\d{{4}})[ ,]*",
)
_REWRITTEN = (
    (r"(?i)\s*[ap]\.?m\.?$", ""),
    (r"\b(\d)([/.:,\-])", r"0\1\2"),
    (r":(\d)$", r":0\1"),
    (r"(\d\d:\d\d:\d\d)[:,](\d+)$", r"\1.\2"),
    (r"^(\d{4})[/.](\d\d)[/.](\d\d)", r"\1-\2-\3"),
    (r"^(\d\d[/.]\d\d[/.])(\d\d)([ ,T]|$)", r"\120\2\3"),
)


def is_iso(array: pa.Array) -> bool:
    """Whether the first text that is there has the form of ISO 8601."""
    return all(_ISO.fullmatch(first) for first in array.drop_null()[:1].to_pylist())


def find_date_order(array: pa.Array, place: ColumnPlace) -> DateOrder | None:
    """Which number of the dates in a column is the day; None if no date tells.

    Examples
    --------
    >>> find_date_order(pa.array(["1/2/2024", "1/15/2024"]), ColumnPlace("a.csv", "Date"))
    'month-first'
    """
    import pyarrow.compute as pc

    parts = pc.extract_regex(array, r"^\s*(?P<a>\d{1,2})(?P<mark>[/.\-])(?P<b>\d{1,2})[/.\-]")
    parts = parts.drop_null()
    if not len(parts) or not pc.all(pc.equal(parts.field("mark"), "/")).as_py():
        return "day-first"
    first, second = (pc.max(parts.field(name).cast(pa.int64())).as_py() > 12 for name in "ab")
    if first and second:
        raise place.error(0, "dates of one order", f"{array[0].as_py()} and others")
    return "day-first" if first else "month-first" if second else None


def rewrite(
    array: pa.Array, place: ColumnPlace, order: DateOrder | None
) -> tuple[pa.Array, NDArray[np.int64]]:
    """Texts as ISO 8601 without AM and PM, and the nanoseconds to add for those.

    Examples
    --------
    >>> texts, added = rewrite(pa.array(["15.1.2024 9:05 PM"]), ColumnPlace("a.csv", "t"), None)
    >>> texts.to_pylist(), added.tolist()
    (['2024-01-15 09:05'], [43200000000000])
    """
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(array)
    if re.search("|".join(_MONTHS), "".join(texts[:1].to_pylist()).lower()):
        for number, month in enumerate(_MONTHS, 1):
            for form in _NAMED:
                texts = pc.replace_substring_regex(
                    texts, form.format(month), rf"\1.{number:02}.\2 "
                )
        texts = pc.utf8_trim_whitespace(texts)
    order = order or find_date_order(texts, place)
    if order is None:
        raise InputError(
            f"{place.path}: column {place.column!r}: is {array[0].as_py()!r} the day or the month "
            "first? Say which (date_order=, --date-order day-first or month-first)"
        )
    after, before = (to_numpy(pc.match_substring_regex(texts, rf"(?i){m}\.?m\.?$")) for m in "pa")
    noon = to_numpy(pc.match_substring_regex(texts, r"(^|[ T])12:"))
    added = after.astype(np.int64) - (noon & (after | before))
    year_first = r"\3-\2-\1" if order == "day-first" else r"\3-\1-\2"
    for pattern, replacement in (
        *_REWRITTEN,
        (r"^(\d\d)[/.\-](\d\d)[/.\-](\d{4})", year_first),
        (r"^(\d{4}-\d\d-\d\d)[ ,T]+", r"\1 "),
    ):
        texts = pc.replace_substring_regex(texts, pattern, replacement)
    return texts, added * _HALF_DAY
