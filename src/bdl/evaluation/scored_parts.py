"""What of recordings is scored, as rules of `bdl.evaluation.match`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from bdl.evaluation.regions import Regions
from bdl.recording_info import RecordingInfo


class ScoredParts(TypedDict):
    """Those of `bdl.evaluation.MatchingRules` that recordings determine."""

    recordings: list[str]
    regions: Regions | None
    durations: dict[str, float]


def scored_parts(infos: Iterable[RecordingInfo]) -> ScoredParts:
    """The ids of recordings, their annotated spans, and the seconds that are scored.

    Examples
    --------
    >>> info = RecordingInfo("a", 60, ("x",), 1.0, annotated=((0.0, 20.0),))
    >>> scored_parts([info])["durations"]
    {'a': 20.0}
    """
    listed = [*infos]
    regions = Regions.annotated(listed)
    durations = {info.id: info.duration for info in listed}
    return {
        "recordings": [*durations],
        "regions": regions,
        "durations": durations if regions is None else regions.durations,
    }
