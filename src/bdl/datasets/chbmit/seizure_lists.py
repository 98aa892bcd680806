"""Seizures of CHB-MIT recordings: the table of the snapshot, and PhysioNet's summaries.

A list of seizures gives onset and offset in seconds for each recording, by the stem of its file.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import polars as pl

from bdl.datasets.raw_files import check_columns
from bdl.errors import InputError
from bdl.formats.files import reading

Seizures = dict[str, list[tuple[float, float]]]


def read_table(file: Path) -> Seizures:
    """Seizures in the table of the Kaggle snapshot."""
    with reading(file, "a CSV file"):
        frame = pl.read_csv(file, infer_schema_length=None)
    check_columns(frame.columns, ("series_id", "onset", "offset"), file)
    seizures: Seizures = {}
    rows = frame.select("series_id", "onset", "offset").iter_rows()
    for number, (name, onset, offset) in enumerate(rows):
        if not (isinstance(onset, int | float) and isinstance(offset, int | float)):
            raise InputError(
                f"{file}: row {number}: onset and offset in seconds expected, "
                f"got {onset!r} and {offset!r}"
            )
        seizures.setdefault(PurePosixPath(str(name)).stem, []).append((float(onset), float(offset)))
    return seizures


_FILE = re.compile(r"File Name:\s*(\S+)", re.IGNORECASE)
_COUNT = re.compile(r"Number of Seizures in File:\s*(\d+)", re.IGNORECASE)
_TIME = re.compile(r"Seizure(?:\s+\d+)?\s+(Start|End)\s+Time:\s*(\S+)", re.IGNORECASE)


def read_summary(file: Path) -> Seizures:
    """Seizures of the recordings that a chbNN-summary.txt names; those without any included."""
    with reading(file, "a summary text"):
        text = file.read_text(encoding="utf-8", errors="replace")
    names = [*_FILE.finditer(text)]
    if not names:
        raise InputError(f"{file}: no line 'File Name: ...'; a CHB-MIT summary expected")
    ends = [*(name.start() for name in names[1:]), len(text)]
    return {
        PurePosixPath(name.group(1)).stem: _read_section(
            text[name.end() : end], f"{file}: {name.group(1)}"
        )
        for name, end in zip(names, ends, strict=True)
    }


def _read_section(text: str, where: str) -> list[tuple[float, float]]:
    """Seizures in the section of one recording."""
    count = _COUNT.search(text)
    if count is None:
        raise InputError(f"{where}: no line 'Number of Seizures in File'")
    times: dict[str, list[float]] = {"start": [], "end": []}
    for line in _TIME.finditer(text):
        side = line.group(1).lower()
        try:
            times[side].append(float(line.group(2)))
        except ValueError:
            raise InputError(
                f"{where}: seizure {side} time {line.group(2)!r} is not a number"
            ) from None
    if not len(times["start"]) == len(times["end"]) == int(count.group(1)):
        raise InputError(
            f"{where}: {count.group(1)} seizures announced, but {len(times['start'])} start and "
            f"{len(times['end'])} end times listed"
        )
    return [*zip(times["start"], times["end"], strict=True)]
