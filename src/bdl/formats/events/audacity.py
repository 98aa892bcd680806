"""Label tracks of Audacity: one text file per recording, a line per label.

A line is start, end and text, separated by tabs, in seconds; a point has start = end. A label
without a text is called ``event``. Lines that begin with a backslash hold frequencies and are
skipped. The format has no scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import ClassVar, Literal

from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.atomic_files import atomic
from bdl.formats.delimited import decimal
from bdl.formats.events.annotation_format import Annotation, AnnotationFormat, rows_by_recording
from bdl.formats.events.event_format import UnscoredFormat
from bdl.formats.files import matching, reading
from bdl.recording import Recordings

_LINE = re.compile(r"-?\d+(\.\d*)?\t-?\d+(\.\d*)?(\t|$)")


class AudacityLabels(UnscoredFormat, AnnotationFormat):
    """Label tracks of Audacity, files or folders: start, end and text.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> events = Events.of("a", ["x:onset", "x:offset", "beep"], [1.0, 2.5, 3.0])
    >>> AudacityLabels().write(events, folder)
    >>> print((folder / "a.txt").read_text().expandtabs(6), end="")
    1.0   2.5   x
    3.0   3.0   beep
    """

    kind: Literal["audacity"] = "audacity"
    suffixes: ClassVar[tuple[str, ...]] = (".txt",)

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """By the first line of a text file, or of one in the folder."""
        files = sorted(path.glob("*.txt")) if path.is_dir() else [path]
        return any(file.suffix.lower() == ".txt" and _begins_with_a_label(file) for file in files)

    def annotations(self, path: Path) -> Iterator[Annotation]:
        """The labels of a file, or of all text files of a folder."""
        for file in matching(path, self.suffixes):
            with reading(file, "a label track of Audacity"):
                lines = file.read_text(encoding="utf-8-sig").split("\n")
            for number, line in enumerate(lines):
                if line.strip() and not line.startswith("\\"):
                    yield _parse(line.removesuffix("\r"), file, number)

    def ending(self) -> str:
        """One file per recording."""
        return ".txt"

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        """Write ``<recording>.txt`` files into a folder, or one file for one recording."""
        unscored = self.without_scores(events, path)
        for name in unscored.types:
            if "\n" in name or "\r" in name:
                raise InputError(f"{path}: a label of Audacity is one line of text, got {name!r}")
        rows = rows_by_recording(unscored, self.intervals, recordings)
        for id, file in self.files(rows, path, recordings).items():
            lines = [(_text(row.start), _text(row.end), row.label) for row in rows[id]]
            with atomic(file) as temporary:
                temporary.write_bytes("".join("\t".join(line) + "\n" for line in lines).encode())


def _begins_with_a_label(file: Path) -> bool:
    with reading(file, "a text file"), open(file, "rb") as stream:
        return _LINE.match(stream.readline(1000).decode("utf-8-sig", "replace")) is not None


def _parse(line: str, file: Path, number: int) -> Annotation:
    fields = line.split("\t", 2)
    if len(fields) < 2:
        raise InputError(
            f"{file}: line {number + 1}: start, end and text separated by tabs expected, got "
            f"{line[:60]!r}"
        )
    start = decimal(fields[0], file, "start", number)
    end = decimal(fields[1], file, "end", number)
    if start is None or end is None:
        raise InputError(f"{file}: line {number + 1}: a start and an end expected, got {line!r}")
    label = fields[2] if len(fields) > 2 and fields[2] else "event"
    return Annotation(file.stem, label, float(start), float(end))


def _text(seconds: float | None) -> str:
    """All digits of a time, without an exponent."""
    return f"{Decimal(repr(seconds)):f}"
