"""Small delimited text tables, read and written field by field, with exact decimal numbers.

A field that holds the delimiter, a quote or a line end is quoted, and a quote inside is doubled.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from bdl.errors import InputError
from bdl.formats.atomic_files import atomic
from bdl.formats.files import existing, reading


def read_rows(path: Path, delimiter: str) -> tuple[list[str], list[list[str]]]:
    """Header and rows; every row has as many fields as the header. Empty lines are left out.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.tsv"
    >>> write_rows(file, ["a", "b"], [["1", "x\\ty"]], "\\t")
    >>> read_rows(file, "\\t")
    (['a', 'b'], [['1', 'x\\ty']])
    """
    with (
        reading(path, "a delimited text table"),
        open(existing(path), encoding="utf-8-sig", newline="") as stream,
    ):
        lines = [line for line in csv.reader(stream, delimiter=delimiter, strict=True) if line]
    if not lines:
        raise InputError(f"{path}: a header line expected, the file has none")
    head, rows = lines[0], lines[1:]
    if len(set(head)) != len(head):
        raise InputError(f"{path}: column names repeat: {', '.join(head)}")
    for number, row in enumerate(rows):
        if len(row) != len(head):
            raise InputError(
                f"{path}: row {number}: {len(head)} fields expected, got {len(row)}; is a "
                "delimiter missing or a field cut?"
            )
    return head, rows


def write_rows(
    path: Path, head: Sequence[str], rows: Iterable[Sequence[str]], delimiter: str
) -> None:
    """Write a table, whole or not at all."""
    with atomic(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def decimal(text: str, file: Path, column: str, row: int) -> Decimal | None:
    """A field as a finite decimal number, or None if it is empty or ``n/a``.

    Examples
    --------
    >>> decimal("0.10", Path("a.tsv"), "onset", 0)
    Decimal('0.10')
    """
    if text.strip() in ("", "n/a"):
        return None
    try:
        number = Decimal(text.strip())
        # An exponent of a million would make every later sum take forever.
        if number.is_finite() and abs(number.adjusted()) < 400:
            return number
    except InvalidOperation:
        pass
    raise InputError(f"{file}: column {column!r}, row {row}: a number expected, got {text!r}")
