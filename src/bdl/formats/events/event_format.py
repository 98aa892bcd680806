"""The family of event formats: what each is called, recognised by, reads and writes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from bdl.errors import ConfigError
from bdl.events import Events
from bdl.recording import Recordings
from bdl.registry import Variant


class EventFormat(Variant):
    """A format of events; its fields are the options of `read_events` and `write_events`.

    A new format is one class in one file of `bdl.formats.events`, or in a package of your own that
    declares an entry point of the group ``bdl.formats.events``. It sets ``kind`` and, if files are
    recognised by their name, ``suffixes``; it defines `read`, and `write` if it can. On the
    command line it is then known by ``--from``, ``--to`` and ``--events-format``.

    Examples
    --------
    >>> class Lines(EventFormat):
    ...     '''One event per line: recording, type and seconds.'''
    ...     kind: str = "lines"
    ...     suffixes = (".lines",)
    ...     def read(self, path):
    ...         rows = [line.split() for line in path.read_text().splitlines()]
    ...         recordings, types, times = zip(*rows)
    ...         return Events.of(recordings, types, [float(time) for time in times])
    >>> import tempfile
    >>> from bdl.formats import read_events
    >>> file = Path(tempfile.mkdtemp()) / "a.lines"
    >>> _ = file.write_text("night1 onset 3600")
    >>> read_events(file).time.tolist()
    [3600.0]
    """

    package: ClassVar[str] = "bdl.formats.events"
    suffixes: ClassVar[tuple[str, ...]] = ()

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """Whether a file or folder is of this format: by its suffix.

        Parameters
        ----------
        path
            The file or folder.
        columns
            Names of the columns, if it is a table; otherwise none.
        """
        return path.suffix.lower() in self.suffixes

    @abstractmethod
    def read(self, path: Path) -> Events:
        """The events of a file or folder, in seconds from each recording's start."""

    def resembles(self, columns: Sequence[str]) -> bool:
        """Whether a table that no format recognises may be of this one, by its columns."""
        return False

    def read_on(self, path: Path, recordings: Recordings | None) -> Events:
        """The events of a file or folder; a format with dates and times needs the recordings."""
        return self.read(path)

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        """Write events, whole or not at all; what the format cannot keep is an error.

        Parameters
        ----------
        events
            The events.
        path
            File or folder to write.
        recordings
            Lets recordings without events appear in formats that list them.
        """
        written = [kind for kind, other in EventFormat.kinds().items() if other.writes()]
        raise ConfigError(
            f"event format {self.kind!r} can only be read; {', '.join(written)} can be written"
        )

    @classmethod
    def writes(cls) -> bool:
        """Whether the format can be written."""
        return cls.write is not EventFormat.write
