"""Shares of work over a few threads of our own, as many as torch may use.

The kernels release Python's lock, so plain threads do; they do not clash with torch's own threads,
with several processes (joblib, Lightning) or with several callers at once. A forked child makes
its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import torch

Job = tuple[int, Callable[[], None]]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="bdl")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def shares(jobs: Sequence[Job], threads: int) -> list[list[Callable[[], None]]]:
    """Split jobs (cost, work), largest first, each to the thread with the least to do.

    >>> [len(share) for share in shares([(3, print), (1, print), (1, print), (1, print)], 2)]
    [1, 3]
    """
    loads = [0] * min(threads, len(jobs))
    split: list[list[Callable[[], None]]] = [[] for _ in loads]
    for cost, work in sorted(jobs, key=lambda job: -job[0]):
        least = loads.index(min(loads))
        loads[least] += cost
        split[least].append(work)
    return split


def run(jobs: Sequence[Job]) -> None:
    """Do all jobs; the calling thread takes its share too.

    >>> done = []
    >>> run([(1, lambda: done.append("a")), (1, lambda: done.append("b"))])
    >>> sorted(done)
    ['a', 'b']
    """
    own, *others = shares(jobs, torch.get_num_threads()) or [[]]
    waiting = [_pool(os.cpu_count() or 1).submit(_all, share) for share in others]
    _all(own)
    for future in waiting:
        future.result()


def _all(share: Sequence[Callable[[], None]]) -> None:
    for work in share:
        work()
