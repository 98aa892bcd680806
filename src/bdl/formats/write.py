"""Writing recordings as tables, one file a recording, each whole or not at all.

Parquet, Feather and NPZ keep everything: values, channels, period, start, UTC offset changes and
group. CSV and TSV keep values and times (a column ``time``: ISO 8601 with offset where the start
is known, else seconds); the period is then inferred on reading, or given.
"""

from __future__ import annotations

import json
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from bdl.errors import ConfigError, InputError
from bdl.formats.event_tables import write_arrow
from bdl.formats.files import atomic, safe_name
from bdl.recording import Recording, RecordingInfo, Recordings

Kind = Literal["parquet", "feather", "npz", "csv", "tsv"]


def write_recordings(
    recordings: Recordings, folder: str | Path, *, format: Kind = "parquet"
) -> list[Path]:
    """Write ``<id>.<format>`` files into a folder; returns their paths.

    >>> import tempfile
    >>> one = Recordings.of([Recording.of(np.ones(3), id="a", period=0.5, channels=["x"])])
    >>> [file.name for file in write_recordings(one, tempfile.mkdtemp(), format="csv")]
    ['a.csv']
    """
    if format not in ("parquet", "feather", "npz", "csv", "tsv"):
        raise ConfigError(f"format {format!r}: parquet, feather, npz, csv or tsv expected")
    files = [Path(folder) / f"{safe_name(info.id)}.{format}" for info in recordings.infos]
    for recording, file in zip(recordings, files, strict=True):
        if format == "npz":
            _write_npz(recording, file)
        else:
            write_arrow(_table(recording, text=format in ("csv", "tsv")), file)
    return files


def _about(info: RecordingInfo) -> dict[str, Any]:
    return {
        "samples": info.samples,
        "period": info.period,
        "start": None if info.start is None else info.start.isoformat(),
        "offset_changes": [[*change] for change in info.offset_changes],
        "group": info.group,
    }


def _table(recording: Recording, *, text: bool) -> pa.Table:
    info = recording.info
    columns = {name: recording.values[:, i] for i, name in enumerate(info.channels)}
    taken = {"recording", "sample", "time", "group"} & set(columns)
    if taken:
        raise InputError(
            f"recording {info.id!r}: a channel is called {taken.pop()!r}, which a table keeps for "
            "itself; rename it or write a prepared store"
        )
    if text:
        return pa.table({"time": _times(info), **columns})
    return pa.table(columns).replace_schema_metadata({"bdl": json.dumps(_about(info))})


def _times(info: RecordingInfo) -> pa.Array:
    if info.start is None:
        return pa.array(np.arange(info.samples) * info.period)
    changes = dict(info.offset_changes)
    zone, texts = info.start.tzinfo, []
    for sample in range(info.samples):
        if sample in changes:
            zone = timezone(timedelta(seconds=changes[sample]))
        at = info.start + timedelta(seconds=sample * info.period)
        texts.append(at.astimezone(zone).isoformat())
    return pa.array(texts, pa.string())


def _write_npz(recording: Recording, file: Path) -> None:
    about = {name: value for name, value in _about(recording.info).items() if value is not None}
    del about["samples"]
    changes = np.array(about.pop("offset_changes"), dtype=np.int64).reshape(-1, 2)
    arrays: dict[str, Any] = {name: np.array(value) for name, value in about.items()}
    arrays["channels"] = np.array(recording.info.channels, dtype=np.str_)
    arrays["offset_changes"] = changes
    with atomic(file) as temporary, open(temporary, "wb") as stream:
        np.savez(stream, values=recording.values, **arrays)
