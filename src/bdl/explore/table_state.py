"""The state of a table on disk, to detect that another program changes it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from bdl.errors import InputError
from bdl.formats.files import content_hash


@dataclass(frozen=True)
class TableState:
    """Path and content of a table of events when it was read.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "events.csv"
    >>> _ = file.write_text("recording,event,time")
    >>> state = TableState.of(file)
    >>> _ = file.write_text("something else")
    >>> state.changed
    True
    """

    path: Path
    digest: str
    stamp: tuple[tuple[str, int, int], ...]

    @classmethod
    def of(cls, path: str | Path) -> TableState:
        """The current state of a table; that of a folder (BIDS, EDF, WFDB) is its files' stamps."""
        path = Path(path)
        stamp = _stamp(path)
        if path.is_dir():
            return cls(path, hashlib.sha256(repr(stamp).encode()).hexdigest(), stamp)
        return cls(path, content_hash([path]), stamp)

    @property
    def changed(self) -> bool:
        """Whether the content has changed, or is missing."""
        try:
            if _stamp(self.path) == self.stamp:
                return False
            return TableState.of(self.path).digest != self.digest
        except InputError:
            return True


def _stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    try:
        states = [(file, file.stat()) for file in files if not file.is_dir()]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    return tuple((str(f.relative_to(path.parent)), s.st_size, s.st_mtime_ns) for f, s in states)
