"""Annotations of EDF+ and BDF+ files: texts with a duration become onset and offset."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from bdl.errors import require
from bdl.formats.edf_header import WHAT, read_header
from bdl.formats.events.annotation_format import Annotation, AnnotationFormat
from bdl.formats.files import matching, reading


class EdfAnnotations(AnnotationFormat):
    """Annotations of EDF+ and BDF+ files (read only)."""

    kind: Literal["edf"] = "edf"
    suffixes: ClassVar[tuple[str, ...]] = (".edf", ".bdf")

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """By the suffix of the file, or of a file of the folder."""
        files = path.iterdir() if path.is_dir() else [path]
        return any(file.suffix.lower() in self.suffixes for file in files)

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
                    end = None if duration is None else onset + duration
                    yield Annotation(file.stem, label, float(onset), end)
