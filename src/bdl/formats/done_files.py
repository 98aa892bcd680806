"""Which files were processed already: their sizes and times of change, beside the result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from bdl.errors import InputError
from bdl.formats.atomic_files import atomic
from bdl.formats.files import existing, reading
from bdl.plain_data import parse_json
from bdl.recording import Recordings

Stamp = list[int]  # size in bytes, and time of change in nanoseconds


class DoneFiles:
    """Recordings that were processed, each with the stamps of its files, as a file records them.

    The purpose is what they were processed with, such as the digest of a model. Recordings that
    were processed for another purpose are not done.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("x")
    >>> done = DoneFiles(folder / "done.json", purpose="model 1")
    >>> done.write({"a": stamps([folder / "a.csv"])})
    >>> DoneFiles(folder / "done.json", purpose="model 1").is_new(folder / "a.csv")
    False
    >>> DoneFiles(folder / "done.json", purpose="model 2").is_new(folder / "a.csv")
    True
    """

    def __init__(self, path: Path, *, purpose: str) -> None:
        self.path, self.purpose = path, purpose
        self._recordings: dict[str, dict[str, Stamp]] = {}
        if path.exists():
            with reading(path, "a record of processed files"):
                content = parse_json(existing(path).read_bytes(), path)
                if content["purpose"] == purpose:
                    self._recordings = {
                        id: {file: [*map(int, stamp)] for file, stamp in stamps.items()}
                        for id, stamps in content["recordings"].items()
                    }

    def __len__(self) -> int:
        return len(self._recordings)

    def is_new(self, file: Path) -> bool:
        """Whether a file was not processed, or has changed since, or one that belongs to it has."""
        name = str(file.resolve())
        using = [stamps for stamps in self._recordings.values() if name in stamps]
        return not using or any(
            stamp(Path(path)) != old for stamps in using for path, old in stamps.items()
        )

    def new(self, recordings: Recordings) -> Recordings:
        """The recordings that were not processed, or whose files have changed since."""
        current = self.stamps(recordings)
        return recordings.select(
            [id for id in recordings.ids if self._recordings.get(id) != current[id]]
        )

    def stamps(self, recordings: Recordings) -> dict[str, dict[str, Stamp]]:
        """Stamps of the files of recordings, to be taken before they are read."""
        return {id: stamps(recordings.files(id)) for id in recordings.ids}

    def write(self, processed: Mapping[str, dict[str, Stamp]]) -> None:
        """Add recordings with the stamps of their files before they were read, and write all."""
        self._recordings |= processed
        content = {"purpose": self.purpose, "recordings": self._recordings}
        with atomic(self.path) as temporary:
            temporary.write_text(json.dumps(content, indent=1), "utf-8")


def stamps(files: Iterable[Path]) -> dict[str, Stamp]:
    """Size and time of change of files, by absolute path."""
    by_file = {}
    for file in files:
        known = stamp(file)
        if known is None:
            raise InputError(f"{file}: no such file")
        by_file[str(file.resolve())] = known
    return by_file


def stamp(file: Path) -> Stamp | None:
    """Size and time of change of a file; None if there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]
