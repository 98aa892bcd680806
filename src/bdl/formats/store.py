"""The prepared store: a folder of memory-mapped arrays and a manifest.

Each recording is one ``<id>.npy`` (samples, channels) float32; ``manifest.json`` holds the hash
of the source and every recording's channels, period, start, UTC offset changes, length and
group. While a store is made, the manifest is called ``manifest.partial.json``; arrays appear one
by one, each whole, so that an interrupted preparation goes on where it stopped. A store is
finished when ``manifest.json`` is there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bdl.errors import InputError, OutputError
from bdl.formats.files import atomic, content_hash, existing, reading, safe_name
from bdl.recording import RecordingInfo, Recordings, Values
from bdl.value_readers import WholeReader

MANIFEST = "manifest.json"
PARTIAL = "manifest.partial.json"
_FORMAT = "bdl prepared store"
_VERSION = 1

Progress = Callable[[int, int], None]


def prepare(
    recordings: Recordings, path: str | Path, *, progress: Progress | None = None
) -> Recordings:
    """Stream recordings into a store, or go on with one that was interrupted.

    Parameters
    ----------
    recordings : any source; it is read once, in order, some rows at a time where it can be.
    path : the store's folder; it may hold an unfinished store of the same source.
    progress : called with the numbers of finished and of all samples.

    Returns
    -------
    The store, opened.

    >>> import tempfile
    >>> from bdl.recording import Recording
    >>> one = Recording.of(np.arange(4.0), id="a", period=0.5, channels=["x"])
    >>> prepare(Recordings.of([one]), Path(tempfile.mkdtemp()) / "store")["a"]
    Recording 'a': 4 samples x 1 channel (x), every 0.5 s, 0.00 h
    """
    folder = Path(path)
    for info in recordings.infos:
        safe_name(info.id)
    files = tuple(dict.fromkeys(file for id in recordings.ids for file in recordings.files(id)))
    with ThreadPoolExecutor(1) as beside:
        hashing = beside.submit(content_hash, files) if files else None
        try:
            wanted = _manifest(recordings, None)
            left = _left(folder, wanted, lambda: hashing.result() if hashing else None)
            total = sum(info.samples for info in recordings.infos)
            done = total - sum(info.samples for info in left)
            for info in left:
                _write_values(folder, recordings, info)
                done += info.samples
                if progress is not None:
                    progress(done, total)
        finally:
            source = hashing.result() if hashing else None
    _write_json(folder / MANIFEST, {**wanted, "source": source})
    (folder / PARTIAL).unlink(missing_ok=True)
    return open_store(folder)


def _left(
    folder: Path, wanted: dict[str, Any], source: Callable[[], str | None]
) -> list[RecordingInfo]:
    """Recordings that still have to be written."""
    for name in (MANIFEST, PARTIAL):
        if (folder / name).exists():
            there = _load(folder / name)
            known = {key: there.get(key) for key in ("infos", "recordings")}
            same = known["infos"] == wanted["infos"]
            if not same or there.get("source") not in (None, source()):
                raise OutputError(
                    f"{folder}: holds a store of another source, or of one that has changed "
                    "since; choose another folder or remove it"
                )
            break
    else:
        if folder.exists() and any(folder.iterdir()):
            raise OutputError(f"{folder}: the folder is not empty and is no store")
        _write_json(folder / PARTIAL, {**wanted, "source": source()})
    return [
        info
        for info in map(_info, wanted["recordings"])
        if not _is_whole(folder / f"{info.id}.npy", info)
    ]


def _write_values(folder: Path, recordings: Recordings, info: RecordingInfo) -> None:
    written = 0
    with atomic(folder / f"{safe_name(info.id)}.npy") as temporary, open(temporary, "wb") as out:
        out.write(_header(info))
        for chunk in recordings.chunks(info.id):
            out.write(np.ascontiguousarray(chunk, dtype="<f4").data)
            written += len(chunk)
        if written != info.samples:
            raise InputError(
                f"recording {info.id!r}: {info.samples} samples expected, {written} came"
            )


@dataclass(frozen=True)
class StoreReader(WholeReader):
    """Maps the arrays of a store into memory."""

    folder: Path

    def read(self, info: RecordingInfo) -> Values:
        """The values of one recording, as a read-only memory map."""
        [file] = self.files(info)
        if not _is_whole(existing(file), info):
            raise InputError(
                f"{file}: an array of {(info.samples, len(info.channels))} float32 expected; the "
                "file is truncated or was changed: prepare again"
            )
        if info.samples == 0 or not info.channels:
            return np.zeros((info.samples, len(info.channels)), np.float32)
        with reading(file, "an array"):
            values: Values = np.load(file, mmap_mode="r", allow_pickle=False)
        return values

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        """The array file of the recording."""
        return (self.folder / f"{safe_name(info.id)}.npy",)


def open_store(path: str | Path) -> Recordings:
    """Open a prepared store: only its manifest is read.

    >>> open_store("/no/such")
    Traceback (most recent call last):
    bdl.errors.InputError: /no/such: no prepared store: manifest.json is missing
    """
    folder = Path(path)
    if not (folder / MANIFEST).is_file():
        partial = (folder / PARTIAL).exists()
        why = "it was interrupted, prepare again to finish it" if partial else "is it the folder?"
        raise InputError(f"{folder}: no prepared store: {MANIFEST} is missing; {why}")
    manifest = _load(folder / MANIFEST)
    with reading(folder / MANIFEST, "the manifest of a store"):
        infos = tuple(map(_info, manifest["recordings"]))
        notes = tuple(map(str, manifest["notes"]))
    for info in infos:
        safe_name(info.id)
    return Recordings(infos, StoreReader(folder.resolve()), notes)


def is_store(path: str | Path) -> bool:
    """Whether a folder is a prepared store, finished or not.

    >>> is_store("/no/such")
    False
    """
    file = next((Path(path) / n for n in (MANIFEST, PARTIAL) if (Path(path) / n).is_file()), None)
    if file is None:
        return False
    try:
        return bool(json.loads(file.read_text("utf-8")).get("format") == _FORMAT)
    except (OSError, ValueError, AttributeError):
        return False


def _header(info: RecordingInfo) -> bytes:
    """The bytes before the values in an array file."""
    out = BytesIO()
    shape = (info.samples, len(info.channels))
    told = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, told)
    return out.getvalue()


def _is_whole(file: Path, info: RecordingInfo) -> bool:
    """Whether an array file begins with the bytes, and has the length, that it must have."""
    header = _header(info)
    try:
        with open(file, "rb") as stream:
            right = stream.read(len(header)) == header
        size = file.stat().st_size
    except OSError:
        return False
    return right and size == len(header) + info.samples * len(info.channels) * 4


def _manifest(recordings: Recordings, source: str | None) -> dict[str, Any]:
    rows = [
        {
            "id": info.id,
            "samples": info.samples,
            "channels": [*info.channels],
            "period": info.period,
            "start": None if info.start is None else info.start.isoformat(),
            "offset_changes": [[*change] for change in info.offset_changes],
            "group": info.group,
        }
        for info in recordings.infos
    ]
    told = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "source": source,
        "infos": told,
        "notes": [*recordings.notes],
        "recordings": rows,
    }


def _info(row: dict[str, Any]) -> RecordingInfo:
    start = row["start"]
    return RecordingInfo(
        str(row["id"]),
        int(row["samples"]),
        tuple(map(str, row["channels"])),
        float(row["period"]),
        None if start is None else datetime.fromisoformat(start),
        tuple((int(sample), int(offset)) for sample, offset in row["offset_changes"]),
        row["group"],
    )


def _load(file: Path) -> dict[str, Any]:
    with reading(file, "the manifest of a store"):
        data = json.loads(existing(file).read_text("utf-8"))
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise InputError(f"{file}: it is not the manifest of a prepared store")
    if data.get("version") != _VERSION:
        raise InputError(
            f"{file}: store version {data.get('version')} came, {_VERSION} expected; prepare again"
        )
    return data


def _write_json(file: Path, data: dict[str, Any]) -> None:
    with atomic(file) as temporary:
        temporary.write_text(json.dumps(data, allow_nan=False), "utf-8")
