"""Batches of recordings, which a worker processes one at a time."""

from __future__ import annotations

from bdl.recording import Recordings

VALUES = 1 << 20  # samples times channels of a batch of short recordings
MOST = 64  # recordings per batch: few enough that repeating a lost batch costs little


def batches_of(recordings: Recordings, most: int = MOST) -> list[Recordings]:
    """Batches of up to ``most`` successive recordings; a long recording is alone.

    Examples
    --------
    >>> import numpy as np
    >>> from bdl.recording import Recording
    >>> sizes = {"a": 5, "b": 5, "c": VALUES}
    >>> parts = (Recording.of(np.ones(n), id=id, period=1.0) for id, n in sizes.items())
    >>> [batch.ids for batch in batches_of(Recordings.of(parts))]
    [('a', 'b'), ('c',)]
    """
    id_batches: list[list[str]] = []
    size = 0
    for info in recordings.infos:
        values = info.samples * len(info.channels)
        if not id_batches or size + values > VALUES or len(id_batches[-1]) == most:
            id_batches.append([])
            size = 0
        id_batches[-1].append(info.id)
        size += values
    return [recordings.select(ids) for ids in id_batches]


def singles(batch: Recordings) -> list[Recordings]:
    """The recordings of a batch, each alone."""
    return [batch.select([id]) for id in batch.ids]
