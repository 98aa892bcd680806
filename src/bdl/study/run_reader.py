"""Reading a run directory: files, finished steps and the ledger; nothing here can write.

A run directory is on any fsspec path. A step owns ``steps/<name>-<key>/``, where the key is the
hash of everything it depends on. ``done.json`` is written last: a step without it does not exist.
Times are in ``ledger/`` only, one file per entry; everything else is equal, byte by byte, between
two runs of one study.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import fsspec

from bdl.config import Value
from bdl.errors import StudyError


class StepId(Value):
    """Path of a step below ``steps/``, and hash of all it depends on: where its files are."""

    name: str
    key: str

    @property
    def folder(self) -> str:
        """Folder of the step in the run directory."""
        return f"steps/{self.name}-{self.key[:12]}"


class RunReader:
    """A run directory on a local or remote path, to be read.

    Examples
    --------
    >>> import tempfile
    >>> RunReader(tempfile.mkdtemp()).get_json("protocol.json") is None
    True
    """

    def __init__(self, url: str | Path) -> None:
        self.url = str(url)
        self.fs, root = fsspec.core.url_to_fs(self.url)
        self.root = root.rstrip("/")
        protocols = self.fs.protocol
        names = (protocols,) if isinstance(protocols, str) else protocols
        self.local = "file" in names or "local" in names
        if self.local:
            # Workers may have another current folder, so a local url is made absolute.
            self.url = self.root

    def get(self, name: str) -> bytes | None:
        """Content of a file; None if there is no such file."""
        try:
            content: bytes = self.fs.cat_file(f"{self.root}/{name}")
        except FileNotFoundError:
            return None
        return content

    def get_json(self, name: str) -> Any:
        """Content of a JSON file; None if there is no such file."""
        content = self.get(name)
        return None if content is None else json.loads(content)

    def done(self, step: StepId) -> dict[str, Any] | None:
        """The mark of a finished step (``done.json``); None if it is not finished."""
        mark: dict[str, Any] | None = self.get_json(f"{step.folder}/done.json")
        if mark is not None and mark["key"] != step.key:
            raise StudyError(
                f"{self.url}/{step.folder}/done.json: belongs to another step; was it edited?"
            )
        return mark

    def result(self, step: StepId) -> dict[str, Any]:
        """Result of a finished step."""
        result: dict[str, Any] = self._mark(step)["result"]
        return result

    def files(self, step: StepId) -> list[str]:
        """Names of the files of a finished step, sorted."""
        return sorted(self._mark(step)["files"])

    def read(self, step: StepId, name: str) -> bytes:
        """Content of a file of a finished step, checked against its hash."""
        hashes = self._mark(step)["files"]
        content = self.get(f"{step.folder}/{name}")
        if content is None or name not in hashes:
            raise StudyError(f"{self.url}: step {step.name} has no file {name}")
        if hashlib.sha256(content).hexdigest() != hashes[name]:
            raise StudyError(f"{self.url}/{step.folder}/{name}: altered since it was written")
        return content

    def ledger(self) -> list[dict[str, Any]]:
        """All entries of the ledger, in order of time."""
        try:
            names = sorted(self.fs.ls(f"{self.root}/ledger", detail=False))
        except FileNotFoundError:
            return []
        return [json.loads(self.fs.cat_file(name)) for name in names if name.endswith(".json")]

    def _mark(self, step: StepId) -> dict[str, Any]:
        mark = self.done(step)
        if mark is None:
            raise StudyError(f"{self.url}: step {step.name} is not done")
        return mark
