"""Local maxima and their separation, one value at a time.

The rules are those of `bdl.decoding.maxima`. A *cell* is a place of the clock that has a value: a
bin, or a sample. A maximum is known at the first lower cell after it. It is kept as soon as no
maximum that could suppress it is undecided and none can follow within the distance; it is
suppressed as soon as one within the distance is kept. What is decided, and at which cell, depends
on the values only, not on how they are cut into parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Flags, Floats, Longs
from bdl.compiled import compiled
from bdl.decoding.incremental import Arrays
from bdl.decoding.maxima import Keep

FinalMaxima = tuple[Longs, Floats, Longs]  # place, height and the cell that made it final

NEVER = 1 << 62  # beyond any place
STATE = ("run", "value", "place", "height", "kept")


class MaximaStream:
    """Maxima of a sequence of cells, separated, as they become final.

    A cell has ``width`` places; two maxima are at least ``distance`` places apart.

    Examples
    --------
    >>> stream = MaximaStream(width=1, distance=0, keep="higher")
    >>> [stream.push(np.array([value]))[0].tolist() for value in (0.0, 2.0, 2.0, 1.0)]
    [[], [], [], [1]]
    """

    def __init__(self, *, width: int, distance: int, keep: Keep) -> None:
        self.width, self.distance, self.earlier = width, distance, keep == "earlier"
        # Next cell, first cell of the current run of equal values, whether it was risen to.
        self.run = np.zeros(3, np.int64)
        self.value = np.zeros(1)
        # Maxima that are not decided yet, and kept ones that may suppress others.
        self.place = np.zeros(0, np.int64)
        self.height = np.zeros(0)
        self.kept = np.zeros(0, np.bool_)

    def push(
        self, values: Floats, *, last: bool = False, scale: float | None = None
    ) -> FinalMaxima:
        """Maxima that are final after these cells; after the ``last`` ones, all that remain.

        With a ``scale``, heights are divided by it, and maxima of 0 and less are left out.
        """
        cells = len(values)
        place, height = np.zeros(cells + last, np.int64), np.zeros(cells + last)
        is_maximum, horizon = np.zeros(cells + last, np.bool_), np.zeros(cells + last, np.int64)
        first = int(self.run[0])
        find(values, self.width, self.run, self.value, place, height, is_maximum, horizon)
        if scale is not None:
            is_maximum &= height > 0
            height /= scale
        return self.decided(place, height, is_maximum, horizon, first, last=last)

    def decided(
        self,
        place: Longs,
        height: Floats,
        is_maximum: Flags,
        horizon: Longs,
        first: int,
        *,
        last: bool,
    ) -> FinalMaxima:
        """Maxima that become final, from those that became known at each cell.

        ``horizon`` is, per cell, the least place that a later maximum can have; ``first`` is the
        number of the first cell. With ``last``, the arrays have one entry more, for the end after
        the last cell.
        """
        if last:
            horizon[-1] = NEVER
        end = first + len(is_maximum) - last - 1
        new, count = int(is_maximum.sum()), len(self.place)
        pending_place: Longs = np.append(self.place, np.zeros(new, np.int64))
        pending_height: Floats = np.append(self.height, np.zeros(new))
        pending_kept: Flags = np.append(self.kept, np.zeros(new, np.bool_))
        final_place, final_cell = np.zeros((2, count + new), np.int64)
        final_height = np.zeros(count + new)
        count, final = decide(
            place, height, is_maximum, horizon, self.distance, self.earlier,
            pending_place, pending_height, pending_kept, count,
            final_place, final_height, final_cell,
        )  # fmt: skip
        self.place, self.height = pending_place[:count].copy(), pending_height[:count].copy()
        self.kept = pending_kept[:count].copy()
        cells = np.minimum(first + final_cell[:final], end)
        return final_place[:final], final_height[:final], cells

    def save(self) -> Arrays:
        """The state as named arrays."""
        return {name: getattr(self, name).copy() for name in STATE}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a saved state."""
        shapes = [arrays[name].shape for name in STATE]
        if shapes[:2] != [self.run.shape, self.value.shape] or len({*shapes[2:]}) > 1:
            raise ValueError(f"maxima of shapes that do not fit each other: {shapes}")
        for name in STATE:
            setattr(self, name, np.array(arrays[name]))


@compiled(small_in_python=True)
def find(
    values: Floats,
    width: int,
    run: Longs,
    value: Floats,
    place: Longs,
    height: Floats,
    is_maximum: Flags,
    horizon: Longs,
) -> None:
    """Mark the cells at which a maximum becomes known; ``run`` and ``value`` are carried on."""
    for i in range(len(values)):
        cell, first, rising = run[0], run[1], run[2]
        if cell == 0:
            value[0] = values[i]
        elif values[i] != value[0]:
            if values[i] < value[0] and rising:
                # The middle of the cells first to cell - 1, rounded down.
                place[i], height[i] = (first * width + cell * width - 1) // 2, value[0]
                is_maximum[i] = True
            run[1], run[2] = cell, 1 if values[i] > value[0] else 0
            value[0] = values[i]
        run[0] = cell + 1
        # The middle of a run that may go on, or that of a later one.
        reached = (cell + 1) * width
        horizon[i] = (run[1] * width + reached - 1) // 2 if run[2] else reached


@compiled(small_in_python=True)
def decide(
    place: Longs,
    height: Floats,
    is_maximum: Flags,
    horizon: Longs,
    distance: int,
    earlier: bool,
    pending_place: Longs,
    pending_height: Floats,
    kept: Flags,
    count: int,
    final_place: Longs,
    final_height: Floats,
    final_cell: Longs,
) -> tuple[int, int]:
    """Decide maxima cell by cell; the number that is pending, and the number that is final."""
    final = 0
    for i in range(len(is_maximum)):
        if is_maximum[i]:
            pending_place[count], pending_height[count] = place[i], height[i]
            kept[count] = False
            count += 1
        if count == 0:
            continue
        changed = True
        while changed:
            changed = False
            j = 0
            while j < count:
                if kept[j]:
                    j += 1
                    continue
                suppressed = waits = False
                for k in range(count):
                    if k == j or abs(pending_place[k] - pending_place[j]) >= distance:
                        continue
                    if kept[k]:
                        suppressed = True
                    elif earlier:
                        waits |= pending_place[k] < pending_place[j]
                    else:
                        higher = pending_height[k] > pending_height[j]
                        equal = pending_height[k] == pending_height[j]
                        waits |= higher or (equal and pending_place[k] > pending_place[j])
                if suppressed:
                    for k in range(j, count - 1):
                        pending_place[k], pending_height[k] = (
                            pending_place[k + 1],
                            pending_height[k + 1],
                        )
                        kept[k] = kept[k + 1]
                    count -= 1
                    changed = True
                    continue
                if not waits and (earlier or pending_place[j] + distance <= horizon[i]):
                    kept[j] = True
                    final_place[final], final_height[final] = pending_place[j], pending_height[j]
                    final_cell[final] = i
                    final += 1
                    changed = True
                j += 1
        # Kept maxima suppress undecided ones and those to come; the others are forgotten.
        least = horizon[i]
        for j in range(count):
            if not kept[j]:
                least = min(least, pending_place[j])
        left = 0
        for j in range(count):
            if kept[j] and pending_place[j] + distance <= least:
                continue
            pending_place[left], pending_height[left] = pending_place[j], pending_height[j]
            kept[left] = kept[j]
            left += 1
        count = left
    return count, final
