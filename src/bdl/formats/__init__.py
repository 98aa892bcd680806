"""Outside formats: recordings and events in, events and prepared stores out.

- `read_recordings` opens recordings of any format of `bdl.formats.recordings`; its options are the
  fields of that format. The sleep table is ``read_recordings("train_series.parquet",
  recording="series_id", sample="step", time="timestamp", clock="iso", period=5.0,
  channels=("anglez", "enmo"))``.
- `read_events` and `write_events` read and write events in any format of `bdl.formats.events`.
- `read_annotated` reads the spans of recordings that are annotated.
- `inspect` summarises recordings and events.
- `prepare` and `open_store` write and open a prepared store.
- `atomic` and `safe_name` write files whole or not at all.

A format is one class in one file; `bdl.formats.recordings.RecordingFormat` and
`bdl.formats.events.EventFormat` say how to add one.
"""

from __future__ import annotations

from bdl.formats.atomic_files import atomic
from bdl.formats.event_files import read_annotated, read_events, write_events
from bdl.formats.files import safe_name
from bdl.formats.inspect import inspect
from bdl.formats.recording_files import read_recordings
from bdl.formats.recordings.store import open_store
from bdl.formats.store_writing import prepare

__all__ = [
    "atomic",
    "inspect",
    "open_store",
    "prepare",
    "read_annotated",
    "read_events",
    "read_recordings",
    "safe_name",
    "write_events",
]
