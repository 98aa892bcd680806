"""Reading ahead: the next batches are decoded in a thread while the present one is used."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Empty, Full, Queue
from typing import TypeVar

T = TypeVar("T")

_POLL = 0.05  # seconds until a waiting thread looks whether it is still wanted


class _End:
    """What comes after the last item: nothing, or the error that ended the flow."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def read_ahead(flow: Iterator[T], depth: int = 4) -> Iterator[T]:
    """The items of ``flow``, up to ``depth`` of them made before they are asked for.

    Errors come where they would have come; a flow that is left early is closed.

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
