"""Outside formats: recordings and events in, events and prepared stores out.

- ``read_recordings(path, **layout)``: any source by suffix: a table file, a folder or glob with
  one file a recording, EDF/BDF, WFDB, or a prepared store. ``layout`` are the fields of `Layout`
  (``recording``, ``channels``, ``sample``, ``first_sample``, ``time``, ``clock``, ``unit``,
  ``period``, ``zone``, ``group``, ``group_pattern``, ``regular``). The sleep table is
  ``read_recordings("train_series.parquet", recording="series_id", sample="step",
  time="timestamp", clock="iso", period=5.0, channels=("anglez", "enmo"))``.
- ``prepare(recordings, folder, progress=...)`` and ``open_store(folder)``: the prepared store.
- ``read_events(path, ...)`` and ``write_events(events, path, ...)``: event tables.
- ``files.atomic(path)`` and ``files.safe_name(id)``: whole-or-nothing writing.
"""

from __future__ import annotations

from bdl.formats.files import atomic, safe_name
from bdl.formats.layout import Layout
from bdl.formats.read import read_recordings
from bdl.formats.store import open_store, prepare

__all__ = ["Layout", "atomic", "open_store", "prepare", "read_recordings", "safe_name"]
