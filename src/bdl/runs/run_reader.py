"""Reading a run directory: files, finished steps and the ledger; nothing here can write.

A run directory is on any fsspec path. A step owns ``steps/<name>-<key>/``, where the key is the
hash of everything it depends on. ``done.json`` is written last: a step without it does not exist.
Every JSON file is sealed (`bdl.runs.seal`), so that damage is an error that says what to remove.
Times are in ``ledger/`` only, one file per entry; everything else is equal, byte by byte, between
two runs of one study.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec

from bdl.config import Value
from bdl.errors import StudyError
from bdl.formats.addresses import address_of
from bdl.runs.digest import sha256
from bdl.runs.seal import unsealed


class StepId(Value):
    """Path of a step below ``steps/``, and the hash of all its inputs; they give its folder."""

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
        self.url = address_of(url) or str(url)
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
        except OSError as error:
            raise StudyError(f"{self.url}/{name}: cannot be read: {error}") from error
        return content

    def get_json(self, name: str) -> Any:
        """Content of a JSON file; None if there is no such file.

        Raises
        ------
        StudyError
            If the file was altered since it was written; the message says what to remove.
        """
        content = self.get(name)
        if content is None:
            return None
        try:
            return unsealed(content)
        except ValueError as error:
            raise self.damage(name, str(error)) from error

    def damage(self, name: str, problem: str, folder: str | None = None) -> StudyError:
        """The error for a damaged file: it names the problem and the file or folder to remove."""
        folder = folder or (name.removesuffix("/done.json") if name.startswith("steps/") else None)
        what = "it" if folder is None else f"the folder {self.url}/{folder}"
        return StudyError(
            f"{self.url}/{name}: damaged: {problem}; remove {what} and run the same command again"
        )

    def done(self, step: StepId) -> dict[str, Any] | None:
        """The mark of a finished step (``done.json``); None if it is not finished."""
        mark: dict[str, Any] | None = self.get_json(f"{step.folder}/done.json")
        if mark is not None and mark.get("key") != step.key:
            raise self.damage(f"{step.folder}/done.json", "it belongs to another step")
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
        if name not in hashes:
            raise StudyError(f"{self.url}: step {step.name} has no file {name}")
        return self.checked(step, name, hashes[name])

    def checked(self, step: StepId, name: str, hash: str) -> bytes:
        """Content of a file of a step, checked against a hash."""
        content = self.get(f"{step.folder}/{name}")
        if content is None or sha256(content) != hash:
            problem = "it is missing" if content is None else "altered since it was written"
            raise self.damage(f"{step.folder}/{name}", problem, step.folder)
        return content

    def finished(self) -> set[str]:
        """Folders of all finished steps."""
        try:
            files = self.fs.find(f"{self.root}/steps")
        except FileNotFoundError:
            return set()
        start = len(self.root) + 1
        return {f[start:].removesuffix("/done.json") for f in files if f.endswith("/done.json")}

    def ledger(self) -> list[dict[str, Any]]:
        """All entries of the ledger, in order of time."""
        try:
            paths = sorted(self.fs.ls(f"{self.root}/ledger", detail=False))
        except FileNotFoundError:
            return []
        names = [path.rsplit("/", 1)[-1] for path in paths]
        entries = [self.get_json(f"ledger/{name}") for name in names if name.endswith(".json")]
        return [entry for entry in entries if entry is not None]

    def _mark(self, step: StepId) -> dict[str, Any]:
        mark = self.done(step)
        if mark is None:
            raise StudyError(f"{self.url}: step {step.name} is not done")
        return mark
