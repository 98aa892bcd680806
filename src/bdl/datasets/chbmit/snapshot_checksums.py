"""Checksums of the Kaggle snapshot, compared with those in the paper."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

TABLE_SHA256 = "4d4aa3d99b9dab7774008d10ee566e87eebe96ef6b04667582d161ac0e2698a2"
FEATHER_SHA256 = "ba9a7cadf3114f8d8abe829807690b472f65162db8d096a9195e90a096e674a4"


def compare_table(file: Path) -> str:
    """A note that says whether the table of seizures is the paper's."""
    checksum = sha256(file)
    verdict = "matches" if checksum == TABLE_SHA256 else "differs from"
    return f"events table: SHA-256 {verdict} the paper's ({checksum[:12]}...)"


def compare_feathers(files: Sequence[Path]) -> str:
    """A note that says whether the Feather files are the paper's."""
    verdict = "match" if FEATHER_SHA256 in manifests(files) else "differ from"
    return f"Feather files: checksums {verdict} the paper's"


def sha256(file: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def manifests(files: Sequence[Path]) -> set[str]:
    """SHA-256 of the sorted checksum list of files, in the forms that sha256sum may write.

    The paper's archive, which defines the form, is not public: one line per file with its
    checksum, two blanks and its name, with or without the folder, with or without a last line
    break.
    """
    sums = sorted((file.name, sha256(file), file.parent.name) for file in files)
    digests = set()
    for with_folder in (False, True):
        lines = [
            f"{checksum}  {f'{folder}/' if with_folder else ''}{name}"
            for name, checksum, folder in sums
        ]
        for ordered in (lines, sorted(lines)):
            text = "\n".join(ordered)
            digests |= {hashlib.sha256((text + end).encode()).hexdigest() for end in ("", "\n")}
    return digests
