"""HAPT: waist-worn smartphone accelerometer and gyroscope, 50 Hz (UCI, CC BY 4.0).

Files: ``recordings/expEE_userUU.parquet`` (acc_x, acc_y, acc_z in g, gyro_x, gyro_y, gyro_z in
rad/s, one row per sample) and ``segments.csv`` (recording, user, activity, start_sample,
end_sample, 1-based and inclusive). A recording without any segment was not annotated and is left
out. A segment is the half-open interval from its first sample to the sample after its last;
adjacent segments of a task are one interval. The group is the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from bdl.datasets.benchmark import Benchmark, Scale, Settings
from bdl.datasets.dataset import Dataset
from bdl.datasets.raw_files import check_columns, published_files
from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.files import matching, reading
from bdl.formats.recording_files import read_files
from bdl.formats.recordings import ParquetRecordings
from bdl.intervals import IntervalType

PERIOD = 0.02
FORMAT = ParquetRecordings(
    channels=("acc_x", "acc_y", "acc_z", "gyro_x", "gyro_y", "gyro_z"),
    period=PERIOD,
    group_pattern="_(user[0-9]+)$",
)
SEGMENTS = {
    "recording": pl.String,
    "activity": pl.String,
    "start_sample": pl.Int64,
    "end_sample": pl.Int64,
}
ACTIVITIES = {
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
INTERVALS = {
    "walking": IntervalType.named("walking"),
    "transitions": IntervalType.named("transition"),
}
SPACINGS = {"walking": 50.0, "transitions": 75.0}


class HAPT(Dataset):
    """Walking bouts or postural transitions, as interval events.

    Parameters
    ----------
    task
        ``walking`` (walking, upstairs, downstairs) or ``transitions`` (six postural ones).

    Examples
    --------
    >>> HAPT(task="running")
    Traceback (most recent call last):
    bdl.errors.ConfigError: HAPT: task: 'walking' or 'transitions' expected, got 'running'
    """

    kind: Literal["hapt"] = "hapt"
    task: Literal["walking", "transitions"] = "walking"

    licence = "CC BY 4.0"
    citation = (
        "Reyes-Ortiz JL, Oneto L, Sama A, Parra X, Anguita D. Smartphone-based recognition of "
        "human activities and postural transitions. UCI Machine Learning Repository, 2015"
    )
    requires = "HAPT, UCI"
    recording_count = 45
    window_bins = 600
    scales: ClassVar[Mapping[str, Scale]] = {
        "small": Dataset.scales["small"].replace(epochs=12, window=60.0, batch=2),
        "tiny": Dataset.scales["tiny"].replace(window=30.0),
    }

    def read(self, path: Path) -> Benchmark:
        folder, table = published_files(path, "recordings", "segments.csv", what="HAPT data")
        with reading(table, "a CSV file"):
            segments = pl.read_csv(table, schema_overrides=SEGMENTS)
        check_columns(segments.columns, tuple(SEGMENTS), table)
        annotated = set(segments["recording"])
        recordings = read_files(matching(folder, FORMAT.suffixes), FORMAT)
        without = [id for id in recordings.ids if id not in annotated]
        notes = [f"left out, without any segment: {', '.join(without)}"] if without else []
        recordings = recordings.select([id for id in recordings.ids if id in annotated])
        samples = {info.id: info.samples for info in recordings.infos}
        bouts = segments.filter(pl.col("activity").is_in(ACTIVITIES[self.task]))
        interval = INTERVALS[self.task]
        settings = Settings(
            types=(interval.onset, interval.offset),
            tolerances=(0.5, 1.0, 2.0, 3.0, 5.0),
            stride=10,
            window=120.0,
            reference_spacing=SPACINGS[self.task],
            sigma=0.5,
            separation=1.0,
        )
        events = _events(bouts, table, interval, samples)
        return Benchmark(self.kind, recordings, events, (interval,), settings, tuple(notes))


def _events(
    segments: pl.DataFrame, table: Path, interval: IntervalType, samples: dict[str, int]
) -> Events:
    """Onsets and offsets of the segments, adjacent ones joined."""
    names: list[str] = []
    bounds: list[list[int]] = []
    ordered = segments.sort("recording", "start_sample")
    for recording, start, end in ordered.select("recording", "start_sample", "end_sample").rows():
        if recording not in samples:
            raise InputError(f"{table}: recording {recording!r} has no file in recordings/")
        if not 1 <= start <= end <= samples[recording]:
            raise InputError(
                f"{table}: segment {start} to {end} of {recording!r} is not within its "
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
