"""HAPT: waist-worn smartphone accelerometer and gyroscope, 50 Hz (UCI, CC BY 4.0).

Layout: ``recordings/expEE_userUU.parquet`` (acc_x, acc_y, acc_z in g, gyro_x, gyro_y, gyro_z in
rad/s, a row a sample) and ``segments.csv`` (recording, user, activity, start_sample, end_sample,
1-based and inclusive). A recording without any segment was not annotated and is left out. A
segment is the half-open interval from its first sample to the sample after its last; segments of
a task that touch are one interval. The user is the group.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from bdl.datasets.dataset import Dataset, Settings, find
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.files import matching, reading
from bdl.formats.layout import Layout
from bdl.formats.tables import read_tables
from bdl.intervals import IntervalType
from bdl.recording import Recordings

PERIOD = 0.02
CHANNELS = ("acc_x", "acc_y", "acc_z", "gyro_x", "gyro_y", "gyro_z")
TASKS = {
    "walking": ("walking", "walking_upstairs", "walking_downstairs"),
    "transitions": (
        "stand_to_sit",
        "sit_to_stand",
        "sit_to_lie",
        "lie_to_sit",
        "stand_to_lie",
        "lie_to_stand",
    ),
}
NAME = {"walking": "walking", "transitions": "transition"}
LICENCE = "licence: CC BY 4.0; Reyes-Ortiz et al., UCI Machine Learning Repository"


def load(path: Path, *, task: Literal["walking", "transitions"] = "walking") -> Dataset:
    """Walking bouts or postural transitions, as interval events.

    Parameters
    ----------
    path : folder with ``recordings/`` and ``segments.csv``.
    task : ``walking`` (walking, upstairs, downstairs) or ``transitions`` (six postural ones).

    >>> load(Path("hapt"), task="running")
    Traceback (most recent call last):
    bdl.errors.ConfigError: hapt: task walking or transitions expected, got 'running'
    """
    if task not in TASKS:
        raise ConfigError(f"hapt: task {' or '.join(TASKS)} expected, got {task!r}")
    folder, table = find(path, "recordings", "segments.csv", what="HAPT data")
    frame = _segments(table)
    labelled = set(frame["recording"])
    layout = Layout(channels=CHANNELS, period=PERIOD, group_pattern="_(user[0-9]+)$")
    recordings = read_tables(matching(folder, (".parquet",)), layout)
    unlabelled = [id for id in recordings.ids if id not in labelled]
    recordings = recordings.select([id for id in recordings.ids if id in labelled])
    interval = IntervalType.named(NAME[task])
    events = _events(frame, table, TASKS[task], interval, _lengths(recordings))
    settings = Settings(
        types=(interval.onset, interval.offset),
        tolerances=(0.5, 1.0, 2.0, 3.0, 5.0),
        stride=10,
        window=120.0,
        reference_spacing=50.0 if task == "walking" else 75.0,
        sigma=0.5,
        separation=1.0,
    )
    notes = [LICENCE]
    if unlabelled:
        notes.append(f"left out for want of any segment: {', '.join(unlabelled)}")
    return Dataset("hapt", recordings, events, (interval,), settings, tuple(notes))


def _lengths(recordings: Recordings) -> dict[str, int]:
    return {info.id: info.samples for info in recordings.infos}


def _segments(table: Path) -> pl.DataFrame:
    with reading(table, "a CSV file"):
        frame = pl.read_csv(table)
    for column in ("recording", "activity", "start_sample", "end_sample"):
        if column not in frame.columns:
            raise InputError(f"{table}: column {column!r} missing; it has {frame.columns}")
    return frame


def _events(
    frame: pl.DataFrame,
    table: Path,
    activities: tuple[str, ...],
    interval: IntervalType,
    samples: dict[str, int],
) -> Events:
    frame = frame.filter(pl.col("activity").is_in(activities)).sort("recording", "start_sample")
    names: list[str] = []
    bounds: list[list[int]] = []
    for recording, start, end in frame.select(
        "recording", "start_sample", "end_sample"
    ).iter_rows():
        if recording not in samples:
            raise InputError(f"{table}: recording {recording!r} has no file beside it")
        if not 1 <= start <= end <= samples[recording]:
            raise InputError(
                f"{table}: segment {start} to {end} of {recording!r} does not lie within its "
                f"{samples[recording]} samples"
            )
        if names and names[-1] == recording and start <= bounds[-1][1] + 1:
            bounds[-1][1] = max(bounds[-1][1], end)
        else:
            names.append(recording)
            bounds.append([start, end])
    pairs = np.array(bounds, dtype=np.float64).reshape(-1, 2)
    # 1-based inclusive [start, end] is 0-based half-open [start - 1, end).
    times = (pairs - [1, 0]).ravel() * PERIOD
    recordings = np.repeat(np.array(names, dtype=object), 2)
    return Events.of(recordings, [interval.onset, interval.offset] * len(pairs), times)
