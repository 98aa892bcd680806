"""How the items of a batch are divided into jobs of the recurrent kernels.

Results do not depend on the division.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import torch

MOST_ITEMS = 4
JOBS = 4  # jobs per thread, of which a slower thread does fewer


def most_joined(batch: int) -> int:
    """Blocks per job: many short jobs would take longer to prepare than to do."""
    return -(-batch // (MOST_ITEMS * JOBS * torch.get_num_threads()))


def item_blocks(lengths: list[int], directions: int) -> list[tuple[int, int, int, int]]:
    """(direction, first item, items, steps): a few neighbours of equal length per block.

    ``lengths`` are the steps of each item. There are fewer items per block where there would be
    less than one block per thread.
    """
    most = MOST_ITEMS
    while most > 1 and directions * len(lengths) < most * torch.get_num_threads():
        most //= 2
    blocks = []
    for steps, run in groupby(range(len(lengths)), key=lengths.__getitem__):
        first, *more = run
        left, items = 1 + len(more), most
        while left and steps:
            while items > left:
                items //= 2
            blocks += [(d, first, items, steps) for d in range(directions)]
            first, left = first + items, left - items
    return blocks


def joined(
    blocks: list[tuple[int, int, int, int]], most: int
) -> Iterator[tuple[int, int, int, int, int]]:
    """(direction, first item, items per block, blocks, steps) of each job.

    A job has up to ``most`` neighbouring blocks of one size.

    Examples
    --------
    >>> [*joined([(0, 0, 4, 9), (0, 4, 4, 9), (0, 8, 4, 9), (0, 12, 1, 9)], 2)]
    [(0, 0, 4, 2, 9), (0, 8, 4, 1, 9), (0, 12, 1, 1, 9)]
    """
    for (d, items, steps), run in groupby(sorted(blocks), key=lambda b: (b[0], *b[2:])):
        firsts = [first for _, first, _, _ in run]
        while firsts:
            count = 1
            while count < min(most, len(firsts)) and firsts[count] == firsts[0] + count * items:
                count += 1
            yield d, firsts[0], items, count, steps
            firsts = firsts[count:]
