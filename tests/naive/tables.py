"""Reading a long table row by row with the standard library: obviously right, and slow."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass
class Naive:
    """One recording as plain Python values."""

    values: list[list[float]]
    start: datetime
    offset_changes: list[tuple[int, int]]


def read_long(path: Path, recording: str, time: str, channels: list[str]) -> dict[str, Naive]:
    """Recordings of a CSV with ISO times, rows in time order within each recording."""
    recordings: dict[str, Naive] = {}
    offset: dict[str, float] = {}
    with open(path, newline="") as stream:
        for row in csv.DictReader(stream):
            at = datetime.fromisoformat(row[time])
            east = at.utcoffset().total_seconds()  # type: ignore[union-attr]
            id = row[recording]
            if id not in recordings:
                recordings[id] = Naive([], at, [])
            elif east != offset[id]:
                recordings[id].offset_changes.append((len(recordings[id].values), int(east)))
            offset[id] = east
            cells = [row[name] for name in channels]
            recordings[id].values.append([float(cell) if cell else float("nan") for cell in cells])
    return recordings


def bin_statistics(values: list[float], stride: int) -> list[tuple[float, float, float, float]]:
    """Mean, maximum, minimum and population standard deviation of each bin."""
    out = []
    for first in range(0, len(values), stride):
        part = values[first : first + stride]
        mean = sum(part) / len(part)
        spread = (sum((v - mean) ** 2 for v in part) / len(part)) ** 0.5
        out.append((mean, max(part), min(part), spread))
    return out
