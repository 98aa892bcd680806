"""A function called at intervals while a block runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeated(act: Callable[[], None], every: float) -> Iterator[None]:
    """Call a function every ``every`` seconds, in another thread, until the block ends."""
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
