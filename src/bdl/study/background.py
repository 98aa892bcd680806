"""A function called at intervals while a block runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeated(act: Callable[[], None], every: float) -> Iterator[None]:
    """Call a function at intervals, from another thread, until the block has ended.

    Parameters
    ----------
    act
        Function without arguments.
    every
        Seconds between two calls.

    Examples
    --------
    >>> done = threading.Event()
    >>> with repeated(done.set, every=0.001):
    ...     done.wait(5)
    True
    """
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(every):
            act()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
