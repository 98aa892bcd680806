"""The family of event formats: their names, suffixes and options, reading and writing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.addresses import address_of
from bdl.formats.files import safe_name
from bdl.intervals import IntervalType
from bdl.recording import Recordings
from bdl.registry import Variant


class EventFormat(Variant):
    """A format of events; its fields are the options of `read_events` and `write_events`.

    A new format is one class in one file of `bdl.formats.events`, or in a package of your own that
    declares an entry point of the group ``bdl.formats.events``. It sets ``kind`` and, if files are
    recognised by their name, ``suffixes``; it defines `read`, and `write` if it can, and `ending`
    if it has one file per recording. On the command line it is then known by
    ``--events-format`` and ``--to``.

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
    unit: ClassVar[Literal["seconds", "steps"]] = "seconds"
    """Unit of the times in a file; steps are sample numbers."""
    scored: ClassVar[bool] = True
    """Whether a file keeps the scores of events."""
    in_recordings: ClassVar[bool] = False
    """Whether events are in the files of recordings, which are large."""

    @property
    def named_intervals(self) -> Sequence[IntervalType]:
        """Interval types that the user names; none in a format without intervals."""
        return ()

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """Whether a file or folder is of this format: by its suffix, or that of a file in it.

        Only a format with one file per recording (`ending`) is found in folders.

        Parameters
        ----------
        path
            The file or folder.
        columns
            Names of the columns, if it is a table; otherwise none.
        """
        ending = self.ending()
        files = path.iterdir() if ending is not None and path.is_dir() else [path]
        return any(file.suffix.lower() in (*self.suffixes, ending) for file in files)

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
            Recordings to list even without events, in formats that list recordings.
        """
        written = [kind for kind, other in EventFormat.kinds().items() if other.writes()]
        raise ConfigError(
            f"event format {self.kind!r} can only be read; {', '.join(written)} can be written"
        )

    @classmethod
    def writes(cls) -> bool:
        """Whether the format can be written."""
        return cls.write is not EventFormat.write

    def ending(self) -> str | None:
        """What follows the recording's id in the name of its file, such as ``.edf``.

        None for a format with one file for all recordings.
        """
        return None

    def writes_folder(self, path: Path) -> bool:
        """Whether the path is to be a folder: one file per recording, and the path is no such file.

        Parameters
        ----------
        path
            Where to write.
        """
        ending = self.ending()
        return ending is not None and path.suffix.lower() != Path(f"x{ending}").suffix.lower()

    def file_name(self, id: str) -> str:
        """The name of a recording's file in a folder."""
        return f"{safe_name(id)}{self.ending()}"

    def files(
        self, ids: Iterable[str], path: Path, recordings: Recordings | None
    ) -> dict[str, Path]:
        """The file of each recording: in a folder, or the path itself for a single one.

        A file that holds a recording, or belongs to two of them, is an error.

        Parameters
        ----------
        ids
            Recordings to write.
        path
            The folder, or the file of a single recording.
        recordings
            Recordings whose files must stay as they are.
        """
        wanted = [*ids]
        if self.writes_folder(path):
            files = {id: path / self.file_name(id) for id in wanted}
        elif len(wanted) > 1:
            raise InputError(
                f"{path}: a file of format {self.kind} holds one recording and there are "
                f"{len(wanted)}; give a folder"
            )
        else:
            files = dict.fromkeys(wanted, path)
        owner: dict[Path, str] = {}
        for id, file in files.items():
            if owner.setdefault(file, id) != id:
                raise InputError(
                    f"recordings {owner[file]!r} and {id!r} would both be written to {file}; "
                    "rename one"
                )
        if recordings is not None and address_of(path) is None:
            recording_files = {
                file.resolve() for id in recordings.ids for file in recordings.files(id)
            }
            for file in files.values():
                if file.resolve() in recording_files:
                    raise InputError(f"{file}: holds a recording; write to another folder")
        return files


class UnscoredFormat(EventFormat):
    """A format without scores, which are dropped only if ``drop_scores`` is set.

    Parameters
    ----------
    drop_scores
        Write without scores, which the format does not have.
    """

    scored: ClassVar[bool] = False
    drop_scores: bool = False

    def without_scores(self, events: Events, path: Path) -> Events:
        """Events without scores; unless they are to be dropped, scores are an error.

        Parameters
        ----------
        events
            The events.
        path
            Where to write, for the message.
        """
        if events.score is not None and not self.drop_scores:
            raise InputError(
                f"{path}: format {self.kind} has no scores and these events have; drop them on "
                "purpose (drop_scores=True, --drop-scores), or write another format (--to)"
            )
        return replace(events, score=None)
