"""Annotations of WFDB records: beats and rhythms on the record's sample clock.

An event type is the annotation's symbol (``N``, ``V``, ...) or its note (``(AFIB``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bdl.errors import require
from bdl.events import Events
from bdl.formats.events.event_format import EventFormat
from bdl.formats.files import matching
from bdl.formats.mit_annotations import read_annotation_file
from bdl.formats.wfdb_header import read_header


class WfdbAnnotations(EventFormat):
    """Annotations of WFDB records (read only).

    Parameters
    ----------
    extension
        Suffix of the annotation files, without the dot.
    labels
        What names an event: the annotation's ``symbol``, or its ``aux_note``, if it has one.
    """

    kind: Literal["wfdb"] = "wfdb"
    suffixes: ClassVar[tuple[str, ...]] = (".hea", ".atr")
    extension: str = "atr"
    labels: Literal["symbol", "aux_note"] = "symbol"

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """By the suffix of the file, or by headers in a folder."""
        if path.is_dir():
            return any(path.glob("*.hea"))
        return path.suffix.lower() in (*self.suffixes, f".{self.extension}")

    def read(self, path: Path) -> Events:
        """Annotations of one record, or of all records of a folder."""
        require("wfdb", "ecg")
        extension = self.extension
        if path.is_file() and path.suffix != ".hea":
            extension = path.suffix.lstrip(".") or extension
            path = path.with_suffix(".hea")
        recordings: list[str] = []
        types: list[str] = []
        times: list[NDArray[np.float64]] = [np.zeros(0)]
        for file in matching(path, (".hea",)):
            rate = float(read_header(file).fs)
            annotations = read_annotation_file(file.with_suffix(f".{extension}"))
            texts = annotations.symbols if self.labels == "symbol" else annotations.notes
            named = np.array([bool(text) for text in texts], dtype=bool)
            recordings += [file.stem] * int(named.sum())
            types += [text for text in texts if text]
            times.append(annotations.samples[named] / (annotations.rate or rate))
        if not recordings:
            return Events.empty()
        return Events.of(recordings, types, np.concatenate(times))
