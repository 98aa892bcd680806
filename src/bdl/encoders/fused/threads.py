"""Work shared among threads of our own, as many as torch may use.

The kernels release Python's lock, so plain threads suffice; they do not disturb torch's own
threads, other processes (joblib, Lightning) or other callers, and they sleep while they wait. How
jobs are shared never changes a result: each job writes numbers of its own.

A forked child has none of its parent's threads, and torch would wait for them forever. It computes
with one thread, in torch as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import torch

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


def shares(jobs: Sequence[Job], threads: int) -> list[list[Callable[[], object]]]:
    """Jobs split among threads: the largest first, each to the thread with the least to do.

    Examples
    --------
    >>> [len(share) for share in shares([(3, print), (1, print), (1, print), (1, print)], 2)]
    [1, 3]
    """
    loads = [0] * min(threads, len(jobs))
    split: list[list[Callable[[], object]]] = [[] for _ in loads]
    for operations, work in sorted(jobs, key=lambda job: -job[0]):
        least = loads.index(min(loads))
        loads[least] += operations
        split[least].append(work)
    return split


def run(jobs: Sequence[Job]) -> None:
    """Do all jobs, in as many threads as torch may use and the work is worth."""
    worth = min(torch.get_num_threads(), sum(operations for operations, _ in jobs) // LEAST)
    if worth < 2 or len(jobs) < 2:
        _all([work for _, work in jobs])
        return
    first, *others = shares(jobs, worth)
    waiting = [_pool(os.cpu_count() or 1).submit(_all, share) for share in others]
    _all(first)
    for future in waiting:
        future.result()


def _all(share: Sequence[Callable[[], object]]) -> None:
    for work in share:
        work()
