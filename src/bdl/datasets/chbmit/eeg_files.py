"""EEG files of CHB-MIT: Feather and EDF recordings with the 21 channels, in microvolts.

Missing values and absent channels are zero.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bdl.errors import InputError, some
from bdl.formats.edf_header import read_header
from bdl.formats.recording_files import read_files
from bdl.formats.recordings import ArrowRecordings, EdfRecordings
from bdl.recording import RecordingInfo, Recordings, Values

RATE = 256
CHANNELS = (
    "FP1-F7", "F7-T7", "T7-P7", "P7-O1", "FP1-F3", "F3-C3", "C3-P3", "P3-O1", "FP2-F4", "F4-C4",
    "C4-P4", "P4-O2", "FP2-F8", "F8-T8", "T8-P8", "P8-O2", "FZ-CZ", "CZ-PZ", "T7-FT9", "FT9-FT10",
    "FT10-T8",
)  # fmt: skip
_CURRENT_NAMES = {"T3": "T7", "T4": "T8", "T5": "P7", "T6": "P8"}


def read_feathers(files: Sequence[Path]) -> Recordings:
    """Feather files as recordings."""
    raw = read_files(files, ArrowRecordings(channels=CHANNELS, period=1 / RATE))
    return raw.change(_without_nan)


def read_edfs(files: Sequence[Path], *, strict: bool) -> tuple[Recordings, list[str]]:
    """EDF files as recordings, and notes on missing channels."""
    parts: list[Recordings] = []
    columns: dict[str, list[int]] = {}
    other_montage, incomplete = [], 0
    for file in files:
        labels = [signal.label for signal in read_header(file).signals]
        first = {
            name: label for label in reversed(labels) if (name := channel_name(label)) in CHANNELS
        }
        absent = [name for name in CHANNELS if name not in first]
        if absent and strict:
            raise InputError(f"{file}: channels {', '.join(absent)} missing; it has {labels}")
        if not first:
            other_montage.append(file.stem)
            continue
        incomplete += bool(absent)
        names = [name for name in CHANNELS if name in first]
        raw = EdfRecordings(channels=tuple(first[name] for name in names)).read(file)
        parts.append(raw)
        columns[raw.ids[0]] = [CHANNELS.index(name) for name in names]
    notes = []
    if incomplete:
        notes.append(f"{incomplete} recordings lack some of the 21 channels, which are zero there")
    if other_montage:
        notes.append(f"left out, another montage: {some(other_montage, most=4)}")

    def montage(info: RecordingInfo, rows: Values) -> Values:
        values = np.zeros((len(rows), len(CHANNELS)), np.float32)
        values[:, columns[info.id]] = rows
        return _without_nan(info, values)

    raw = Recordings.concat(parts)
    units = {info.id: dict(zip(columns[info.id], info.units, strict=False)) for info in raw.infos}
    infos = [
        replace(
            info,
            channels=CHANNELS,
            units=tuple(units[info.id].get(column, "") for column in range(len(CHANNELS))),
        )
        for info in raw.infos
    ]
    return replace(raw.change(montage, infos), notes=()), notes


def channel_name(label: str) -> str:
    """The name of an EDF signal in the spelling of `CHANNELS`, if it is one of them."""
    name = re.sub(r"^EEG\s+", "", label.strip().upper()).replace(" ", "")
    name = re.sub(r"-\d$", "", name)
    return "-".join(_CURRENT_NAMES.get(part, part) for part in name.split("-"))


def _without_nan(info: RecordingInfo, values: Values) -> Values:
    np.nan_to_num(values, copy=False, nan=0.0)
    return values
