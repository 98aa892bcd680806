"""DCASE tables of sound events: filename, onset, offset, event_label (TSV).

The file name is the recording's id, as it stands. A line with a file name only says that the
file has no events. ``offset`` equal to ``onset`` is a point; see `bdl.formats.spans`. The format
has no scores: scored events are refused unless the scores are dropped on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.bids import decimal
from bdl.formats.delimited import read_rows, write_rows
from bdl.formats.spans import Spans, from_events, to_events
from bdl.intervals import IntervalType
from bdl.recording import Recordings

COLUMNS = ("filename", "onset", "offset", "event_label")


def read_dcase(path: str | Path, *, intervals: Iterable[IntervalType] | None = None) -> Events:
    """Events of a DCASE table.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = file.write_text("filename\\tonset\\toffset\\tevent_label\\na.wav\\t1.0\\t2.5\\tdog\\n")
    >>> read_dcase(file).event.tolist()
    ['dog:onset', 'dog:offset']
    """
    file = Path(path)
    columns, rows = read_rows(file, "\t")
    for name in COLUMNS:
        if name not in columns:
            raise InputError(f"{file}: column {name!r} is missing; it has {', '.join(columns)}")
    spans = Spans()
    for number, row in enumerate(rows):
        fields = dict(zip(columns, row, strict=True))
        id, label = fields["filename"], fields["event_label"]
        if not id:
            raise InputError(f"{file}: column 'filename', row {number}: a name expected, got none")
        start = decimal(fields["onset"], file, "onset", number)
        end = decimal(fields["offset"], file, "offset", number)
        if start is None and end is None and not label:
            continue
        if start is None or end is None or not label:
            raise InputError(
                f"{file}: row {number}: onset, offset and event_label expected (or none of them, "
                f"for a file without events), got {fields}"
            )
        spans.add(id, label, float(start), float(end))
    return to_events(spans, file, intervals)


def write_dcase(
    events: Events,
    path: str | Path,
    *,
    intervals: Iterable[IntervalType] | None = None,
    recordings: Recordings | None = None,
    drop_scores: bool = False,
) -> None:
    """Write a DCASE table; recordings without events get a line of their own where given.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.tsv"
    >>> write_dcase(Events.of("a", ["x:onset", "x:offset"], [1.0, 2.0]), file)
    >>> file.read_text().splitlines()[1].split("\\t")
    ['a', '1.0', '2.0', 'x']
    """
    if events.score is not None and not drop_scores:
        raise InputError(
            f"{path}: a DCASE table has no scores and these events have; drop them on purpose, or "
            "write another format"
        )
    spans = from_events(events, intervals)
    rows = [
        [id, repr(start), repr(end), label]
        for id, start, end, label in zip(
            spans.recording, spans.start, spans.end, spans.label, strict=True
        )
    ]
    if recordings is not None:
        rows += [[id, "", "", ""] for id in recordings.ids if id not in set(spans.recording)]
    write_rows(Path(path), COLUMNS, rows, "\t")
