"""Reading ahead: a thread decodes the next batches while the current one is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

T = TypeVar("T")
DEPTH = 4


def read_ahead(flow: Generator[T]) -> Generator[T]:
    """The items of a generator, of which up to four are computed before they are needed.

    An error is raised after the same items as without reading ahead. The generator is closed when
    it is no longer needed.

    Examples
    --------
    >>> [*read_ahead(letter for letter in "abc")]
    ['a', 'b', 'c']
    """
    end: Any = object()
    with closing(flow), ThreadPoolExecutor(1) as thread:
        ahead = deque(thread.submit(next, flow, end) for _ in range(DEPTH))
        try:
            while (item := ahead.popleft().result()) is not end:
                ahead.append(thread.submit(next, flow, end))
                yield item
        finally:
            thread.shutdown(cancel_futures=True)
