"""Outside formats: recordings and events in, events and prepared stores out.

- ``read_recordings(path, **layout)``: any source by suffix: a table file, a folder or glob with
  one file a recording, EDF/BDF, WFDB, or a prepared store. ``layout`` are the fields of `Layout`
  (``recording``, ``channels``, ``sample``, ``first_sample``, ``time``, ``clock``, ``unit``,
  ``period``, ``zone``, ``group``, ``group_pattern``, ``regular``). The sleep table is
  ``read_recordings("train_series.parquet", recording="series_id", sample="step",
  time="timestamp", clock="iso", period=5.0, channels=("anglez", "enmo"))``.
- ``write_recordings(recordings, folder, format="parquet")``: tables, one file a recording.
- ``inspect(recordings, events)``: what they hold.
- ``prepare(recordings, folder, progress=...)`` and ``open_store(folder)``: the prepared store.
- ``read_events(path, format=None, period=None, intervals=None, ...)`` and
  ``write_events(events, path, format="bdl", ...)``: our own table, Kaggle, BIDS and its seizure
  columns, DCASE; annotations of EDF and WFDB files are read only.
- ``check_events(events, recordings)``: unknown recordings and events outside are an error.
- ``files.atomic(path)`` and ``files.safe_name(id)``: whole-or-nothing writing.
"""

from __future__ import annotations

from bdl.formats.event_files import check_events, read_events, write_events
from bdl.formats.files import atomic, safe_name
from bdl.formats.inspect import inspect
from bdl.formats.layout import Layout
from bdl.formats.read import read_recordings
from bdl.formats.store import open_store, prepare
from bdl.formats.write import write_recordings

__all__ = [
    "Layout",
    "atomic",
    "check_events",
    "inspect",
    "open_store",
    "prepare",
    "read_events",
    "read_recordings",
    "safe_name",
    "write_events",
    "write_recordings",
]
