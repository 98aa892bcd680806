"""Work shared among the package's own threads, as many as torch may use.

The kernels release Python's lock, so plain threads suffice; they do not disturb torch's own
threads, other processes (joblib, Lightning) or other callers, and they sleep while they wait. The
division of a batch into jobs and of jobs among threads never changes a result: each job writes its
own numbers.

A forked child has none of its parent's threads, and torch would wait for them forever. It therefore
computes with one thread, in torch as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from itertools import groupby

import torch

MOST_ITEMS = 4  # of a batch per block of the recurrent kernels
JOBS = 4  # jobs per thread, of which a slower thread does fewer
Job = tuple[int, Callable[[], object]]
LEAST = 1 << 20  # operations that are worth waking another thread
# Operations of a whole module that are worth several threads: about a tenth of a second. Every
# layer waits for its slowest thread, and on a busy machine that is longer than a small layer takes.
SMALL = 1 << 30


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="bdl")


def _after_fork() -> None:
    _pool.cache_clear()
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def suited(operations: int) -> Iterator[None]:
    """Let torch and the kernels use one thread while the block runs, if its work is small.

    Examples
    --------
    >>> with suited(10):
    ...     torch.get_num_threads()
    1
    """
    threads = torch.get_num_threads()
    if threads == 1 or operations >= SMALL:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def run(jobs: Sequence[Job]) -> None:
    """Do all jobs, in as many threads as torch may use and the work is worth.

    Every thread takes the largest job that is left, so that one that wakes up late does less.
    """
    worth = min(torch.get_num_threads(), sum(operations for operations, _ in jobs) // LEAST)
    queue = iter([work for _, work in sorted(jobs, key=lambda job: -job[0])])
    helpers = min(worth, len(jobs)) - 1
    waiting = [_pool(os.cpu_count() or 1).submit(_do_all, queue) for _ in range(helpers)]
    try:
        _do_all(queue)
    finally:  # the tensors must live until nobody writes to them
        for future in waiting:
            if not future.cancel():
                future.result()


def run_torch(jobs: Sequence[Job]) -> None:
    """As `run`, for jobs that call torch: each of them uses one of torch's own threads."""
    threads = torch.get_num_threads()

    def alone(work: Callable[[], object]) -> None:
        torch.set_num_threads(1)
        work()

    try:
        run([(operations, partial(alone, work)) for operations, work in jobs])
    finally:
        torch.set_num_threads(threads)


def _do_all(queue: Iterator[Callable[[], object]]) -> None:
    """Do jobs until none is left; threads may share the queue, whose next job one of them gets."""
    for work in queue:
        work()


def most_joined(batch: int) -> int:
    """Blocks per job: many short jobs would take longer to prepare than to do."""
    return -(-batch // (MOST_ITEMS * JOBS * torch.get_num_threads()))


def item_blocks(lengths: list[int], directions: int) -> list[tuple[int, int, int, int]]:
    """(direction, first item, items, steps): a few neighbours of equal length per block.

    ``lengths`` are the steps of each item. There are fewer items per block where there would be
    less than one block per thread.
    """
    block_items = MOST_ITEMS
    while block_items > 1 and directions * len(lengths) < block_items * torch.get_num_threads():
        block_items //= 2
    blocks = []
    for steps, run in groupby(range(len(lengths)), key=lengths.__getitem__):
        first, *more = run
        left, items = 1 + len(more), block_items
        while left and steps:
            while items > left:
                items //= 2
            blocks += [(d, first, items, steps) for d in range(directions)]
            first, left = first + items, left - items
    return blocks


def joined(
    blocks: list[tuple[int, int, int, int]], limit: int
) -> Iterator[tuple[int, int, int, int, int]]:
    """(direction, first item, items per block, blocks, steps) of each job.

    A job has up to ``limit`` neighbouring blocks of one size.

    Examples
    --------
    >>> [*joined([(0, 0, 4, 9), (0, 4, 4, 9), (0, 8, 4, 9), (0, 12, 1, 9)], 2)]
    [(0, 0, 4, 2, 9), (0, 8, 4, 1, 9), (0, 12, 1, 1, 9)]
    """
    for (d, items, steps), run in groupby(sorted(blocks), key=lambda b: (b[0], *b[2:])):
        firsts = [first for _, first, _, _ in run]
        while firsts:
            count = 1
            while count < min(limit, len(firsts)) and firsts[count] == firsts[0] + count * items:
                count += 1
            yield d, firsts[0], items, count, steps
            firsts = firsts[count:]
