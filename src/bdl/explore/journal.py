"""The journal: every edit of a table of events, one line of JSON each, on disk before it holds.

The first line names the table and the hash of its content; every further line is an `Entry` with
the next number. A line is written with its line break in one call and synchronised with the disk;
only then is the edit acknowledged. A last line without a line break was never acknowledged: it is
left out, and cut off before the next line is written. Any other line that cannot be read, or whose
checksum (``crc32``) is not that of its text, is an error that names it. Nothing is ever changed or
removed: undo and redo are entries as well.

An entry lists its changes: the label with that id before and after. A change whose ``before`` is
not the current state is refused, so that two windows, or two people, cannot overwrite each other's
edits.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from filelock import FileLock, Timeout
from pydantic import Field, PositiveInt, model_validator

from bdl.config import Value, validate
from bdl.errors import BdlError, ConfigError, InputError, OutputError
from bdl.formats.files import reading
from bdl.plain_data import parse_json

VERSION = 1
CHECKSUM = "crc32"
Name = Annotated[str, Field(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Verdict = Literal["accept", "reject", "move"]


class ConflictError(BdlError, RuntimeError):
    """An edit of a label or table that has changed meanwhile."""


class Label(Value):
    """One annotated event: recording, event type, seconds from the start, and a comment."""

    recording: str
    event: Annotated[Name, Field(min_length=1)]
    time: float
    comment: Annotated[str, Field(max_length=2000)] = ""


class Change(Value):
    """A change of one label: added (no ``before``), deleted (no ``after``) or changed.

    Examples
    --------
    >>> here, there = (Label(recording="a", event="beat", time=t) for t in (1.0, 2.0))
    >>> Change(id=0, before=here, after=there).inverse.after.time
    1.0
    """

    id: Annotated[int, Field(ge=0)]
    before: Label | None = None
    after: Label | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.before == self.after:
            raise ConfigError("a change that changes nothing")
        if self.before and self.after and self.before.recording != self.after.recording:
            raise ConfigError("a label cannot move to another recording")
        return self

    @property
    def inverse(self) -> Change:
        """The change that reverts this one."""
        return Change(id=self.id, before=self.after, after=self.before)


class Review(Value):
    """A verdict on an item of the review queue."""

    item: Annotated[str, Field(min_length=1, max_length=1000)]
    verdict: Verdict


class Entry(Value):
    """One line of the journal: an edit, a verdict (or both), or the undoing or redoing of one."""

    number: PositiveInt  # 1, 2, 3, ...
    at: str  # date and time in UTC
    annotator: Name = ""
    changes: tuple[Change, ...] = ()  # changes of labels that belong together
    review: Review | None = None
    undo: PositiveInt | None = None  # number of the undone edit; the entry has nothing else
    redo: PositiveInt | None = None  # number of the redone edit; the entry has nothing else

    @model_validator(mode="after")
    def _check(self) -> Self:
        edits = bool(self.changes or self.review)
        if edits + (self.undo is not None) + (self.redo is not None) != 1:
            raise ConfigError("an entry has changes or a verdict, or undoes, or redoes, one edit")
        ids = [change.id for change in self.changes]
        if len(set(ids)) != len(ids):
            raise ConfigError("an entry changes each label at most once")
        return self


class Journal:
    """An append-only file of entries, created with the first; `opened` locks it.

    ``table`` and ``digest`` are the name of the edited table and the hash of its content; a journal
    of another content is an error.
    """

    def __init__(self, path: Path, *, table: str, digest: str) -> None:
        self.path = path
        self.notes: tuple[str, ...] = ()
        self.entries: list[Entry] = []
        self._head = {"journal": "bdl", "version": VERSION, "table": table, "sha256": digest}
        self._size = 0
        if path.exists():
            self._read()

    @classmethod
    @contextmanager
    def opened(cls, path: Path, *, table: str, digest: str) -> Iterator[Journal]:
        """The journal, locked while the block runs: only one program may edit at a time."""
        lock = FileLock(path.with_name(f"{path.name}.lock"))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout as error:
            raise InputError(
                f"{path}: another bdl explore is editing with this journal; use its window, end "
                "it, or give another file (--journal)"
            ) from error
        except OSError as error:
            raise OutputError(
                f"{path}: the journal of edits cannot be written there: {error.strerror}; give "
                "another file (--journal)"
            ) from error
        with lock:
            yield cls(path, table=table, digest=digest)

    def append(self, entry: Entry) -> None:
        """Write an entry; when this returns, it is on disk."""
        if entry.number != len(self.entries) + 1:
            raise ConfigError(f"entry {len(self.entries) + 1} expected, got {entry.number}")
        lines = [] if self._size else [self._head]
        lines.append(entry.model_dump(mode="json", exclude_none=True))
        data = b"".join(map(_line, lines))
        try:
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o644)
            try:
                os.ftruncate(file, self._size)  # removes an unfinished line after a crash
                os.pwrite(file, data, self._size)
                os.fsync(file)
            finally:
                os.close(file)
            if not self._size:
                _synchronise(self.path.parent)
        except OSError as error:
            raise OutputError(
                f"{self.path}: the edit was not saved: {error.strerror}; it has no effect"
            ) from error
        self._size += len(data)
        self.entries.append(entry)

    def _read(self) -> None:
        with reading(self.path, "a journal of edits"):
            data = self.path.read_bytes()
        complete, _, incomplete_line = data.rpartition(b"\n")
        self._size = len(data) - len(incomplete_line)
        if incomplete_line:
            self.notes = (
                f"{self.path}: the last line is cut: an edit that was never confirmed is left out",
            )
        lines = complete.split(b"\n") if self._size else []
        for place, line in enumerate(lines, start=1):
            what = f"{self.path}: line {place}"
            with reading(what, "a line of a journal"):
                content = parse_json(line, what)
                if CHECKSUM in content:  # lines of earlier versions have none
                    del content[CHECKSUM]
                    if _line(content) != line + b"\n":
                        raise InputError(f"{what}: altered since it was written")
            if place == 1:
                self._check_head(content)
                continue
            entry: Entry = validate(Entry, content, what)
            if entry.number != len(self.entries) + 1:
                raise InputError(
                    f"{what}: entry {len(self.entries) + 1} expected, got {entry.number}; lines "
                    "are missing or in another order"
                )
            self.entries.append(entry)

    def _check_head(self, head: Any) -> None:
        if not isinstance(head, dict) or head.get("journal") != "bdl":
            raise InputError(f"{self.path}: not a journal of bdl explore; nothing was changed")
        if head.get("version") != VERSION:
            raise InputError(
                f"{self.path}: journal version {VERSION} expected, got {head.get('version')}"
            )
        if head.get("sha256") != self._head["sha256"]:
            raise InputError(
                f"{self.path}: these edits belong to another content of {head.get('table')}: the "
                "table has changed since. Restore it, or give another journal (--journal) to "
                "start from the table as it is now"
            )


def _line(content: dict[str, Any]) -> bytes:
    """Plain data as a line of JSON that ends with the checksum of the rest."""
    text = json.dumps(content, ensure_ascii=False)
    return f'{text[:-1]}, "{CHECKSUM}": {zlib.crc32(text.encode())}}}\n'.encode()


def _synchronise(folder: Path) -> None:
    """Synchronise a folder with the disk, so that a new file in it survives a crash."""
    if os.name == "posix":
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
