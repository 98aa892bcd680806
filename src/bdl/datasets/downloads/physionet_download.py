"""Downloads from PhysioNet, by HTTP with checksums.

A PhysioNet project lists its files with their SHA-256 in ``SHA256SUMS.txt``. Each file is fetched
by pooch, which accepts it only with the right checksum. A file that is already complete is not
fetched again. An interrupted download is resumed if the server supports it.
"""

from __future__ import annotations

import shutil
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from bdl.datasets.downloads.download import Download, FileProgress, matches
from bdl.errors import InputError, require

BLOCK = 1 << 18
ATTEMPTS = 3


@dataclass(frozen=True)
class PhysioNet(Download):
    """A project on PhysioNet, such as ``mitdb/1.0.0``, and patterns of the files needed."""

    project: str
    files: tuple[str, ...]

    def fetch(
        self, folder: Path, *, only: Sequence[str], url: str | None, progress: FileProgress
    ) -> list[Path]:
        pooch = require("pooch", "fetch")
        base = (url or f"https://physionet.org/files/{self.project}").rstrip("/") + "/"
        sums = checksums(_read_text(base + "SHA256SUMS.txt"), base)
        names = [name for name in sums if matches(name, self.files) and matches(name, only)]
        if not names:
            raise InputError(f"{base}: none of its {len(sums)} files matches {only or self.files}")
        for name in names:
            target = folder / name
            try:
                pooch.retrieve(
                    base + name,
                    known_hash=f"sha256:{sums[name]}",
                    fname=target.name,
                    path=target.parent,
                    downloader=_ResumingDownloader(target, name, progress),
                )
            except ValueError as error:
                # pooch has deleted the download: no wrong file is left behind.
                raise InputError(f"{base}{name}: {error}") from error
        return [folder / name for name in names]


def checksums(text: str, where: str) -> dict[str, str]:
    """Names and SHA-256 of a checksum list.

    Examples
    --------
    >>> checksums("ab" * 32 + "  ../etc/passwd", "http://x/")
    Traceback (most recent call last):
    bdl.errors.InputError: http://x/: line 1 of SHA256SUMS.txt names '../etc/passwd', which ...
    """
    sums = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        checksum, _, name = line.strip().partition(" ")
        name = name.strip().lstrip("*")
        if len(checksum) != 64 or not name or set(checksum.lower()) - set("0123456789abcdef"):
            raise InputError(
                f"{where}: line {number} of SHA256SUMS.txt is not a checksum and a name: "
                f"{line[:80]!r}"
            )
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name:
            raise InputError(
                f"{where}: line {number} of SHA256SUMS.txt names {name!r}, which is outside the "
                "folder"
            )
        sums[name] = checksum.lower()
    return sums


def _read_text(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            text: str = answer.read().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{url}: cannot be downloaded: {error}") from error
    return text


class _ResumingDownloader:
    """A pooch downloader that stores an incomplete download in ``<file>.part``."""

    def __init__(self, target: Path, name: str, progress: FileProgress) -> None:
        self.part = target.with_name(target.name + ".part")
        self.name = name
        self.progress = progress

    def __call__(self, url: str, output_file: Any, pooch: Any) -> None:
        self.part.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._resume(url)
                break
            except OSError as error:
                if attempt == ATTEMPTS or isinstance(error, urllib.error.HTTPError):
                    raise InputError(
                        f"{url}: interrupted: {error}; run the same command again to resume"
                    ) from error
        shutil.move(self.part, output_file)

    def _resume(self, url: str) -> None:
        present = self.part.stat().st_size if self.part.exists() else 0
        headers = {"Range": f"bytes={present}-"} if present else {}
        try:
            answer = urllib.request.urlopen(
                urllib.request.Request(url, headers=headers), timeout=60
            )
        except urllib.error.HTTPError as error:
            if error.code == 416 and present:  # the part is complete; pooch checks it
                return
            raise
        with answer:
            # A server without support for ranges sends the whole file.
            resumed = answer.status == 206
            done = present if resumed else 0
            length = int(answer.headers.get("Content-Length") or 0)
            total = length + done if length else 0
            with self.part.open("ab" if resumed else "wb") as file:
                while block := answer.read(BLOCK):
                    file.write(block)
                    done += len(block)
                    self.progress(self.name, done, total)
        if total and done < total:
            raise OSError(f"{done} of {total} bytes received")
