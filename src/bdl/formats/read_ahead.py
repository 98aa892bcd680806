"""Reading ahead: a thread decodes the next batches while the current one is used."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Empty, Full, Queue
from typing import TypeVar

T = TypeVar("T")

_POLL = 0.05  # seconds until a waiting thread looks whether it is still wanted


class _End:
    """The end of the items, with the error that ended them, if any."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def read_ahead(flow: Iterator[T], depth: int = 4) -> Iterator[T]:
    """The items of an iterator, some of which are computed before they are asked for.

    An error is raised after the same items as without reading ahead. An iterator that is left
    early is closed.

    Parameters
    ----------
    flow
        The iterator; a generator is closed when it is no longer needed.
    depth
        Largest number of items that are computed ahead.

    Examples
    --------
    >>> [*read_ahead(iter("abc"))]
    ['a', 'b', 'c']
    """
    ready: Queue[T | _End] = Queue(depth)
    unwanted = threading.Event()

    def put(item: T | _End) -> None:
        while not unwanted.is_set():
            try:
                ready.put(item, timeout=_POLL)
                return
            except Full:
                continue

    def work() -> None:
        end = _End()
        try:
            for item in flow:
                put(item)
                if unwanted.is_set():
                    break
        except BaseException as error:
            end = _End(error)
        finally:
            close = getattr(flow, "close", None)
            if close is not None:
                close()
        put(end)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            try:
                item = ready.get(timeout=_POLL)
            except Empty:
                continue
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        unwanted.set()
        thread.join()
