"""Rows of the tables of events that are not scored."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class LeftOut:
    """Numbers of rows that were not scored, and why."""

    truths_without_time: int = 0
    detections_without_time_or_score: int = 0
    detections_in_unknown_recordings: int = 0
    detections_of_unknown_types: int = 0
    detections_of_unscored_types: int = 0
    detections_in_unscored_recordings: int = 0
    detections_outside_regions: int = 0
    truths_outside_regions: int = 0
    recordings_without_detections: int = 0
    truths_in_recordings_without_detections: int = 0

    def lines(self) -> list[str]:
        """One line for each reason that occurred."""
        counts = ((f.name.replace("_", " "), getattr(self, f.name)) for f in fields(self))
        lines = [f"{count:,} {reason}" for reason, count in counts if count]
        return [line.replace(" truths ", " events ") for line in lines]
