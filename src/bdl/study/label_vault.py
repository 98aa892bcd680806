"""The labels that a step may read.

A `LabelVault` returns labels, and raises an error for those of sealed recordings: a step that
selects or trains gets a vault in which all other labels are sealed.
"""

from __future__ import annotations

from collections.abc import Iterable

from bdl.datasets import Benchmark
from bdl.errors import StudyError
from bdl.events import Events
from bdl.recording import Recordings


class LabelVault:
    """All recordings of a benchmark, with the labels of some of them.

    Examples
    --------
    >>> import numpy as np
    >>> from bdl import Recording
    >>> from bdl.datasets import Settings
    >>> recordings = Recordings.of([Recording.of(np.zeros(9), id="a", period=1.0)])
    >>> settings = Settings(types=("beat",), tolerances=(1.0,), stride=1, window=9.0,
    ...                     reference_spacing=9.0, sigma=1.0, separation=1.0)
    >>> events = Events.of("a", "beat", [1.0])
    >>> vault = LabelVault(Benchmark("toy", recordings, events, (), settings), readable=())
    >>> vault.labels(["a"])
    Traceback (most recent call last):
    bdl.errors.StudyError: the labels of 'a' are sealed: ...
    """

    def __init__(self, benchmark: Benchmark, readable: Iterable[str]) -> None:
        self._recordings = benchmark.recordings
        self._readable = frozenset(readable)
        self._events = benchmark.events.select(recordings=self._readable)

    def signals(self, ids: Iterable[str]) -> Recordings:
        """Recordings by id, without labels."""
        return self._recordings.select(ids)

    def labels(self, ids: Iterable[str]) -> Events:
        """Labels of recordings, none of which may be sealed."""
        listed = [*ids]
        for id in listed:
            if id not in self._readable:
                raise StudyError(
                    f"the labels of {id!r} are sealed: this step selects or trains without it"
                )
        return self._events.select(recordings=listed)
