"""A target: a reader, and the small valid files that are damaged for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bdl.events import Events
from bdl.recording import Recordings
from fuzz.mutation import mutate

Files = Mapping[str, bytes]
Mutation = Callable[[bytes, np.random.Generator], bytes]


class WrongError(AssertionError):
    """A damaged file was read without an error, and what came is not in order."""


@dataclass(frozen=True)
class Target:
    """A reader with its files.

    Parameters
    ----------
    name
        What is read.
    files
        Content of each file by its path below a folder.
    damaged
        Which of them are damaged, one per case.
    read
        Reads the folder, and raises `WrongError` if what it reads is not in order.
    mutation
        How a file is damaged.
    """

    name: str
    files: Files
    damaged: tuple[str, ...]
    read: Callable[[Path], object]
    mutation: Mutation = field(default=mutate)

    def lay(self, folder: Path, rng: np.random.Generator | None) -> None:
        """Write the files, one of them damaged unless there is no generator."""
        chosen = None if rng is None else self.damaged[int(rng.integers(0, len(self.damaged)))]
        for name, content in self.files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if name == chosen and rng is not None:
                content = self.mutation(content, rng)
            file.write_bytes(content)


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder by their relative path."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def check_recordings(recordings: Recordings, expected: Recordings | None = None) -> None:
    """Read all values; where the format has checksums, they must be those that were written."""
    for info in recordings.infos:
        values = recordings[info.id].values
        if values.shape != (info.samples, len(info.channels)):
            raise WrongError(f"{info.id}: values of {values.shape}, as claimed {info.samples}")
        if np.isinf(values).any():
            raise WrongError(f"{info.id}: infinite values")
        if expected is None or info.id not in expected:
            continue
        whole = expected[info.id]
        same = (info.channels, info.samples) == (whole.info.channels, whole.info.samples)
        if same and not np.array_equal(values, whole.values, equal_nan=True):
            raise WrongError(f"{info.id}: other values than were written")


def check_events(events: Events) -> None:
    """Times must be finite and columns of one length."""
    if not np.isfinite(events.time).all():
        raise WrongError("times that are not finite")
    if not len(events.recording) == len(events.event) == len(events.time):
        raise WrongError("columns of different lengths")
    if events.score is not None and np.isnan(events.score).any():
        raise WrongError("scores that are no numbers")
