"""BIDS ``*_events.tsv``: onset, duration and trial_type.

One file per recording: the id is the file's name without ``_events.tsv``, and the events of
``sub-1_eeg`` are in ``sub-1_events.tsv``. ``duration`` 0 or ``n/a`` is a point;
`bdl.formats.events.annotation_format` says what is an interval. The end of an interval is onset +
duration in decimal arithmetic, so that times stay exact when they are written and read. Files
with the columns of `bdl.formats.events.seizure_bids` are read as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.delimited import decimal, read_rows, write_rows
from bdl.formats.events.annotation_format import (
    Annotation,
    AnnotationFormat,
    duration_of,
    end_after,
    rows_by_recording,
    to_events,
)
from bdl.formats.files import matching
from bdl.recording import RecordingInfo, Recordings

ENDING = "_events.tsv"
_MODALITIES = ("eeg", "ieeg", "meg", "nirs", "motion", "emg", "physio")


class BidsEvents(AnnotationFormat):
    """BIDS files or folders: onset, duration and trial_type.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> BidsEvents().write(Events.of("a", "beep", [1.5]), folder)
    >>> (folder / "a_events.tsv").read_text()
    'onset\\tduration\\ttrial_type\\n1.5\\t0.0\\tbeep\\n'
    >>> BidsEvents().read(folder).event.tolist()
    ['beep']
    """

    kind: Literal["bids"] = "bids"

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """By the columns, or by ``*_events.tsv`` files below a folder."""
        if path.is_dir():
            return any(path.glob(f"**/*{ENDING}"))
        other = "eventType" in columns and "trial_type" not in columns
        return {"onset", "duration"} <= {*columns} and not other

    def read_on(self, path: Path, recordings: Recordings | None) -> Events:
        """The events, each under the id of its recording: ``sub-1`` has those of ``sub-1_eeg``."""
        events = self.read(path)
        ids = {id: _recording_of(id, recordings) for id in events.recordings}
        if all(id == other for id, other in ids.items()):
            return events
        renamed = [ids[id] for id in events.recording]
        placed = Events.of(renamed, events.event, events.time, events.score)
        return replace(placed, dropped=events.dropped, notes=events.notes)

    def read(self, path: Path) -> Events:
        """The events of a file or folder; rows without a type are left out, and counted."""
        rows = [*self.annotations(path)]
        typed = [row for row in rows if row.label]
        events = to_events(typed, path, self.intervals)
        if len(typed) == len(rows):
            return events
        dropped = len(rows) - len(typed)
        note = f"{path}: {dropped:,} rows without a type are left out"
        return replace(events, dropped=dropped, notes=(note,))

    def annotations(self, path: Path) -> Iterator[Annotation]:
        """The rows of a file, or of all ``*_events.tsv`` below a folder."""
        for file in matching(path, (".tsv",), f"**/*{ENDING}" if path.is_dir() else None):
            yield from _read(file)

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        """Write ``<recording>_events.tsv`` files into a folder, or one file for one recording.

        Every file is written whole or not at all; ids that cannot be file names are refused first.
        """
        infos = {info.id: info for info in recordings.infos} if recordings else {}
        lines = {
            id: [self._line(row, infos.get(id)) for row in rows] or self._no_events(infos[id])
            for id, rows in rows_by_recording(events, self.intervals, recordings).items()
        }
        for id, file in self.files(lines, path, recordings).items():
            write_rows(file, self._header(events), lines[id], "\t")

    def ending(self) -> str:
        """One file per recording."""
        return ENDING

    def file_name(self, id: str) -> str:
        """The name without its modality: that of ``sub-1_eeg`` is ``sub-1_events.tsv``."""
        stem, _, last = id.rpartition("_")
        return super().file_name(stem if id.startswith("sub-") and last in _MODALITIES else id)

    def _header(self, events: Events) -> list[str]:
        scores = [] if events.score is None else ["score", "offset_score"]
        return ["onset", "duration", "trial_type", *scores]

    def _line(self, row: Annotation, info: RecordingInfo | None) -> list[str]:
        cells = [*onset_and_duration(row), row.label]
        return cells if row.score is None else [*cells, repr(row.score), repr(row.end_score)]

    def _no_events(self, info: RecordingInfo) -> list[list[str]]:
        return []


def _recording_of(id: str, recordings: Recordings | None) -> str:
    """The recording that BIDS pairs with an events file: of the same name but for its modality."""
    if recordings is None or id in recordings:
        return id
    names = [f"{id}_{modality}" for modality in _MODALITIES]
    return next((name for name in names if name in recordings), id)


def onset_and_duration(row: Annotation) -> tuple[str, str]:
    return repr(row.start), str(duration_of(row))


def _read(file: Path) -> Iterator[Annotation]:
    columns, rows = read_rows(file, "\t")
    seizures = "trial_type" not in columns and "eventType" in columns
    kind = "eventType" if seizures else "trial_type"
    if kind not in columns and "value" in columns:
        kind = "value"
    for name in ("onset", "duration", kind):
        if name not in columns:
            raise InputError(f"{file}: column {name!r} is missing; it has {', '.join(columns)}")
    id = file.name.removesuffix(ENDING) if file.name.endswith(ENDING) else file.stem
    for number, row in enumerate(rows):
        cells = dict(zip(columns, row, strict=True))
        label = "" if cells[kind] == "n/a" else cells[kind]
        if seizures and label == "bckg":
            continue
        onset = decimal(cells["onset"], file, "onset", number)
        if onset is None:
            raise InputError(f"{file}: column 'onset', row {number}: seconds expected, got none")
        length = decimal(cells["duration"], file, "duration", number)
        if length is not None and length < 0:
            raise InputError(
                f"{file}: column 'duration', row {number}: seconds from 0 on expected, got {length}"
            )
        scores = [
            decimal(cells.get(name, ""), file, name, number)
            for name in ("confidence" if seizures else "score", "offset_score")
        ]
        yield Annotation(
            id,
            "seizure" if seizures and label.startswith("sz") else label,
            float(onset),
            None if length is None else end_after(onset, length),
            *(None if score is None else float(score) for score in scores),
        )
