"""The table that ``bdl detect`` writes: one row per event, or per interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bdl.detector.model import Model
from bdl.events import Events
from bdl.intervals import Intervals
from bdl.pairing import pair
from bdl.recording_info import RecordingInfo

SLACK = 2.0  # a detected interval lasts at most this many times the longest annotated one


@dataclass(frozen=True)
class DetectionTable:
    """Detections as a table, and the number of ends that belong to no interval."""

    frame: pl.DataFrame
    intervals: bool
    unpaired: int = 0


def detection_table(
    detections: Events, model: Model, infos: Mapping[str, RecordingInfo], *, paired: bool
) -> DetectionTable:
    """Return detections as a table with local times where the start of the recording is known.

    If ``paired`` and all event types are ends of intervals, a row is an interval.
    """
    ends = {end for interval in model.intervals for end in (interval.onset, interval.offset)}
    if not paired or not ends or ends != {*model.types}:
        frame = _with_clock(_frame(detections.columns()), infos, {"time": "local_time"})
        return DetectionTable(frame, intervals=False)
    parts = [
        pair(
            detections,
            interval,
            rule="best",
            min_duration=model.durations.get(interval.name, (0.0, 0.0))[0] / SLACK,
            max_duration=model.durations.get(interval.name, (0.0, float("inf")))[1] * SLACK,
        )
        for interval in model.intervals
    ]
    frames = [_intervals(part, infos) for part in parts]
    frame = pl.concat(frames).sort("recording", "start", maintain_order=True)
    return DetectionTable(frame, intervals=True, unpaired=sum(part.unpaired for part in parts))


def _intervals(intervals: Intervals, infos: Mapping[str, RecordingInfo]) -> pl.DataFrame:
    """The score of an interval is the mean of its two ends, on the scale of events."""
    columns = intervals.columns()
    named = {
        "recording": columns["recording"],
        "event": columns["name"],
        "start": columns["start"],
        "end": columns["end"],
        "duration": intervals.seconds,
        "score": columns["score"] / 2,
    }
    return _with_clock(_frame(named), infos, {"start": "local_start", "end": "local_end"})


def _frame(columns: Mapping[str, NDArray[Any]]) -> pl.DataFrame:
    """A table of texts and numbers, also without rows."""
    kinds = {name: pl.String if a.dtype == object else pl.Float64 for name, a in columns.items()}
    return pl.DataFrame({name: a.tolist() for name, a in columns.items()}, schema=kinds)


def _with_clock(
    frame: pl.DataFrame, infos: Mapping[str, RecordingInfo], clocks: Mapping[str, str]
) -> pl.DataFrame:
    """Add local dates and times of columns of seconds; empty where the start is not known."""
    if not any(info.start is not None for info in infos.values()):
        return frame
    for column, name in clocks.items():
        texts: list[str | None] = []
        for id, seconds in zip(frame["recording"], frame[column].to_numpy(), strict=True):
            info, text = infos[id], None
            if info.start is not None:
                [moment] = info.wall_clock(np.array([seconds]))
                text = moment.isoformat(timespec="seconds" if info.period >= 1 else "milliseconds")
            texts.append(text)
        frame = frame.with_columns(pl.Series(name, texts, dtype=pl.String))
    return frame
