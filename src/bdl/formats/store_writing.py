"""Preparing a store: recordings are streamed into memory-mapped arrays.

Arrays appear one by one, each whole, so that an interrupted preparation goes on where it stopped.
A store is finished when its ``manifest.json`` is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from bdl.errors import InputError, OutputError
from bdl.formats.files import atomic, content_hash, safe_name
from bdl.formats.recordings.store import (
    MANIFEST,
    PARTIAL,
    array_header,
    is_whole,
    load_manifest,
    manifest_of,
    open_store,
)
from bdl.recording import RecordingInfo, Recordings

Progress = Callable[[int, int], None]


def prepare(
    recordings: Recordings, path: str | Path, *, progress: Progress | None = None
) -> Recordings:
    """Stream recordings into a store, or go on with one that was interrupted.

    Parameters
    ----------
    recordings
        Any source; it is read once, in order, in chunks.
    path
        The store's folder; it may hold an unfinished store of the same source.
    progress
        Called with the numbers of finished and of all samples.

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
    for id in recordings.ids:
        safe_name(id)
    files = tuple(dict.fromkeys(file for id in recordings.ids for file in recordings.files(id)))
    with ThreadPoolExecutor(1) as beside:
        hashing = beside.submit(content_hash, files) if files else None

        def source() -> str | None:
            return hashing.result() if hashing else None

        try:
            manifest = manifest_of(recordings)
            missing = _missing(folder, recordings, manifest, source)
            total = sum(info.samples for info in recordings.infos)
            done = total - sum(info.samples for info in missing)
            for info in missing:
                _write_values(folder, recordings, info)
                done += info.samples
                if progress is not None:
                    progress(done, total)
        finally:
            digest = source()
    _write_json(folder / MANIFEST, {**manifest, "source": digest})
    (folder / PARTIAL).unlink(missing_ok=True)
    return open_store(folder)


def _missing(
    folder: Path,
    recordings: Recordings,
    manifest: dict[str, Any],
    source: Callable[[], str | None],
) -> list[RecordingInfo]:
    """Recordings that still have to be written."""
    existing = next((folder / n for n in (MANIFEST, PARTIAL) if (folder / n).exists()), None)
    if existing is not None:
        other = load_manifest(existing)
        same = other.get("infos") == manifest["infos"]
        if not same or other.get("source") not in (None, source()):
            raise OutputError(
                f"{folder}: holds a store of another source, or of one that has changed "
                "since; choose another folder or remove it"
            )
    else:
        if folder.exists() and any(folder.iterdir()):
            raise OutputError(f"{folder}: the folder is not empty and is no store")
        _write_json(folder / PARTIAL, {**manifest, "source": source()})
    return [info for info in recordings.infos if not is_whole(folder / f"{info.id}.npy", info)]


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
