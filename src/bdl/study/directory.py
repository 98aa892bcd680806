"""The run directory: every step of a study lands in it whole or not at all.

It lies on any fsspec path. A step owns ``steps/<name>-<key>/``, where the key is the hash of all
it depends on; its files are written first and ``done.json`` last, and a step without that mark
does not exist. Nothing is ever deleted, so a worker left over from a killed runner can do no
harm: it writes the same bytes under the same names. Times stand in ``ledger/`` alone, a file an
entry; all else is equal, byte by byte, between two runs of one study.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fsspec

from bdl.errors import StudyError
from bdl.study.digest import canonical, digest
from bdl.study.lock import hold


@dataclass(frozen=True)
class Step:
    """One piece of work: a name, what kind it is, and all it depends on.

    >>> Step("fit/fold-0/bdl", "fit", {"rate": 0.1}).key == Step("other", "fit", {"rate": 0.1}).key
    True
    """

    name: str
    kind: str
    inputs: dict[str, Any]

    @property
    def key(self) -> str:
        """Hash of the kind and the inputs."""
        return digest([self.kind, self.inputs])

    @property
    def folder(self) -> str:
        """Where the step lies in the run directory."""
        return f"steps/{self.name}-{self.key[:12]}"


class RunDirectory:
    """A directory of steps on a local or remote path.

    >>> import tempfile
    >>> run = RunDirectory(tempfile.mkdtemp())
    >>> step = Step("add/one", "add", {"of": 1})
    >>> run.finish(step, {"sum": 2}, {"note.txt": b"two"}, seconds=0.0)
    >>> run.result(step), run.read(step, "note.txt")
    ({'sum': 2}, b'two')
    """

    def __init__(self, url: str | Path) -> None:
        self.url = str(url)
        self.fs, root = fsspec.core.url_to_fs(self.url)
        self.root = root.rstrip("/")
        protocols = self.fs.protocol
        names = (protocols,) if isinstance(protocols, str) else protocols
        self.local = "file" in names or "local" in names
        if self.local:
            # Workers may stand in another folder; a local url is made absolute.
            self.url = self.root

    def make(self) -> None:
        """Make the directory if it is not there."""
        with explained(self.url):
            self.fs.makedirs(self.root, exist_ok=True)

    def exists(self) -> bool:
        """Whether a study was started here."""
        return bool(self.fs.exists(f"{self.root}/protocol.json"))

    def lock(self) -> AbstractContextManager[None]:
        """The right to run here, held by one process at a time."""
        self.make()
        return hold(self.fs, self.root, local=self.local)

    def get(self, name: str) -> bytes | None:
        """A file's bytes, or None where there is none."""
        try:
            data: bytes = self.fs.cat_file(f"{self.root}/{name}")
        except FileNotFoundError:
            return None
        return data

    def put(self, name: str, data: bytes) -> None:
        """Write a file whole: on a local path by renaming, elsewhere by one put."""
        path = f"{self.root}/{name}"
        with explained(self.url):
            if not self.local:
                self.fs.pipe_file(path, data)
                return
            target = Path(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
            try:
                part.write_bytes(data)
                os.replace(part, target)
            finally:
                part.unlink(missing_ok=True)

    def get_json(self, name: str) -> Any:
        """A JSON file's content, or None where there is none."""
        data = self.get(name)
        return None if data is None else json.loads(data)

    def put_json(self, name: str, data: Any) -> None:
        """Write plain data as readable JSON."""
        canonical(data)
        text = json.dumps(data, sort_keys=True, indent=1, allow_nan=False)
        self.put(name, text.encode() + b"\n")

    def done(self, step: Step) -> dict[str, Any] | None:
        """The mark of a finished step, or None."""
        mark: dict[str, Any] | None = self.get_json(f"{step.folder}/done.json")
        if mark is not None and mark["key"] != step.key:
            raise StudyError(f"{self.url}/{step.folder}: done.json is of another step; altered?")
        return mark

    def result(self, step: Step) -> dict[str, Any]:
        """What a finished step found."""
        mark = self.done(step)
        if mark is None:
            raise StudyError(f"{self.url}: step {step.name} is not done")
        found: dict[str, Any] = mark["result"]
        return found

    def files(self, step: Step) -> list[str]:
        """Names of the files a finished step left, sorted."""
        mark = self.done(step)
        return sorted(mark["files"]) if mark else []

    def read(self, step: Step, name: str) -> bytes:
        """A file of a finished step, checked against its hash."""
        mark = self.done(step)
        data = self.get(f"{step.folder}/{name}")
        if mark is None or data is None or name not in mark["files"]:
            raise StudyError(f"{self.url}: step {step.name} has no file {name}")
        if hashlib.sha256(data).hexdigest() != mark["files"][name]:
            raise StudyError(f"{self.url}/{step.folder}/{name}: altered since it was written")
        return data

    def finish(
        self, step: Step, result: dict[str, Any], files: dict[str, bytes], *, seconds: float
    ) -> None:
        """Write a step's files, then its mark, then its entry in the ledger."""
        for name, data in sorted(files.items()):
            self.put(f"{step.folder}/{name}", data)
        hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        mark = {"step": step.name, "kind": step.kind, "key": step.key, "result": result}
        self.put_json(f"{step.folder}/done.json", {**mark, "files": hashes})
        self.note("step", step=step.name, kind=step.kind, key=step.key, seconds=seconds)

    def note(self, event: str, **details: Any) -> None:
        """Add an entry to the ledger: what happened, and when (UTC)."""
        now = datetime.now(UTC)
        name = f"{now:%Y%m%dT%H%M%S}.{now.microsecond:06d}-{event}-{uuid.uuid4().hex[:6]}"
        entry = {"event": event, "time": now.isoformat(), **details}
        self.put_json(f"ledger/{name}.json", entry)

    def ledger(self) -> list[dict[str, Any]]:
        """All entries of the ledger, in order of time."""
        try:
            names = sorted(self.fs.ls(f"{self.root}/ledger", detail=False))
        except FileNotFoundError:
            return []
        names = [name for name in names if name.endswith(".json")]
        return [json.loads(self.fs.cat_file(name)) for name in names]


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn an operating-system error while writing into ours, with what to do.

    >>> with explained("run"):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    bdl.errors.StudyError: run: the disk is full; free some space and run the same command again
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            cause = "the disk is full" if error.errno == errno.ENOSPC else "no room to write"
            raise StudyError(
                f"{where}: {cause}; free some space and run the same command again"
            ) from error
        raise StudyError(f"{where}: cannot write: {error}") from error


@contextmanager
def timed() -> Iterator[list[float]]:
    """Seconds spent inside, in the list's one place.

    >>> with timed() as seconds:
    ...     pass
    >>> seconds[0] >= 0
    True
    """
    spent = [0.0]
    start = time.perf_counter()
    try:
        yield spent
    finally:
        spent[0] = time.perf_counter() - start
