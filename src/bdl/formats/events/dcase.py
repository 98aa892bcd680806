"""DCASE tables of sound events: filename, onset, offset, event_label (TSV).

The file name is the recording's id. A line with a file name only says that the file has no
events. ``offset`` equal to ``onset`` is a point. The format has no scores: scored events are
refused unless ``drop_scores`` is set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.delimited import decimal, read_rows, write_rows
from bdl.formats.events.annotation_format import Annotation, AnnotationFormat, to_annotations
from bdl.formats.events.event_format import UnscoredFormat
from bdl.recording import Recordings

_COLUMNS = ("filename", "onset", "offset", "event_label")


class DcaseEvents(UnscoredFormat, AnnotationFormat):
    """DCASE tables of filename, onset, offset and event_label.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.tsv"
    >>> DcaseEvents().write(Events.of("a", ["x:onset", "x:offset"], [1.0, 2.0]), file)
    >>> file.read_text().splitlines()[1].split("\\t")
    ['a', '1.0', '2.0', 'x']
    """

    kind: Literal["dcase"] = "dcase"

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """By the columns."""
        return {*_COLUMNS} <= {*columns}

    def annotations(self, path: Path) -> Iterator[Annotation]:
        """The rows of a table."""
        columns, rows = read_rows(path, "\t")
        for name in _COLUMNS:
            if name not in columns:
                raise InputError(f"{path}: column {name!r} is missing; it has {', '.join(columns)}")
        for number, row in enumerate(rows):
            cells = dict(zip(columns, row, strict=True))
            id, label = cells["filename"], cells["event_label"]
            if not id:
                raise InputError(
                    f"{path}: column 'filename', row {number}: a name expected, got none"
                )
            start = decimal(cells["onset"], path, "onset", number)
            end = decimal(cells["offset"], path, "offset", number)
            if start is None and end is None and not label:
                continue
            if start is None or end is None or not label:
                raise InputError(
                    f"{path}: row {number}: onset, offset and event_label expected (or none of "
                    f"them, for a file without events), got {cells}"
                )
            yield Annotation(id, label, float(start), float(end))

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        """Write a table; recordings without events get a line of their own if they are given."""
        unscored = self.without_scores(events, path)
        annotations = to_annotations(unscored, self.intervals)
        rows = [[row.recording, repr(row.start), repr(row.end), row.label] for row in annotations]
        used = {row.recording for row in annotations}
        rows += [
            [id, "", "", ""] for id in (recordings.ids if recordings else ()) if id not in used
        ]
        write_rows(path, _COLUMNS, rows, "\t")
