"""Preparing a store: recordings are streamed into memory-mapped arrays.

Arrays appear one by one, each whole, so that an interrupted preparation continues where it stopped.
A store is finished when its ``manifest.json`` is there. The worker that writes a recording hashes
its files as well, while they are in the file cache. Until all are hashed, sizes and times of change
show whether the source has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bdl.errors import InputError, OutputError
from bdl.formats.addresses import address_of, exists, remove, versions
from bdl.formats.atomic_files import atomic
from bdl.formats.files import file_identity, joined_hash, safe_name
from bdl.formats.outputs import check_output
from bdl.formats.recordings.store import (
    MANIFEST,
    PARTIAL,
    array_header,
    is_whole,
    load_manifest,
    manifest_of,
    open_store,
    without,
)
from bdl.recording import RecordingInfo, Recordings
from bdl.recording_batches import MOST, batches_of, singles
from bdl.workers import WorkerDeath, Workers, run_all

Progress = Callable[[int, int], None]


def prepare(
    recordings: Recordings,
    path: str | Path,
    *,
    progress: Progress | None = None,
    workers: Workers | None = None,
    invalid: Literal["error", "skip"] = "error",
    reading: Mapping[str, Any] | None = None,
) -> Recordings:
    """Stream recordings into a store, or continue one that was interrupted.

    Parameters
    ----------
    recordings
        Any source; it is read once, in order, in chunks.
    path
        The store's folder; it may hold an unfinished store of the same source.
    progress
        Called with the numbers of finished and of all samples.
    workers
        Where recordings are read and written; by default one after the other in this process. The
        store is the same, byte by byte.
    invalid
        Whether a recording that cannot be read is an ``error``, or is left out (``skip``) with a
        note in the store; preparing again tries it again.
    reading
        How the source is read (fields of `bdl.formats.reading.Reading`), which the store remembers.

    Returns
    -------
    recordings
        The store, opened.

    Examples
    --------
    >>> import tempfile
    >>> from bdl.recording import Recording
    >>> recording = Recording.of(np.arange(4.0), id="a", period=0.5, channels=["x"])
    >>> prepare(Recordings.of([recording]), Path(tempfile.mkdtemp()) / "store")["a"]
    Recording 'a': 4 samples x 1 channel (x), every 0.5 s, 0.00 h
    """
    folder = Path(path)
    check_output(folder, folder=True)
    for id in recordings.ids:
        safe_name(id)
    files = {file for id in recordings.ids for file in recordings.files(id)}
    workers = workers or Workers()
    writer = partial(_write_part, folder=folder, invalid=invalid)
    identities: dict[Path, bytes] = {}

    def source() -> str | None:
        """Hash the files that are not hashed yet, then all of them together."""
        left = (StorePart(Recordings.of([]), (file,)) for file in sorted(files - identities.keys()))
        for _, written in _written(writer, left, workers):
            identities.update(written.identities)
        return joined_hash(identities) if files else None

    manifest = manifest_of(recordings)
    missing = _missing(folder, recordings, manifest, files, source)
    total = sum(info.samples for info in recordings.infos)
    done = total - sum(info.samples for info in missing)
    failed: dict[str, str] = {}
    parts = _parts(recordings, missing, identities.keys(), 1 if workers.here else MOST)
    for part, written in _written(writer, parts, workers):
        identities.update(written.identities)
        failed |= {id: f"recording {id!r}: {why}" for id, why in written.failed.items()}
        if failed and (invalid == "error" or len(failed) == len(recordings)):
            raise InputError(next(iter(failed.values())))
        done += sum(info.samples for info in part.recordings.infos)
        if progress is not None:
            progress(done, total)
    remembered = dict(reading) if reading else None
    manifest = {**without(manifest, failed), "source": source(), "reading": remembered}
    _write_json(folder / MANIFEST, manifest)
    remove(folder / PARTIAL)
    return open_store(folder)


def _missing(
    folder: Path,
    recordings: Recordings,
    manifest: dict[str, Any],
    files: Iterable[Path],
    source: Callable[[], str | None],
) -> list[RecordingInfo]:
    """Recordings that still have to be written."""
    # Asked in the order in which another run may write the same store at this moment: its first
    # file is PARTIAL, which is removed only when MANIFEST is there. Hidden files do not count.
    local = address_of(folder) is None
    entries = [*folder.iterdir()] if local and folder.exists() else []
    occupied = any(entry.name[0] != "." for entry in entries)
    existing = [folder / name for name in (PARTIAL, MANIFEST) if exists(folder / name)]
    names = sorted(files)
    stamps = [[file.name, version] for file, version in zip(names, versions(names), strict=True)]
    if existing:
        try:
            other = load_manifest(existing[-1])
        except InputError:
            if not exists(folder / MANIFEST):
                raise
            other = load_manifest(folder / MANIFEST)  # the other run has just finished
        same = other.get("infos") == manifest["infos"]
        same = same and other.get("stamps", stamps) == stamps
        if not same or other.get("source") not in (None, source()):
            raise OutputError(
                f"{folder}: holds a store of another source, or of one that has changed "
                "since; choose another folder (--out) or remove it"
            )
    elif occupied:
        raise OutputError(
            f"{folder}: the folder is not empty and is not a store; name another (--out)"
        )
    else:
        _write_json(folder / PARTIAL, {**manifest, "stamps": stamps})
    return [info for info in recordings.infos if not is_whole(folder / f"{info.id}.npy", info)]


@dataclass(frozen=True)
class StorePart:
    """What a worker does at a time: it writes recordings, and hashes files of the source."""

    recordings: Recordings
    files: tuple[Path, ...] = ()

    def singles(self) -> list[StorePart]:
        """Each recording alone, then each file."""
        files = [StorePart(Recordings.of([]), (file,)) for file in self.files]
        return [*map(StorePart, singles(self.recordings)), *files]


def _parts(
    recordings: Recordings, missing: Iterable[RecordingInfo], hashed: Iterable[Path], most: int
) -> Iterator[StorePart]:
    """The recordings that are missing, in batches, each file with the first that needs it."""
    known = {*hashed}
    for batch in batches_of(recordings.select([info.id for info in missing]), most):
        new = {file for id in batch.ids for file in batch.files(id)} - known
        known |= new
        yield StorePart(batch, tuple(sorted(new)))


class Written(NamedTuple):
    """What became of a part: why recordings cannot be read, and the identities of its files."""

    failed: dict[str, str]
    identities: dict[Path, bytes]


def _written(
    writer: Callable[[StorePart], Written], parts: Iterable[StorePart], workers: Workers
) -> Iterator[tuple[StorePart, Written]]:
    """Parts and what became of them."""
    for part, result in run_all(writer, parts, workers, split=StorePart.singles):
        if isinstance(result, WorkerDeath):
            if not len(part.recordings):
                raise InputError(f"{part.files[0]}: {result}")
            result = Written(dict.fromkeys(part.recordings.ids, str(result)), {})
        yield part, result


def _write_part(part: StorePart, folder: Path, invalid: Literal["error", "skip"]) -> Written:
    """Write each recording, and hash the files, in the process that it is called in."""
    failed = {}
    for info in part.recordings.infos:
        try:
            _write_values(folder, part.recordings, info)
        except InputError as error:
            if invalid == "error":
                raise
            failed[info.id] = str(error)
    return Written(failed, {file: file_identity(file) for file in part.files})


def _write_values(folder: Path, recordings: Recordings, info: RecordingInfo) -> None:
    written = 0
    with atomic(folder / f"{safe_name(info.id)}.npy") as temporary, open(temporary, "wb") as out:
        out.write(array_header(info))
        for chunk in recordings.chunks(info.id):
            out.write(np.ascontiguousarray(chunk, dtype="<f4").data)
            written += len(chunk)
        if written != info.samples:
            raise InputError(
                f"recording {info.id!r}: {info.samples} samples expected, got {written}"
            )


def _write_json(file: Path, data: dict[str, Any]) -> None:
    with atomic(file) as temporary:
        temporary.write_text(json.dumps(data, allow_nan=False), "utf-8")
