"""The prepared store: a folder of memory-mapped arrays and a manifest.

Each recording is one ``<id>.npy`` (samples, channels) float32; ``manifest.json`` holds the hash
of the source and every recording's channels, period, start, UTC offset changes, length and
group. `bdl.formats.prepare` writes stores; while it does, the manifest is called
``manifest.partial.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bdl.errors import InputError
from bdl.formats.addresses import address_of, exists, file_size, read_range
from bdl.formats.files import existing, reading, safe_name
from bdl.formats.recordings.recording_format import RecordingFormat
from bdl.plain_data import parse_json
from bdl.recording import RecordingInfo, Recordings
from bdl.value_readers import CHUNK, Values, WholeReader

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
                manifest = parse_json(existing(path / name).read_bytes(), name)
                return bool(manifest.get("format") == _FORMAT)
            except (OSError, ValueError, AttributeError):
                continue
        return False

    @classmethod
    def source(cls, path: Path) -> dict[str, Any] | None:
        """How the recordings of a finished store were read; None if there is no store."""
        if not cls.recognises(path) or not exists(path / MANIFEST):
            return None
        return load_manifest(path / MANIFEST).get("reading") or {}

    def read(self, path: Path) -> Recordings:
        """Open a store: only its manifest is read.

        Examples
        --------
        >>> PreparedStore().read(Path("/no/such"))
        Traceback (most recent call last):
        bdl.errors.InputError: /no/such: no prepared store: manifest.json is missing
        """
        if not exists(path / MANIFEST):
            partial = exists(path / PARTIAL)
            cause = (
                "it was interrupted, prepare again to finish it" if partial else "is it the folder?"
            )
            raise InputError(f"{path}: no prepared store: {MANIFEST} is missing; {cause}")
        manifest = load_manifest(path / MANIFEST)
        with reading(path / MANIFEST, "the manifest of a store"):
            infos = tuple(map(_info_of, manifest["recordings"]))
            notes = tuple(map(str, manifest["notes"]))
            left_out = tuple(map(str, manifest.get("left_out", ())))
        for info in infos:
            safe_name(info.id)
            if not info.channels:
                raise InputError(f"{path / MANIFEST}: recording {info.id!r} has no channels")
        folder = path.resolve() if address_of(path) is None else path
        return Recordings(infos, StoreReader(folder), notes, left_out)


def open_store(path: str | Path) -> Recordings:
    """Open a prepared store: only its manifest is read."""
    return PreparedStore().read(Path(path))


@dataclass(frozen=True)
class StoreReader(WholeReader):
    """Maps the arrays of a store into memory, or reads those at an address by ranges."""

    folder: Path

    def read(self, info: RecordingInfo) -> Values:
        """The values of one recording, as a read-only memory map if they are local."""
        file = self._whole(info)
        if info.samples == 0 or not info.channels:
            return np.zeros((info.samples, len(info.channels)), np.float32)
        if address_of(file) is not None:
            return np.concatenate([*self.chunks(info)])
        with reading(file, "an array"):
            values: Values = np.load(file, mmap_mode="r", allow_pickle=False)
        return values

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        if address_of(self.folder) is None:
            yield from super().chunks(info)
            return
        file, width = self._whole(info), len(info.channels)
        head, rows = len(array_header(info)), max(1, CHUNK // max(1, width))
        for first in range(0, info.samples, rows):
            stop = min(first + rows, info.samples)
            part = read_range(file, head + 4 * width * first, head + 4 * width * stop)
            yield np.frombuffer(part, "<f4").reshape(stop - first, width)

    def _whole(self, info: RecordingInfo) -> Path:
        """The array file, whose beginning and length are checked."""
        [file] = self.files(info)
        if not exists(file):
            raise InputError(f"{file}: no such file")
        if not is_whole(file, info):
            raise InputError(
                f"{file}: an array of {(info.samples, len(info.channels))} float32 expected; the "
                "file is truncated or was changed: prepare again"
            )
        return file

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
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
        if not exists(file):
            return False
        same = read_range(file, 0, len(header)) == header
        size = file_size(file)
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
            **({"units": [*info.units]} if info.units else {}),
        }
        for info in recordings.infos
    ]
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "source": None,
        "infos": hashlib.sha256(json.dumps(rows).encode()).hexdigest(),
        "notes": [*recordings.notes],
        "left_out": [*recordings.left_out],
        "recordings": rows,
    }


def without(manifest: dict[str, Any], failed: Mapping[str, str]) -> dict[str, Any]:
    """A manifest without some recordings, each with a note that says why."""
    rows = [row for row in manifest["recordings"] if row["id"] not in failed]
    notes = [f"left out: {failed[id]}" for id in sorted(failed)]
    added = {name: [*manifest[name], *notes] for name in ("notes", "left_out")}
    return {**manifest, "recordings": rows, **added}


def _info_of(row: dict[str, Any]) -> RecordingInfo:
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
        units=tuple(map(str, row.get("units", ()))),
    )


def load_manifest(file: Path) -> dict[str, Any]:
    """The manifest in a file, its format and version checked."""
    with reading(file, "the manifest of a store"):
        manifest = parse_json(existing(file).read_bytes(), file)
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise InputError(f"{file}: it is not the manifest of a prepared store")
    if manifest.get("version") != _VERSION:
        raise InputError(
            f"{file}: store version {_VERSION} expected, got {manifest.get('version')}; prepare "
            "again"
        )
    return manifest
