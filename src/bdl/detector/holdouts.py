"""Which training recordings are held out together: whole groups, drawn from a seed."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from bdl.events import Events
from bdl.recording import Recordings


class HeldOutPart(NamedTuple):
    """Ids of the recordings to train on, and of those held out."""

    train: list[str]
    held: list[str]


def holdouts(
    recordings: Recordings, events: Events, *, folds: int, share: float, seed: int
) -> list[HeldOutPart]:
    """Divide recordings by group.

    Groups are assigned to parts by their number of events, so that parts have about equally many.
    If a part has all events of a type, one of their groups is not held out: without it the type
    could not be learned. If all recordings are of one group, each is its own.

    Parameters
    ----------
    recordings, events
        Training recordings and their events.
    folds
        Number of parts; 1 for one part with a share of the groups.
    share
        Share of the groups that is held out if ``folds`` is 1.
    seed
        Seed of the order of groups with equally many events, and of a single part.

    Returns
    -------
    list of HeldOutPart
        One per part; empty if there is nothing that can be held out.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> recordings = Recordings.of([Recording.of([0.0], id=id, period=1.0) for id in "abcd"])
    >>> events = Events.of([*"abcd"], "beat", [0.0] * 4)
    >>> [part.held for part in holdouts(recordings, events, folds=2, share=0.5, seed=0)]
    [['b', 'c'], ['a', 'd']]
    """
    groups = recordings.groups
    if len(set(groups.values())) == 1:
        groups = {id: id for id in recordings.ids}
    counts = Counter(groups[id] for id in events.recording)
    groups_by_type: dict[str, set[str]] = {}
    for id, event in zip(events.recording, events.event, strict=True):
        groups_by_type.setdefault(event, set()).add(groups[id])
    names = sorted({*groups.values()})
    if len(names) < 2:
        return []
    order = [names[i] for i in np.random.default_rng(seed).permutation(len(names))]
    if folds == 1:
        parts = [{*order[: min(max(1, round(share * len(names))), len(names) - 1)]}]
    else:
        order.sort(key=lambda group: -counts[group])
        parts = [{*order[first::folds]} for first in range(min(folds, len(order)))]
    for part in parts:
        for type_groups in groups_by_type.values():
            if type_groups <= part:
                part.remove(min(type_groups))
    return [
        HeldOutPart(
            [id for id in recordings.ids if groups[id] not in part],
            [id for id in recordings.ids if groups[id] in part],
        )
        for part in parts
        if part
    ]
