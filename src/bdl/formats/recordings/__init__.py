"""Recording formats: each is one class in one file of this package (see `bdl.registry`).

Examples
--------
>>> from bdl.formats.recordings import RecordingFormat
>>> RecordingFormat.names()[:7]
('arrow', 'csv', 'edf', 'npz', 'parquet', 'store', 'wfdb')
"""

from __future__ import annotations

from bdl.formats.recordings.recording_format import RecordingFormat
from bdl.registry import exports

__all__ = ["RecordingFormat"]

__getattr__, __dir__ = exports(RecordingFormat)
