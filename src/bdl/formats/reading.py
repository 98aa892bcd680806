"""How recordings are read, which a model stores so that new files are read in the same way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveFloat

from bdl.config import Value
from bdl.formats.polyphase import on_one_clock
from bdl.formats.recording_files import read_recordings
from bdl.formats.recordings.store import PreparedStore
from bdl.recording import Recordings
from bdl.workers import Workers


class Reading(Value):
    """How recordings are read.

    Parameters
    ----------
    format
        Name of the format; recognised if not given.
    pattern
        Which files of a folder.
    layout
        Options of the format: names of columns or channels, zone, period and so on.
    rate
        Samples per second to which recordings are resampled, anti-aliased; None keeps theirs.

    Examples
    --------
    >>> Reading(layout={"zone": "Europe/Berlin"}).layout["zone"]
    'Europe/Berlin'
    """

    format: str | None = None
    pattern: str | None = None
    layout: dict[str, Any] = Field(default_factory=dict)
    rate: PositiveFloat | None = None

    @classmethod
    def of(cls, path: str | Path, **given: Any) -> Reading:
        """How the recordings of a path are read: as given, or as the source of a store was."""
        source = PreparedStore.source(Path(path))
        return cls(**given) if source is None else cls(**source)

    def open(
        self,
        path: str | Path,
        *,
        invalid: Literal["error", "skip"] = "error",
        only: Callable[[Path], bool] = lambda file: True,
        workers: Workers | None = None,
    ) -> Recordings:
        """Open recordings as `bdl.formats.read_recordings` does; a store is opened as it is."""
        if PreparedStore.recognises(Path(path)):
            return read_recordings(path)
        recordings = read_recordings(
            path,
            format=self.format,
            pattern=self.pattern,
            invalid=invalid,
            only=only,
            workers=workers,
            **self.layout,
        )
        return recordings if self.rate is None else on_one_clock(recordings, self.rate)
