"""The prepared store: a folder of memory-mapped arrays and a manifest.

Each recording is one ``<id>.npy`` (samples, channels) float32; ``manifest.json`` holds the hash
of the source and every recording's channels, period, start, UTC offset changes, length and
group. `bdl.formats.prepare` writes stores; while it does, the manifest is called
``manifest.partial.json``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bdl.errors import InputError
from bdl.formats.files import existing, reading, safe_name
from bdl.formats.recordings.recording_format import RecordingFormat
from bdl.recording import RecordingInfo, Recordings
from bdl.value_readers import Values, WholeReader

MANIFEST = "manifest.json"
PARTIAL = "manifest.partial.json"
_FORMAT = "bdl prepared store"
_VERSION = 1


class PreparedStore(RecordingFormat):
    """Prepared stores, written by `bdl prepare`."""

    kind: Literal["store"] = "store"

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a folder is a prepared store, finished or not.

        Examples
        --------
        >>> PreparedStore.recognises(Path("/no/such"))
        False
        """
        for name in (MANIFEST, PARTIAL):
            try:
                manifest = json.loads((path / name).read_text("utf-8"))
                return bool(manifest.get("format") == _FORMAT)
            except (OSError, ValueError, AttributeError):
                continue
        return False

    def read(self, path: Path) -> Recordings:
        """Open a store: only its manifest is read.

        Examples
        --------
        >>> PreparedStore().read(Path("/no/such"))
        Traceback (most recent call last):
        bdl.errors.InputError: /no/such: no prepared store: manifest.json is missing
        """
        if not (path / MANIFEST).is_file():
            partial = (path / PARTIAL).exists()
            cause = (
                "it was interrupted, prepare again to finish it" if partial else "is it the folder?"
            )
            raise InputError(f"{path}: no prepared store: {MANIFEST} is missing; {cause}")
        manifest = load_manifest(path / MANIFEST)
        with reading(path / MANIFEST, "the manifest of a store"):
            infos = tuple(map(info_of, manifest["recordings"]))
            notes = tuple(map(str, manifest["notes"]))
        for info in infos:
            safe_name(info.id)
        return Recordings(infos, StoreReader(path.resolve()), notes)


def open_store(path: str | Path) -> Recordings:
    """Open a prepared store: only its manifest is read."""
    return PreparedStore().read(Path(path))


@dataclass(frozen=True)
class StoreReader(WholeReader):
    """Maps the arrays of a store into memory."""

    folder: Path

    def read(self, info: RecordingInfo) -> Values:
        """The values of one recording, as a read-only memory map."""
        [file] = self.files(info)
        if not is_whole(existing(file), info):
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


def array_header(info: RecordingInfo) -> bytes:
    """The bytes before the values in an array file."""
    out = BytesIO()
    shape = (info.samples, len(info.channels))
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue()


def is_whole(file: Path, info: RecordingInfo) -> bool:
    """Whether an array file begins with the bytes, and has the length, that it must have."""
    header = array_header(info)
    try:
        with open(file, "rb") as stream:
            same = stream.read(len(header)) == header
        size = file.stat().st_size
    except OSError:
        return False
    return same and size == len(header) + info.samples * len(info.channels) * 4


def manifest_of(recordings: Recordings) -> dict[str, Any]:
    """The manifest of a store that holds some recordings; the hash of the source comes later."""
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
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "source": None,
        "infos": hashlib.sha256(json.dumps(rows).encode()).hexdigest(),
        "notes": [*recordings.notes],
        "recordings": rows,
    }


def info_of(row: dict[str, Any]) -> RecordingInfo:
    """The metadata of one recording of a manifest."""
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


def load_manifest(file: Path) -> dict[str, Any]:
    """The manifest in a file, its format and version checked."""
    with reading(file, "the manifest of a store"):
        manifest = json.loads(existing(file).read_text("utf-8"))
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise InputError(f"{file}: it is not the manifest of a prepared store")
    if manifest.get("version") != _VERSION:
        raise InputError(
            f"{file}: store version {_VERSION} expected, got {manifest.get('version')}; prepare "
            "again"
        )
    return manifest
