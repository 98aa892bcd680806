"""Cases of CHB-MIT: which recordings are of one case or person, and how many have a seizure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

GroupBy = Literal["person", "case"]
# Recordings with a seizure of each case, as PhysioNet lists them (RECORDS-WITH-SEIZURES).
SEIZURE_RECORDINGS = {
    "chb01": 7, "chb02": 3, "chb03": 7, "chb04": 3, "chb05": 5, "chb06": 7, "chb07": 3, "chb08": 5,
    "chb09": 3, "chb10": 7, "chb11": 3, "chb12": 13, "chb13": 8, "chb14": 7, "chb15": 14,
    "chb16": 6, "chb17": 3, "chb18": 6, "chb19": 3, "chb20": 6, "chb21": 4, "chb22": 3, "chb23": 3,
    "chb24": 12,
}  # fmt: skip


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
