"""Fetch published files: PhysioNet by HTTP with checksums, Kaggle by its own client.

A PhysioNet project lists its files with their SHA-256 in ``SHA256SUMS.txt``. Each wanted file is
fetched by pooch, which accepts it only if its checksum is right. A file that is there already and
right is left alone; one that was cut off goes on where it stopped, if the server allows it. Kaggle
asks for an account and the acceptance of its rules; its client finds the user's own credentials.
Nothing is fetched unless asked for, and the licence is told before anything else.
"""

from __future__ import annotations

import fnmatch
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from bdl.errors import ConfigError, InputError, require

BLOCK = 1 << 18
ATTEMPTS = 3
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Source:
    """Where a data set can be had.

    Parameters
    ----------
    url : base address of a PhysioNet project, or None.
    competition, dataset : Kaggle's name of it, or None.
    files : patterns of the files that are needed.
    licence, citation : what its users owe.
    """

    licence: str
    citation: str
    url: str | None = None
    competition: str | None = None
    dataset: str | None = None
    files: tuple[str, ...] = ("*",)


SOURCES = {
    "mitdb": Source(
        url="https://physionet.org/files/mitdb/1.0.0/",
        files=("[0-9][0-9][0-9].hea", "[0-9][0-9][0-9].dat", "[0-9][0-9][0-9].atr"),
        licence="Open Data Commons Attribution License 1.0",
        citation="Moody GB, Mark RG. The impact of the MIT-BIH Arrhythmia Database. IEEE Eng in "
        "Med and Biol 20(3):45-50, 2001. https://doi.org/10.13026/C2F305",
    ),
    "chbmit": Source(
        url="https://physionet.org/files/chbmit/1.0.0/",
        files=("chb*/*.edf", "chb*/*-summary.txt"),
        licence="Open Data Commons Attribution License 1.0",
        citation="Shoeb A. Application of machine learning to epileptic seizure onset detection "
        "and treatment. PhD thesis, MIT, 2009. https://doi.org/10.13026/C2K01R",
    ),
    "chbmit-kaggle": Source(
        dataset="werus23/chb-mit-scalp-eeg-database-seizure-only",
        licence="see the data set's page on Kaggle; the recordings are ODC-By 1.0",
        citation="Shoeb 2009, by way of a Kaggle snapshot of its seizure-positive recordings",
    ),
    "sleep": Source(
        competition="child-mind-institute-detect-sleep-states",
        files=("train_series.parquet", "train_events.csv"),
        licence="the competition's rules, to be accepted on Kaggle first",
        citation="Esper N, Demkin M, Hoolbrok R, et al. Child Mind Institute - Detect Sleep "
        "States. Kaggle, 2023",
    ),
    "fraud": Source(
        dataset="mlg-ulb/creditcardfraud",
        files=("creditcard.csv",),
        licence="Open Database License 1.0; contents: Database Contents License",
        citation="Dal Pozzolo A, Caelen O, Johnson RA, Bontempi G. Calibrating probability with "
        "undersampling for unbalanced classification. IEEE SSCI, 2015",
    ),
}


def fetch(
    name: str,
    out: Path | str,
    *,
    only: Iterable[str] = (),
    url: str | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Fetch the files of a data set into a folder and return their paths.

    Parameters
    ----------
    name : a key of `SOURCES`.
    out : folder; files keep the paths they are published under.
    only : patterns that narrow the files, such as ``chb01/*``.
    url : address of a mirror of the PhysioNet project.
    progress : called with (file, bytes so far, bytes in all or 0).

    >>> fetch("hapt", "out")
    Traceback (most recent call last):
    bdl.errors.ConfigError: no source of 'hapt' to fetch from; there are mitdb, chbmit, ...
    """
    if name not in SOURCES:
        raise ConfigError(f"no source of {name!r} to fetch from; there are {', '.join(SOURCES)}")
    source = SOURCES[name]
    folder = Path(out)
    if source.url is None:
        if url is not None:
            raise ConfigError(f"{name} comes from Kaggle, which has no mirrors; leave url out")
        return _kaggle(source, folder, [*only])
    return _physionet(source, folder, [*only], url or source.url, progress or _silent)


def _physionet(
    source: Source, folder: Path, only: list[str], url: str, progress: Progress
) -> list[Path]:
    pooch = require("pooch", "fetch")
    base = url if url.endswith("/") else url + "/"
    sums = checksums(_text(base + "SHA256SUMS.txt"), base)
    wanted = [name for name in sums if _matches(name, source.files) and _matches(name, only)]
    if not wanted:
        raise InputError(f"{base}: none of its {len(sums)} files matches {only or source.files}")
    found = []
    for name in wanted:
        target = folder / name
        try:
            pooch.retrieve(
                base + name,
                known_hash=f"sha256:{sums[name]}",
                fname=target.name,
                path=target.parent,
                downloader=_Resuming(target, name, progress),
            )
        except ValueError as error:
            # pooch has deleted what it got; nothing wrong stays behind.
            raise InputError(f"{base}{name}: {error}") from error
        found.append(target)
    return found


def checksums(text: str, where: str) -> dict[str, str]:
    """Names and SHA-256 of a checksum list; a name that leaves its folder is an error.

    >>> checksums("ab" * 32 + "  ../etc/passwd", "http://x/")
    Traceback (most recent call last):
    bdl.errors.InputError: http://x/: line 1 of SHA256SUMS.txt names '../etc/passwd', which ...
    """
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        sum, _, name = line.strip().partition(" ")
        name = name.strip().lstrip("*")
        if len(sum) != 64 or not name or set(sum.lower()) - set("0123456789abcdef"):
            raise InputError(
                f"{where}: line {number} of SHA256SUMS.txt is no checksum and name: {line[:80]!r}"
            )
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name:
            raise InputError(
                f"{where}: line {number} of SHA256SUMS.txt names {name!r}, which leaves the folder"
            )
        found[name] = sum.lower()
    return found


def _matches(name: str, patterns: Iterable[str]) -> bool:
    listed = [*patterns]
    return not listed or any(fnmatch.fnmatch(name, pattern) for pattern in listed)


def _text(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            text: str = answer.read().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{url}: cannot be fetched: {error}") from error
    return text


class _Resuming:
    """A pooch downloader that keeps what came before a break in ``<file>.part``."""

    def __init__(self, target: Path, name: str, progress: Progress) -> None:
        self.part = target.with_name(target.name + ".part")
        self.name = name
        self.progress = progress

    def __call__(self, url: str, output_file: Any, pooch: Any) -> None:
        self.part.parent.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._go_on(url)
                break
            except OSError as error:
                if attempt == ATTEMPTS or isinstance(error, urllib.error.HTTPError):
                    raise InputError(
                        f"{url}: broke off: {error}; run the same command to go on"
                    ) from error
        shutil.move(self.part, output_file)

    def _go_on(self, url: str) -> None:
        have = self.part.stat().st_size if self.part.exists() else 0
        request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
        try:
            answer = urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            if error.code == 416 and have:  # nothing is left to fetch; pooch checks the whole
                return
            raise
        with answer:
            # A server that does not know ranges sends the whole again.
            on = answer.status == 206
            length = int(answer.headers.get("Content-Length") or 0)
            total = length + (have if on else 0) if length else 0
            done = have if on else 0
            with self.part.open("ab" if on else "wb") as file:
                while block := answer.read(BLOCK):
                    file.write(block)
                    done += len(block)
                    self.progress(self.name, done, total)
        if total and done < total:
            raise OSError(f"{done} of {total} bytes came")


def _kaggle(source: Source, folder: Path, only: list[str]) -> list[Path]:
    kagglehub = require("kagglehub", "fetch")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if source.competition is not None:
            for name in source.files:
                if _matches(name, only):
                    kagglehub.competition_download(
                        source.competition, path=name, output_dir=str(folder)
                    )
        else:
            kagglehub.dataset_download(source.dataset, output_dir=str(folder))
    except Exception as error:  # the client raises of its own and of its libraries' kinds
        told = " ".join(str(error).split())[:300]
        page = source.competition or source.dataset
        raise InputError(
            f"Kaggle, {page}: {type(error).__name__}: {told}; have you an API token for Kaggle's "
            "client, and have you accepted the rules on the page?"
        ) from error
    return sorted(file for file in folder.rglob("*") if file.is_file())


def _silent(name: str, done: int, total: int) -> None:
    """No progress display."""
