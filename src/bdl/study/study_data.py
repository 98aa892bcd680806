"""A study's data: where it is, what it holds (hashed), and which labels may be looked at.

A fingerprint has one hash a recording's values and one a recording's labels, so that a step can
depend on exactly the recordings and labels it is given. Labels are handed out by a `Vault`, which
refuses those of sealed recordings: a step that chooses is given one in which the test part is
sealed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from bdl.datasets import Benchmark, Dataset
from bdl.errors import StudyError
from bdl.events import Events
from bdl.recording import Recordings
from bdl.study.digest import digest, events_digest, recording_digest
from bdl.study.protocol import Data


@dataclass(frozen=True)
class DataSource:
    """Where the data lies and how it is read; small enough to be sent to every worker.

    >>> DataSource.of(Data(name="hapt", options={"task": "walking"}), Path("hapt")).dataset
    HAPT(kind='hapt', task='walking')
    """

    dataset: Dataset
    path: str
    settings: str

    @classmethod
    def of(cls, data: Data, path: Path, *, trust: bool = False) -> DataSource:
        """The source of a protocol's data at a path; ``trust`` lets a pickle be opened."""
        dataset = data.dataset.trusted() if trust else data.dataset
        settings = json.dumps(data.settings, sort_keys=True)
        return cls(dataset, str(path.resolve()), settings)

    def load(self) -> Benchmark:
        """The data set, read once a process."""
        return _load(self)


@lru_cache(maxsize=2)
def _load(source: DataSource) -> Benchmark:
    benchmark = source.dataset.load(source.path)
    changes = json.loads(source.settings)
    if not changes:
        return benchmark
    return replace(benchmark, settings=benchmark.settings.replace(**changes))


class Vault:
    """Recordings and labels of a data set, some of the labels sealed.

    >>> from bdl import Recording
    >>> import numpy as np
    >>> one = Recordings.of([Recording.of(np.zeros(9), id="a", period=1.0)])
    >>> Vault(one, Events.of("a", "beat", [1.0]), sealed={"a"}).labels(["a"])
    Traceback (most recent call last):
    bdl.errors.StudyError: the labels of 'a' are sealed: it is in the test part, and ...
    """

    def __init__(
        self, recordings: Recordings, events: Events, sealed: Collection[str] = ()
    ) -> None:
        self.recordings = recordings
        self._events = events.select(recordings=set(recordings.ids) - set(sealed))
        self._sealed = frozenset(sealed)

    def signals(self, ids: Iterable[str]) -> Recordings:
        """Recordings by id, without labels."""
        return self.recordings.select(ids)

    def labels(self, ids: Iterable[str]) -> Events:
        """Labels of recordings that are not sealed."""
        wanted = [*ids]
        for id in wanted:
            if id in self._sealed:
                raise StudyError(
                    f"the labels of {id!r} are sealed: it is in the test part, and choices are "
                    "made without it"
                )
        return self._events.select(recordings=wanted)


@dataclass(frozen=True)
class Fingerprint:
    """Hashes of a data set: of each recording's values, of each one's labels, of the settings.

    >>> Fingerprint({"a": "1"}, {"a": "2"}, "3").signals(["a"]) != ""
    True
    """

    recordings: dict[str, str]
    events: dict[str, str]
    settings: str

    @classmethod
    def of(
        cls, dataset: Benchmark, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> Fingerprint:
        """Read and hash everything, recording by recording."""
        total = len(dataset.recordings)
        values = {}
        for number, recording in enumerate(dataset.recordings):
            values[recording.id] = recording_digest(recording)
            progress(number + 1, total)
        labels = {
            id: events_digest(dataset.events.select(recordings=[id]))
            for id in dataset.recordings.ids
        }
        intervals = [[one.name, one.onset, one.offset] for one in dataset.intervals]
        return cls(values, labels, digest([dataset.settings.model_dump(mode="json"), intervals]))

    def signals(self, ids: Iterable[str]) -> str:
        """One hash of the values of some recordings."""
        return digest([self.recordings[id] for id in ids])

    def labels(self, ids: Iterable[str]) -> str:
        """One hash of the labels of some recordings."""
        return digest([self.events[id] for id in ids])

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "recordings": self.recordings,
            "events": self.events,
            "settings": self.settings,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Fingerprint:
        """From plain data."""
        return cls(data["recordings"], data["events"], data["settings"])

    def changes(self, other: Fingerprint) -> list[str]:
        """What differs, in words, at most a few.

        >>> one, two = (Fingerprint({"a": values}, {"a": "2"}, "3") for values in "1x")
        >>> one.changes(two)
        ["the values of recording 'a'"]
        """
        found = [] if self.settings == other.settings else ["the settings of the data set"]
        for mine, theirs, what in (
            (self.recordings, other.recordings, "values"),
            (self.events, other.events, "labels"),
        ):
            differ = sorted(
                id for id in mine.keys() | theirs.keys() if mine.get(id) != theirs.get(id)
            )
            if differ:
                more = f" and {len(differ) - 1} more" if len(differ) > 1 else ""
                found.append(f"the {what} of recording {differ[0]!r}{more}")
        return found


def file_stamps(path: Path) -> dict[str, list[int]]:
    """Size and time of change of every file of a data set: equal stamps need no new hashing."""
    files = [path] if path.is_file() else sorted(f for f in path.rglob("*") if f.is_file())
    return {
        str(file.relative_to(path) if file != path else file.name): [
            file.stat().st_size,
            file.stat().st_mtime_ns,
        ]
        for file in files
    }
