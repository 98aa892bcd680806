"""Samples in NDJSON of many streams, read at once in compiled code.

Only plain lines are read here: an object with ``values``, as many numbers or ``null`` as there are
channels, and optionally ``time``. Any other line, and a number whose last bit would need more than
double precision, is left to `bdl.live.line_formats.LineReader`. Results are those of the
`LineReader`, rounded to single precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Flags, Floats, Longs, Singles
from bdl.compiled import compiled

POWERS = np.array([float(10**power) for power in range(23)])  # exact in double precision
EXACT = 1 << 53  # whole numbers up to here are exact in double precision
MOST = 10**17  # larger mantissas are not read
# A double with these last bits lies on the border between two singles.
MASK, BORDER = (1 << 29) - 1, 1 << 28
NEAR = 8  # units in the last place by which a product of two rounded doubles may be wrong

COMMA, COLON, NEWLINE, MINUS, PLUS, DOT = (ord(sign) for sign in ",:\n-+.")
ZERO, NINE, SMALL_E, LARGE_E = (ord(sign) for sign in "09eE")
OPEN, CLOSE, BEGIN, END = (ord(sign) for sign in "{}[]")
BLANK = np.isin(np.arange(256), [ord(sign) for sign in " \t\r"])  # white space within a line
TIME = np.frombuffer(b'"time"', np.uint8)
VALUES = np.frombuffer(b'"values"', np.uint8)
NULL = np.frombuffer(b"null", np.uint8)

Text = NDArray[np.uint8]


class Scanned(NamedTuple):
    """Lines of a text."""

    read: Flags  # (lines,) whether each was read
    values: Singles  # (lines, channels)
    times: Floats  # (lines,) seconds, or NaN

    def part(self, first: int, stop: int) -> Scanned:
        """Some of the lines, as views of the same arrays."""
        lines = slice(first, stop)
        return Scanned(self.read[lines], self.values[lines], self.times[lines])


def scan(texts: Sequence[bytes], channels: int) -> tuple[Longs, Scanned]:
    """Read all lines of some texts: how many each has, and the lines of all.

    Examples
    --------
    >>> lines, scanned = scan([b'{"time": 0.5, "values": [1.5, null]}\\n{"finish": true}'], 2)
    >>> lines.tolist(), scanned.read.tolist(), scanned.values[0].tolist()
    ([2], [True, False], [1.5, nan])
    """
    # The last line has a line feed, too, so that nothing beyond the text is read.
    text = np.frombuffer(b"\n".join(texts) + b"\n", np.uint8)
    lines = np.fromiter(map(len, texts), np.int64, len(texts))
    total = _count_lines(text, lines)
    read = np.zeros(total, np.bool_)
    values = np.zeros((total, channels), np.float32)
    times = np.full(total, np.nan)
    _scan(text, POWERS, read, values, times, np.zeros(1))
    return lines, Scanned(read, values, times)


@compiled
def _count_lines(text: Text, lines: Longs) -> int:
    """Replace the lengths of texts, each followed by a line feed, by their numbers of lines."""
    first = total = 0
    for i in range(len(lines)):
        stop = first + lines[i] + 1
        count = 0
        for place in range(first, stop):
            count += text[place] == NEWLINE
        lines[i] = count
        total += count
        first = stop
    return total


@compiled
def _scan(
    text: Text,
    powers: Floats,
    read: Flags,
    values: Singles,
    times: Floats,
    scratch: Floats,
) -> None:
    place = 0
    for line in range(len(read)):
        at, times[line] = _line(text, place, powers, values[line], scratch)
        read[line] = at >= 0
        place = max(at, place)
        while text[place] != NEWLINE:
            place += 1
        place += 1


@compiled
def _line(
    text: Text,
    at: int,
    powers: Floats,
    values: Singles,
    scratch: Floats,
) -> tuple[int, float]:
    """Read a line; the place of its end, or -1 if it is not a plain sample, and its time."""
    timed = valued = False
    time = np.nan
    at = _after_blanks(text, at)
    expected = OPEN
    while text[at] == expected:
        at = _after_blanks(text, at + 1)
        is_time = _has(text, at, TIME)
        if (timed if is_time else valued) or not (is_time or _has(text, at, VALUES)):
            return -1, np.nan
        at += len(TIME) if is_time else len(VALUES)
        at = _after_blanks(text, at)
        if text[at] != COLON:
            return -1, np.nan
        at = _after_blanks(text, at + 1)
        if is_time:
            timed = True
            at, time = _number(text, at, powers, scratch, True)
            if at < 0:
                return -1, np.nan
        else:
            valued = True
            before = BEGIN
            for channel in range(len(values)):
                if text[at] != before:
                    return -1, np.nan
                at = _after_blanks(text, at + 1)
                at, value = _number(text, at, powers, scratch, False)
                if at < 0:
                    return -1, np.nan
                values[channel] = value
                at = _after_blanks(text, at)
                before = COMMA
            if text[at] != END:
                return -1, np.nan
            at += 1
        at = _after_blanks(text, at)
        expected = COMMA
    if not valued or text[at] != CLOSE:
        return -1, np.nan
    at = _after_blanks(text, at + 1)
    return (at if text[at] == NEWLINE else -1), time


@compiled
def _after_blanks(text: Text, at: int) -> int:
    """The next place without white space."""
    while BLANK[text[at]]:
        at += 1
    return at


@compiled
def _has(text: Text, at: int, word: Text) -> bool:
    """Whether a word is at a place."""
    i = 0
    while i < len(word) and text[at + i] == word[i]:
        i += 1
    return i == len(word)


@compiled
def _number(text: Text, at: int, powers: Floats, scratch: Floats, exact: bool) -> tuple[int, float]:
    """Read a number, or null as NaN: the place after it, or -1, and the number.

    It has the bits of the nearest double if ``exact``, otherwise those which round to the same
    single as the nearest double.
    """
    if text[at] == NULL[0] and _has(text, at, NULL):
        return at + len(NULL), np.nan
    negative = text[at] == MINUS
    if negative:
        at += 1
    begin, mantissa, power = at, 0, 0
    while ZERO <= text[at] <= NINE and mantissa < MOST:
        mantissa = 10 * mantissa + (text[at] - ZERO)
        at += 1
    if at == begin or (text[begin] == ZERO and at > begin + 1):
        return -1, np.nan
    if text[at] == DOT:
        begin = at = at + 1
        while ZERO <= text[at] <= NINE and mantissa < MOST:
            mantissa = 10 * mantissa + (text[at] - ZERO)
            at += 1
        if at == begin:
            return -1, np.nan
        power = begin - at
    if text[at] == SMALL_E or text[at] == LARGE_E:
        at += 1
        minus = text[at] == MINUS
        if minus or text[at] == PLUS:
            at += 1
        begin, exponent = at, 0
        while ZERO <= text[at] <= NINE and exponent < 1000:
            exponent = 10 * exponent + (text[at] - ZERO)
            at += 1
        if at == begin:
            return -1, np.nan
        power += -exponent if minus else exponent
    if abs(power) >= len(powers) or mantissa >= MOST:
        return -1, np.nan
    if negative and mantissa == 0:  # -0 is a whole number without a sign, -0.0 has one
        return -1, np.nan
    value = np.float64(mantissa)
    value = value / powers[-power] if power < 0 else value * powers[power]
    if mantissa > EXACT:
        scratch[0] = value
        last = scratch.view(np.int64)[0] & MASK
        if exact or abs(last - BORDER) <= NEAR:
            return -1, np.nan
    return at, (-value if negative else value)
