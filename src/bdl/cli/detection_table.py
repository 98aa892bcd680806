"""The table that ``bdl detect`` writes: one row per event, or per interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

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
        return DetectionTable(_events(detections, infos), intervals=False)
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


def _events(detections: Events, infos: Mapping[str, RecordingInfo]) -> pl.DataFrame:
    columns = {
        "recording": pl.Series([*detections.recording], dtype=pl.String),
        "event": pl.Series([*detections.event], dtype=pl.String),
        "time": pl.Series(detections.time, dtype=pl.Float64),
        "score": pl.Series(detections.score, dtype=pl.Float64),
    }
    if detections.issued is not None:
        columns["issued"] = pl.Series(detections.issued, dtype=pl.Float64)
    return _with_clock(pl.DataFrame(columns), infos, {"time": "local_time"})


def _intervals(intervals: Intervals, infos: Mapping[str, RecordingInfo]) -> pl.DataFrame:
    """The score of an interval is the mean of its two ends, on the scale of events."""
    rows = [*intervals]
    columns = {
        "recording": pl.Series([row.recording for row in rows], dtype=pl.String),
        "event": pl.Series([row.name for row in rows], dtype=pl.String),
        "start": pl.Series(intervals.start, dtype=pl.Float64),
        "end": pl.Series(intervals.end, dtype=pl.Float64),
        "duration": pl.Series(intervals.seconds, dtype=pl.Float64),
        "score": pl.Series([(row.score or 0.0) / 2 for row in rows], dtype=pl.Float64),
    }
    clocks = {"start": "local_start", "end": "local_end"}
    return _with_clock(pl.DataFrame(columns), infos, clocks)


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
