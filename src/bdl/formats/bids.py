"""BIDS ``*_events.tsv`` (onset, duration, trial_type) and its HED-SCORE seizure columns.

One file a recording: the id is the file's name without ``_events.tsv``. ``duration`` 0 or
``n/a`` is a point; see `bdl.formats.spans` for what is an interval. The end of an interval is
onset + duration in decimal arithmetic, so that times survive the way there and back exactly.

Seizure files carry ``eventType`` and ``confidence`` instead: every type that begins with ``sz``
is the interval ``seizure``, ``bckg`` says that a recording has none, and on writing recordings
without seizures get that row where the collection of recordings is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal, InvalidOperation
from pathlib import Path

from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.delimited import read_rows, write_rows
from bdl.formats.files import matching, safe_name
from bdl.formats.spans import Spans, from_events, to_events
from bdl.intervals import IntervalType
from bdl.recording import Recordings

ENDING = "_events.tsv"
_NOTHING = ("", "n/a")
_EXACT = Context(prec=100)  # digits enough for the sum of any two times


def read_bids(
    path: str | Path, *, intervals: Iterable[IntervalType] | None = None, pattern: str | None = None
) -> Events:
    """Events of a BIDS file, or of all ``*_events.tsv`` below a folder.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "sub-1_events.tsv"
    >>> _ = file.write_text("onset\\tduration\\ttrial_type\\n1.5\\tn/a\\tbeep\\n")
    >>> read_bids(file).event.tolist()
    ['beep']
    """
    spans = Spans()
    for file in matching(path, (".tsv",), pattern or f"**/*{ENDING}"):
        _read(file, spans)
    return to_events(spans, path, intervals)


def _read(file: Path, spans: Spans) -> None:
    columns, rows = read_rows(file, "\t")
    seizures = "trial_type" not in columns and "eventType" in columns
    kind = "eventType" if seizures else "trial_type"
    for name in ("onset", "duration", kind):
        if name not in columns:
            raise InputError(f"{file}: column {name!r} is missing; it has {', '.join(columns)}")
    id = file.name.removesuffix(ENDING) if file.name.endswith(ENDING) else file.stem
    for number, row in enumerate(rows):
        fields = dict(zip(columns, row, strict=True))
        label = fields[kind]
        if seizures and label == "bckg":
            continue
        if label in _NOTHING:
            raise InputError(f"{file}: column {kind!r}, row {number}: a type expected, got none")
        if seizures and label.startswith("sz"):
            label = "seizure"
        onset = decimal(fields["onset"], file, "onset", number)
        if onset is None:
            raise InputError(f"{file}: column 'onset', row {number}: seconds expected, got none")
        length = decimal(fields["duration"], file, "duration", number)
        if length is not None and length < 0:
            raise InputError(
                f"{file}: column 'duration', row {number}: seconds from 0 on expected, got {length}"
            )
        told = fields.get("confidence" if seizures else "score", "n/a")
        score = decimal(told, file, "score", number)
        last = decimal(fields.get("offset_score", "n/a"), file, "offset_score", number)
        spans.add(
            id,
            label,
            float(onset),
            None if length is None else float(_EXACT.add(onset, length)),
            None if score is None else float(score),
            None if last is None else float(last),
        )


def decimal(text: str, file: Path, column: str, row: int) -> Decimal | None:
    """A finite decimal number, or None for ``n/a``."""
    if text.strip() in _NOTHING:
        return None
    try:
        number = Decimal(text.strip())
        # An exponent of a million would make every later sum take for ever.
        if number.is_finite() and abs(number.adjusted()) < 400:
            return number
    except InvalidOperation:
        pass
    raise InputError(f"{file}: column {column!r}, row {row}: a number expected, got {text!r}")


def write_bids(
    events: Events,
    path: str | Path,
    *,
    intervals: Iterable[IntervalType] | None = None,
    recordings: Recordings | None = None,
    seizures: bool = False,
) -> None:
    """Write ``<recording>_events.tsv`` files into a folder, or one file for one recording.

    Every file is written whole or not at all; ids that cannot be file names are refused first.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_bids(Events.of("a", "beep", [1.5]), folder)
    >>> (folder / "a_events.tsv").read_text()
    'onset\\tduration\\ttrial_type\\n1.5\\t0.0\\tbeep\\n'
    """
    spans = from_events(events, intervals)
    ids = [*recordings.ids] if recordings is not None else []
    ids += sorted({*spans.recording} - {*ids})
    target = Path(path)
    one = target.suffix.lower() == ".tsv"
    if one and len(ids) > 1:
        raise InputError(
            f"{target}: a BIDS file holds one recording and there are {len(ids)}; give a folder"
        )
    names = {id: target if one else target / f"{safe_name(id)}{ENDING}" for id in ids}
    lines: dict[str, list[list[str]]] = {id: [] for id in ids}
    for row, id in enumerate(spans.recording):
        lines[id].append(_line(spans, row, seizures, recordings))
    head = ["onset", "duration", "trial_type"]
    if seizures:
        head = ["onset", "duration", "eventType", "confidence", "channels", "dateTime"]
        head.append("recordingDuration")
    elif events.score is not None:
        head += ["score", "offset_score"]
    for id in ids:
        if seizures and not lines[id]:
            lines[id] = [_background(id, recordings)]
        write_rows(names[id], head, lines[id], "\t")


def _line(spans: Spans, row: int, seizures: bool, recordings: Recordings | None) -> list[str]:
    start, end, label = spans.start[row], spans.end[row], spans.label[row]
    assert end is not None
    length = _EXACT.subtract(Decimal(repr(end)), Decimal(repr(start)))
    cells = [repr(start), str(length)]
    score, last = spans.score[row], spans.end_score[row]
    if seizures:
        if label != "seizure":
            raise InputError(f"a seizure table holds only intervals 'seizure', got {label!r}")
        if score != last:
            raise InputError(
                f"recording {spans.recording[row]!r}: the onset and offset of a seizure have "
                f"different scores ({score}, {last}); a seizure table keeps one confidence"
            )
        told = "n/a" if score is None else repr(score)
        return [*cells, "sz", told, "n/a", *_about(spans.recording[row], recordings)]
    if score is not None:
        return [*cells, label, repr(score), repr(last)]
    return [*cells, label]


def _background(id: str, recordings: Recordings | None) -> list[str]:
    duration = "n/a" if recordings is None else repr(recordings.info(id).duration)
    return ["0.0", duration, "bckg", "n/a", "n/a", *_about(id, recordings)]


def _about(id: str, recordings: Recordings | None) -> list[str]:
    """Start and length of a recording, where they are known."""
    if recordings is None or id not in recordings:
        return ["n/a", "n/a"]
    info = recordings.info(id)
    start = "n/a" if info.start is None else info.start.strftime("%Y-%m-%d %H:%M:%S")
    return [start, repr(info.duration)]
