"""Properties of the published CHB-MIT: recordings with a seizure by case, and checksums."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

GroupBy = Literal["person", "case"]
# Recordings with a seizure of each case, as PhysioNet lists them (RECORDS-WITH-SEIZURES).
SEIZURE_RECORDINGS = {
    "chb01": 7, "chb02": 3, "chb03": 7, "chb04": 3, "chb05": 5, "chb06": 7, "chb07": 3, "chb08": 5,
    "chb09": 3, "chb10": 7, "chb11": 3, "chb12": 13, "chb13": 8, "chb14": 7, "chb15": 14,
    "chb16": 6, "chb17": 3, "chb18": 6, "chb19": 3, "chb20": 6, "chb21": 4, "chb22": 3, "chb23": 3,
    "chb24": 12,
}  # fmt: skip
# Checksums in the paper.
TABLE_SHA256 = "4d4aa3d99b9dab7774008d10ee566e87eebe96ef6b04667582d161ac0e2698a2"
FEATHER_SHA256 = "ba9a7cadf3114f8d8abe829807690b472f65162db8d096a9195e90a096e674a4"


def group_of(id: str, group: GroupBy) -> str:
    """Case or person of a recording.

    Examples
    --------
    >>> group_of("chb21_03", "person"), group_of("chb21_03", "case"), group_of("chb17a_03", "case")
    ('chb01', 'chb21', 'chb17')
    """
    case = id[:5].lower()
    return "chb01" if case == "chb21" and group == "person" else case


def compare_cases(ids: Iterable[str]) -> str:
    """A note on how recordings with a seizure compare with the published ones.

    Examples
    --------
    >>> compare_cases(["chb01_03", "chb01_04"])
    'recordings with a seizure: 2 of 1 cases, where 141 of 24 are published'
    """
    counts = Counter(group_of(id, "case") for id in ids)
    published = Counter(SEIZURE_RECORDINGS)
    counted = f"recordings with a seizure: {counts.total()} of {len(counts)} cases"
    if counts == published:
        return f"{counted}, as published"
    return f"{counted}, where {published.total()} of {len(published)} are published"


def compare_table(file: Path) -> str:
    """A note that says whether the table of seizures is the paper's."""
    checksum = file_sha256(file)
    verdict = "matches" if checksum == TABLE_SHA256 else "differs from"
    return f"events table: SHA-256 {verdict} the paper's ({checksum[:12]}...)"


def compare_feathers(files: Sequence[Path]) -> str:
    """A note that says whether the Feather files are the paper's."""
    verdict = "match" if FEATHER_SHA256 in manifests(files) else "differ from"
    return f"Feather files: checksums {verdict} the paper's"


def file_sha256(file: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def manifests(files: Sequence[Path]) -> set[str]:
    """SHA-256 of the sorted checksum list of files, in the forms that sha256sum may write.

    The paper's archive, which defines the form, is not public: one line per file with its
    checksum, two blanks and its name, with or without the folder and a final line break.
    """
    sums = sorted((file.name, file_sha256(file), file.parent.name) for file in files)
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
