"""Recordings of files at an address, which are fetched when their values are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from bdl.formats.local_copies import fetch
from bdl.formats.recordings.recording_format import RecordingFormat
from bdl.recording import RecordingInfo, Recordings
from bdl.value_readers import ValueReader, Values


@dataclass(frozen=True)
class RemoteReader(ValueReader):
    """Values of a file at an address.

    Parameters
    ----------
    path
        The address.
    format
        Its format, with its options.
    """

    path: Path
    format: RecordingFormat

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        """Values in order, some rows at a time."""
        yield from self._local().chunks(info.id)

    def read(self, info: RecordingInfo) -> Values:
        """All values: (samples, channels)."""
        return self._local()[info.id].values

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        """The address."""
        return (self.path,)

    def _local(self) -> Recordings:
        return self.format.read(fetch(self.path, beside=self.path.suffix.lower() == ".hea"))


def read_remote(path: Path, format: RecordingFormat) -> Recordings:
    """Open the recordings of a file at an address, through the cache; see `RemoteReader`."""
    reader = RemoteReader(path, format)
    return replace(reader._local(), reader=reader)
