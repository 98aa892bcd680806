"""The family of recording formats: their names, suffixes and options."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Annotated, ClassVar

import pyarrow as pa
from pydantic import AfterValidator

from bdl.recording import Recordings
from bdl.registry import Variant


class RecordingFormat(Variant):
    """A format of recordings; its fields are the options of `bdl.formats.read_recordings`.

    A new format is one class in one file of `bdl.formats.recordings`, or in a package of your own
    that declares an entry point of the group ``bdl.formats.recordings``. It sets ``kind`` and
    ``suffixes`` and defines `read`. On the command line it is then known by ``--format``, and its
    fields are options.

    Examples
    --------
    >>> class Numbers(RecordingFormat):
    ...     '''One number per line.'''
    ...     kind: str = "numbers"
    ...     suffixes = (".numbers",)
    ...     period: float = 1.0
    ...     def read(self, path):
    ...         values = np.array(path.read_text().split(), np.float32)
    ...         return Recordings.of([Recording.of(values, id=path.stem, period=self.period)])
    >>> import tempfile
    >>> import numpy as np
    >>> from bdl.formats import read_recordings
    >>> from bdl.recording import Recording
    >>> file = Path(tempfile.mkdtemp()) / "walk.numbers"
    >>> _ = file.write_text("1 2 3")
    >>> read_recordings(file, period=0.5)
    Recordings...
    """

    package: ClassVar[str] = "bdl.formats.recordings"
    suffixes: ClassVar[tuple[str, ...]] = ()
    #: Whether `read` takes an address and reads by ranges; otherwise files are fetched first.
    by_range: ClassVar[bool] = False
    #: Pattern of its files in a folder that is a data set in BIDS; None if it has no special one.
    in_bids: ClassVar[str | None] = None

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a file, or a folder as a whole, is of this format: by its suffix."""
        return path.suffix.lower() in cls.suffixes and not path.is_dir()

    @abstractmethod
    def read(self, path: Path) -> Recordings:
        """Open the recordings of one file, or of a folder that `recognises` accepts.

        Values are read on demand: give the recordings a `bdl.value_readers.ValueReader`.
        """


def _checked(pattern: str | None) -> str | None:
    if pattern is not None:
        try:
            _matches("", pattern)
        except pa.ArrowInvalid as error:
            reason = str(error).removeprefix("Invalid regular expression: ")
            raise ValueError(
                f"not a regular expression: {' '.join(reason.split())[:200]}"
            ) from error
        try:
            _first_group("", pattern)
        except pa.ArrowInvalid:
            raise ValueError("one parenthesised group expected, such as '_(user[0-9]+)'") from None
    return pattern


GroupPattern = Annotated[str | None, AfterValidator(_checked)]


def group_of(id: str, pattern: str | None) -> str | None:
    """The group of a recording by its id: the first group of a regular expression.

    Every expression is matched in time linear in the id's length; therefore it has no references to
    groups and does not look around.

    Examples
    --------
    >>> group_of("exp01_user01", "_(user[0-9]+)")
    'user01'
    """
    if pattern is None or not _matches(id, pattern):
        return None
    return _first_group(id, pattern) or None


def _matches(id: str, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.match_substring_regex(pa.scalar(id), pattern).as_py())


def _first_group(id: str, pattern: str) -> str:
    import pyarrow.compute as pc

    group: str = pc.replace_substring_regex(
        pa.scalar(id), pattern=rf"(?s)^.*?(?:{pattern}).*$", replacement=r"\1"
    ).as_py()
    return group
