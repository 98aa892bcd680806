"""Tables and durations as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

WIDTH = 80
_GAP = "  "
_SHORTEST = 8  # a shortened name keeps at least this many characters


def text_table(
    columns: Mapping[str, Sequence[str]], *, text: str | None = None, width: int | None = None
) -> list[str]:
    """Lines of a table: names at the left, numbers at the right of their columns.

    Parameters
    ----------
    columns
        Cells of each column by its heading. The first column holds names.
    text
        The last column if it holds sentences: aligned at the left and continued on further lines,
        of 80 characters where no width is given.
    width
        Most characters of a line. Where the table is wider, names of the first column are
        shortened. None leaves them whole.

    Examples
    --------
    >>> print("\\n".join(text_table({"type": ["onset", "wakeup"], "AP": ["0.5", "0.25"]})))
    type      AP
    onset    0.5
    wakeup  0.25
    >>> text_table({"type": ["a rather long name"], "AP": ["0.5"]}, width=16)[1]
    'a rather l…  0.5'
    """
    first, *numeric = (head for head in columns if head != text)
    sizes = {head: max(map(len, [head, *cells])) for head, cells in columns.items()}
    taken = sum(len(_GAP) + sizes[head] for head in numeric)
    if width is not None and text is None and sizes[first] + taken > width:
        sizes[first] = max(width - taken, _SHORTEST, len(first))
    lines = []
    for row in ([*columns], *zip(*columns.values(), strict=True)):
        cells = dict(zip(columns, row, strict=True))
        name, size = cells[first], sizes[first]
        line = f"{name if len(name) <= size else name[: size - 1] + '…':<{size}}"
        line += "".join(f"{_GAP}{cells[head]:>{sizes[head]}}" for head in numeric)
        if text is None:
            lines.append(line)
            continue
        room = max((width or WIDTH) - len(line) - len(_GAP), 20)
        sentence, *more = textwrap.wrap(cells[text], room) or [""]
        lines.append(f"{line}{_GAP}{sentence}".rstrip())
        lines += [" " * (len(line) + len(_GAP)) + continued for continued in more]
    return lines


def number_text(value: float | None, form: str = ".4f") -> str:
    """A number of a table; a dash where there is none.

    Examples
    --------
    >>> number_text(0.25), number_text(float("nan")), number_text(None)
    ('0.2500', '–', '–')
    """
    return "–" if value is None or value != value else format(value, form)


def duration_text(seconds: float) -> str:
    """A duration with a suitable unit: seconds up to two minutes, then minutes, hours, days.

    Examples
    --------
    >>> duration_text(0.25), duration_text(90), duration_text(600), duration_text(99360)
    ('0.25 s', '90 s', '10 min', '27.6 h')
    >>> duration_text(30 * 86400)
    '30 days'
    """
    for unit, size, limit in (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 4 * 86400)):
        if abs(seconds) < limit:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 86400:,.4g} days"
