"""Writing recordings as tables, for tests of what reads them."""

from __future__ import annotations

from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bdl.formats.table_writing import write_table
from bdl.recording import Recording, RecordingInfo, Recordings


def write_tables(recordings: Recordings, folder: Path, format: str = "parquet") -> None:
    """One file ``<id>.<format>`` per recording, with a column of times; NPZ keeps everything."""
    folder.mkdir(parents=True, exist_ok=True)
    for recording in recordings:
        file = folder / f"{recording.id}.{format}"
        if format == "npz":
            _write_npz(recording, file)
        else:
            channels = dict(zip(recording.info.channels, recording.values.T, strict=True))
            write_table(pa.table({"time": _times(recording.info), **channels}), file)


def _times(info: RecordingInfo) -> list[Any]:
    """ISO 8601 with UTC offset if the start is known, else seconds."""
    if info.start is None:
        return (np.arange(info.samples) * info.period).tolist()
    changes = dict(info.offset_changes)
    zone, texts = info.start.tzinfo, []
    for sample in range(info.samples):
        if sample in changes:
            zone = timezone(timedelta(seconds=changes[sample]))
        at = info.start + timedelta(seconds=sample * info.period)
        texts.append(at.astimezone(zone).isoformat())
    return texts


def _write_npz(recording: Recording, file: Path) -> None:
    info = recording.info
    about: dict[str, Any] = {"period": info.period, "channels": [*info.channels]}
    about["offset_changes"] = np.array(info.offset_changes, np.int64).reshape(-1, 2)
    if info.start is not None:
        about["start"] = info.start.isoformat()
    if info.group is not None:
        about["group"] = info.group
    np.savez(file, values=recording.values, **{name: np.array(about[name]) for name in about})
