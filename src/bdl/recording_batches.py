"""Batches of recordings: what a worker is given at a time."""

from __future__ import annotations

from collections.abc import Iterator

from bdl.recording import Recordings

VALUES = 1 << 20  # samples times channels of a batch of short recordings
MOST = 64  # recordings of a batch: few enough that one which is lost costs little


def batches(recordings: Recordings, most: int = MOST) -> list[Recordings]:
    """Neighbours that one worker takes together, up to ``most``; a long recording is alone.

    Examples
    --------
    >>> import numpy as np
    >>> from bdl.recording import Recording
    >>> sizes = {"a": 5, "b": 5, "c": VALUES}
    >>> made = (Recording.of(np.ones(n), id=id, period=1.0) for id, n in sizes.items())
    >>> [part.ids for part in batches(Recordings.of(made))]
    [('a', 'b'), ('c',)]
    """
    return [recordings.select(ids) for ids in _ids(recordings, most)]


def singles(batch: Recordings) -> list[Recordings]:
    """The recordings of a batch, each alone."""
    return [batch.select([id]) for id in batch.ids]


def _ids(recordings: Recordings, most: int) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for info in recordings.infos:
        more = info.samples * len(info.channels)
        if batch and (size + more > VALUES or len(batch) == most):
            yield batch
            batch, size = [], 0
        batch.append(info.id)
        size += more
    if batch:
        yield batch
