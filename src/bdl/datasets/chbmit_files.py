"""The files of CHB-MIT: Feather and EDF recordings, the table and the summaries of seizures."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np
import polars as pl

from bdl.errors import InputError
from bdl.formats.edf import read_edf
from bdl.formats.edf_header import read_header
from bdl.formats.files import reading
from bdl.formats.layout import Layout
from bdl.formats.tables import read_tables
from bdl.recording import RecordingInfo, Recordings, Values

RATE = 256
CHANNELS = (
    "FP1-F7", "F7-T7", "T7-P7", "P7-O1", "FP1-F3", "F3-C3", "C3-P3", "P3-O1", "FP2-F4", "F4-C4",
    "C4-P4", "P4-O2", "FP2-F8", "F8-T8", "T8-P8", "P8-O2", "FZ-CZ", "CZ-PZ", "T7-FT9", "FT9-FT10",
    "FT10-T8",
)  # fmt: skip
# The older names of four electrodes.
_OLD = {"T3": "T7", "T4": "T8", "T5": "P7", "T6": "P8"}


def seizure_table(file: Path) -> dict[str, list[tuple[float, float]]]:
    """Onset and offset in seconds of the seizures of each recording, by the file's stem.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "seizure_events.csv"
    >>> _ = file.write_text("series_id,onset,offset\\nchb01_03.edf,2996,3036\\n")
    >>> seizure_table(file)
    {'chb01_03': [(2996.0, 3036.0)]}
    """
    with reading(file, "a CSV file"):
        frame = pl.read_csv(file, infer_schema_length=None)
    for column in ("series_id", "onset", "offset"):
        if column not in frame.columns:
            raise InputError(f"{file}: column {column!r} missing; it has {frame.columns}")
    found: dict[str, list[tuple[float, float]]] = {}
    for row, (name, onset, offset) in enumerate(
        frame.select("series_id", "onset", "offset").iter_rows()
    ):
        if not (isinstance(onset, int | float) and isinstance(offset, int | float)):
            raise InputError(f"{file}: row {row}: onset and offset in seconds expected, "
                             f"got {onset!r} and {offset!r}")  # fmt: skip
        found.setdefault(PurePosixPath(str(name)).stem, []).append((float(onset), float(offset)))
    return found


def feathers(files: list[Path]) -> Recordings:
    """Feather files with the 21 channels, missing values set to zero."""
    raw = read_tables(files, Layout(channels=CHANNELS, period=1 / RATE))
    return raw.change(_zeroed)


def edfs(files: list[Path], *, strict: bool) -> tuple[Recordings, list[str]]:
    """EDF files with the 21 channels, and notes on what they lack.

    Of a channel that comes twice the first counts. A channel that is absent is zero, or an error
    with ``strict``; a file that has none of them is left out.
    """
    parts: list[Recordings] = []
    columns: dict[str, list[int]] = {}
    foreign, lacking = [], 0
    for file in files:
        labels = [signal.label for signal in read_header(file).signals]
        first = {name: label for label in reversed(labels) if (name := standard(label)) in CHANNELS}
        absent = [name for name in CHANNELS if name not in first]
        if absent and strict:
            raise InputError(f"{file}: channels {', '.join(absent)} missing; it has {labels}")
        if not first:
            foreign.append(file.stem)
            continue
        lacking += bool(absent)
        names = [name for name in CHANNELS if name in first]
        raw = read_edf([file], Layout(channels=tuple(first[name] for name in names)))
        parts.append(raw)
        columns[raw.ids[0]] = [CHANNELS.index(name) for name in names]
    notes = []
    if lacking:
        notes.append(f"{lacking} recordings lack some of the 21 channels, which are zero there")
    if foreign:
        notes.append(f"left out, of another montage: {some(foreign)}")

    def montage(info: RecordingInfo, rows: Values) -> Values:
        values = np.zeros((len(rows), len(CHANNELS)), np.float32)
        values[:, columns[info.id]] = rows
        return _zeroed(info, values)

    together = Recordings.concat(parts)
    infos = [replace(info, channels=CHANNELS) for info in together.infos]
    return replace(together.change(montage, infos), notes=()), notes


def some(names: Sequence[str]) -> str:
    """The first few of many names.

    >>> some(["a", "b", "c", "d", "e", "f"])
    'a, b, c, d and 2 more'
    """
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _zeroed(info: RecordingInfo, values: Values) -> Values:
    np.nan_to_num(values, copy=False, nan=0.0)
    return values


def sha256(file: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    total = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            total.update(block)
    return total.hexdigest()


def manifests(found: list[Path]) -> set[str]:
    """SHA-256 of the sorted checksum list of files, in the spellings that sha256sum may give.

    The paper's archive defines the spelling and is not at hand: one line a file, its checksum,
    two blanks and its name, with or without the folder, with or without a last line break.
    """
    sums = sorted((file.name, sha256(file), file.parent.name) for file in found)
    spelled = set()
    for prefix in (False, True):
        lines = [f"{sum}  {f'{folder}/' if prefix else ''}{name}" for name, sum, folder in sums]
        for ordered in (lines, sorted(lines)):
            text = "\n".join(ordered)
            spelled |= {hashlib.sha256((text + end).encode()).hexdigest() for end in ("", "\n")}
    return spelled


_FILE = re.compile(r"File Name:\s*(\S+)", re.IGNORECASE)
_COUNT = re.compile(r"Number of Seizures in File:\s*(\d+)", re.IGNORECASE)
_TIME = re.compile(r"Seizure(?:\s+\d+)?\s+(Start|End)\s+Time:\s*(\S+)", re.IGNORECASE)


def summary(file: Path) -> dict[str, list[tuple[float, float]]]:
    """Seizures of each recording that a chbNN-summary.txt names, empty where it says none.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "chb01-summary.txt"
    >>> _ = file.write_text("File Name: chb01_03.edf\\nNumber of Seizures in File: 1\\n"
    ...     "Seizure Start Time: 2996 seconds\\nSeizure End Time: 3036 seconds\\n")
    >>> summary(file)
    {'chb01_03': [(2996.0, 3036.0)]}
    """
    with reading(file, "a summary text"):
        text = file.read_text(encoding="utf-8", errors="replace")
    found: dict[str, list[tuple[float, float]]] = {}
    places = [*_FILE.finditer(text)]
    for k, place in enumerate(places):
        part = text[place.end() : places[k + 1].start() if k + 1 < len(places) else len(text)]
        name = place.group(1)
        where = f"{file}: {name}"
        count = _COUNT.search(part)
        if count is None:
            raise InputError(f"{where}: no line 'Number of Seizures in File'")
        times: dict[str, list[float]] = {"start": [], "end": []}
        for time in _TIME.finditer(part):
            try:
                times[time.group(1).lower()].append(float(time.group(2)))
            except ValueError:
                raise InputError(
                    f"{where}: seizure {time.group(1).lower()} time {time.group(2)!r} is no number"
                ) from None
        told = int(count.group(1))
        if len(times["start"]) != told or len(times["end"]) != told:
            raise InputError(
                f"{where}: {told} seizures announced, {len(times['start'])} start and "
                f"{len(times['end'])} end times given"
            )
        found[PurePosixPath(name).stem] = [*zip(times["start"], times["end"], strict=True)]
    if not found:
        raise InputError(f"{file}: no line 'File Name: ...'; a CHB-MIT summary expected")
    return found


def standard(label: str) -> str:
    """A channel's name in the spelling of `CHANNELS`, where it is one of them.

    >>> standard("EEG Fp1-F7"), standard("T8-P8-0"), standard("T4-T6"), standard("ECG")
    ('FP1-F7', 'T8-P8', 'T8-P8', 'ECG')
    """
    name = re.sub(r"^EEG\s+", "", label.strip().upper()).replace(" ", "")
    name = re.sub(r"-\d$", "", name)
    return "-".join(_OLD.get(part, part) for part in name.split("-"))
