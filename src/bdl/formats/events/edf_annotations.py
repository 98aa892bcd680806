"""Annotations of EDF+ and BDF+ files: texts with a duration become onset and offset.

A file that is written holds annotations only, no signals, and the start of the recording. The
format has no scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Literal

from bdl.errors import InputError, require
from bdl.events import Events
from bdl.formats.atomic_files import atomic
from bdl.formats.edf_header import WHAT, read_header
from bdl.formats.events.annotation_format import (
    Annotation,
    AnnotationFormat,
    duration_of,
    end_after,
    rows_by_recording,
)
from bdl.formats.events.event_format import UnscoredFormat
from bdl.formats.files import matching, reading
from bdl.recording import RecordingInfo, Recordings

_YEARS = range(1985, 2085)  # those that a header of EDF can express


class EdfAnnotations(UnscoredFormat, AnnotationFormat):
    """Annotations of EDF+ and BDF+ files.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> EdfAnnotations().write(Events.of("a", ["x:onset", "x:offset"], [1.0, 2.5]), folder)
    >>> EdfAnnotations().read(folder / "a.edf").time.tolist()
    [1.0, 2.5]
    """

    kind: Literal["edf"] = "edf"
    suffixes: ClassVar[tuple[str, ...]] = (".edf", ".bdf")
    in_recordings: ClassVar[bool] = True

    def annotations(self, path: Path) -> Iterator[Annotation]:
        """The annotations of a file, or of all files of a folder."""
        edfio = require("edfio", "eeg")
        for file in matching(path, self.suffixes):
            header = read_header(file)
            with reading(file, WHAT), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read = edfio.read_bdf if header.bdf else edfio.read_edf
                annotations = read(file).annotations
            for onset, duration, text in annotations:
                if label := text.strip():
                    end = None
                    if duration is not None:
                        end = end_after(*(Decimal(repr(float(part))) for part in (onset, duration)))
                    yield Annotation(file.stem, label, float(onset), end)

    def ending(self) -> str:
        """One file per recording."""
        return ".edf"

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        """Write ``<recording>.edf`` files into a folder, or one file for one recording.

        A file that holds signals is never replaced.
        """
        edfio = require("edfio", "eeg")
        unscored = self.without_scores(events, path)
        for name in unscored.types:
            if name != name.strip() or any(ord(mark) < 32 for mark in name):
                raise InputError(
                    f"{path}: a text of EDF+ has no control characters and no blanks at its ends, "
                    f"got {name!r}"
                )
        rows = rows_by_recording(unscored, self.intervals, recordings)
        infos = {info.id: info for info in recordings.infos} if recordings else {}
        files = self.files(rows, path, recordings)
        for file in files.values():
            signals = read_header(file).signals if file.exists() else ()
            if not all(signal.is_annotation for signal in signals):
                raise InputError(f"{file}: holds signals; write annotations to another folder")
        for id, file in files.items():
            with atomic(file) as temporary:
                _edf(edfio, rows[id], infos.get(id)).write(temporary)


def _edf(edfio: Any, rows: Sequence[Annotation], info: RecordingInfo | None) -> Any:
    """A file of annotations only; a point has no duration."""
    lasting = {row.label for row in rows if row.end != row.start}
    annotations = [
        edfio.EdfAnnotation(
            row.start, float(duration_of(row)) if row.label in lasting else None, row.label
        )
        for row in rows
    ]
    # edfio needs a signal or an annotation; readers skip one without a text.
    annotations = annotations or [edfio.EdfAnnotation(0.0, None, "")]
    start = None if info is None else info.start
    if start is None or start.year not in _YEARS:
        return edfio.Edf([], annotations=annotations)
    return edfio.Edf(
        [],
        recording=edfio.Recording(startdate=start.date()),
        starttime=start.time(),
        annotations=annotations,
    )
