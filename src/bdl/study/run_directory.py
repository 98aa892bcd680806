"""Writing a run directory: every step of a study is written whole or not at all.

The files of a step are written first and its mark ``done.json`` last. Nothing is ever deleted, so
a worker left over from a killed runner does no harm: it writes the same bytes under the same names.
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bdl.errors import StudyError
from bdl.study.digest import canonical
from bdl.study.lock import hold
from bdl.study.run_reader import RunReader
from bdl.study.steps import StepOutput, StudyStep


class RunDirectory(RunReader):
    """A run directory that can be written; see `RunReader`.

    Examples
    --------
    >>> import tempfile
    >>> run = RunDirectory(tempfile.mkdtemp())
    >>> run.put_json("note.json", {"two": 2})
    >>> run.get("note.json")
    b'{\\n "two": 2\\n}\\n'
    """

    def make(self) -> None:
        """Create the directory if it does not exist."""
        with write_errors(self.url):
            self.fs.makedirs(self.root, exist_ok=True)

    def lock(self) -> AbstractContextManager[None]:
        """The right to run here, held by one process at a time."""
        self.make()
        return hold(self.fs, self.root, local=self.local)

    def put(self, name: str, content: bytes) -> None:
        """Write a file whole: on a local path by renaming, elsewhere in one call."""
        path = f"{self.root}/{name}"
        with write_errors(self.url):
            if not self.local:
                self.fs.pipe_file(path, content)
                return
            target = Path(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
            try:
                part.write_bytes(content)
                os.replace(part, target)
            finally:
                part.unlink(missing_ok=True)

    def put_json(self, name: str, content: Any) -> None:
        """Write plain data as readable JSON."""
        canonical(content)
        text = json.dumps(content, sort_keys=True, indent=1, allow_nan=False)
        self.put(name, text.encode() + b"\n")

    def finish(self, step: StudyStep, output: StepOutput, *, seconds: float) -> None:
        """Write the files of a step, then its mark, then its entry in the ledger."""
        hashes = {}
        for name, content in sorted(output.files.items()):
            self.put(f"{step.id.folder}/{name}", content)
            hashes[name] = hashlib.sha256(content).hexdigest()
        mark = {"step": step.name, "kind": step.kind, "key": step.id.key, "result": output.result}
        self.put_json(f"{step.id.folder}/done.json", {**mark, "files": hashes})
        self.note("step", step=step.name, kind=step.kind, key=step.id.key, seconds=seconds)

    def note(self, event: str, **details: Any) -> None:
        """Add an entry to the ledger: what happened, and when (UTC)."""
        now = datetime.now(UTC)
        name = f"{now:%Y%m%dT%H%M%S}.{now.microsecond:06d}-{event}-{uuid.uuid4().hex[:6]}"
        entry = {"event": event, "time": now.isoformat(), **details}
        self.put_json(f"ledger/{name}.json", entry)


@contextmanager
def write_errors(where: str) -> Iterator[None]:
    """Turn an operating-system error while writing into a `StudyError` that says what to do.

    Examples
    --------
    >>> with write_errors("run"):
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
    """Measure the seconds spent in the block, as the only item of a list."""
    spent = [0.0]
    start = time.perf_counter()
    try:
        yield spent
    finally:
        spent[0] = time.perf_counter() - start
