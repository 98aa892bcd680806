"""Writing a run directory: every step is written whole or not at all.

The files of a step are written first and its mark ``done.json`` last. Nothing is deleted except
temporary files of dead processes, so a worker left over from a killed runner does no harm: it
writes the same bytes under the same names.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bdl.formats.outputs import remove_leftovers, temporary_path
from bdl.runs.digest import sha256
from bdl.runs.lock import hold
from bdl.runs.run_reader import RunReader
from bdl.runs.seal import sealed
from bdl.runs.step import Step, StepOutput
from bdl.runs.write_errors import write_errors


class RunDirectory(RunReader):
    """A run directory that can be written; see `RunReader`.

    Examples
    --------
    >>> import tempfile
    >>> run = RunDirectory(tempfile.mkdtemp())
    >>> run.put_json("note.json", {"two": 2})
    >>> run.get_json("note.json")
    {'two': 2}
    """

    def make(self) -> None:
        """Create the directory if it does not exist."""
        with write_errors(self.url):
            self.fs.makedirs(self.root, exist_ok=True)

    def lock(self) -> AbstractContextManager[None]:
        """The lock of the directory, held by one process at a time."""
        self.make()
        return hold(self.fs, self.root, local=self.local)

    def remove(self) -> None:
        """Remove the directory with everything in it."""
        with write_errors(self.url):
            self.fs.rm(self.root, recursive=True)

    def tidy(self) -> None:
        """Remove temporary files of killed processes."""
        if self.local:
            for folder, _, _ in os.walk(self.root):
                remove_leftovers(Path(folder))

    def put(self, name: str, content: bytes) -> None:
        """Write a file whole: on a local path by renaming, elsewhere in one call."""
        path = f"{self.root}/{name}"
        with write_errors(self.url):
            if not self.local:
                self.fs.pipe_file(path, content)
                return
            target = Path(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            part = temporary_path(target)
            try:
                part.write_bytes(content)
                os.replace(part, target)
            finally:
                part.unlink(missing_ok=True)

    def put_json(self, name: str, content: Mapping[str, Any]) -> None:
        """Write plain data as readable JSON, sealed with its hash."""
        self.put(name, sealed(content))

    def finish(self, step: Step, output: StepOutput, *, seconds: float) -> None:
        """Write the files of a step, then its mark, then its entry in the ledger."""
        hashes = {}
        for name, content in sorted(output.files.items()):
            self.put(f"{step.id.folder}/{name}", content)
            hashes[name] = sha256(content)
        mark = {"step": step.name, "kind": step.kind, "key": step.id.key, "result": output.result}
        self.put_json(f"{step.id.folder}/done.json", {**mark, "files": hashes})
        self.note("step", step=step.name, kind=step.kind, key=step.id.key, seconds=seconds)

    def complete_ledger(self, steps: Iterable[Step]) -> None:
        """Add missing entries of finished steps, after a kill between mark and entry."""
        listed = {entry.get("key") for entry in self.ledger() if entry.get("event") == "step"}
        for step in steps:
            if step.id.key not in listed:
                self.note("step", step=step.name, kind=step.kind, key=step.id.key, seconds=None)

    def note(self, event: str, **details: Any) -> None:
        """Add an entry to the ledger: an event with its details and its time (UTC)."""
        now = datetime.now(UTC)
        name = f"{now:%Y%m%dT%H%M%S}.{now.microsecond:06d}-{event}-{uuid.uuid4().hex[:6]}"
        entry = {"event": event, "time": now.isoformat(), **details}
        self.put_json(f"ledger/{name}.json", entry)


@contextmanager
def timed() -> Iterator[list[float]]:
    """Measure the seconds spent in the block, as the only item of a list."""
    seconds = [0.0]
    start = time.perf_counter()
    try:
        yield seconds
    finally:
        seconds[0] = time.perf_counter() - start
