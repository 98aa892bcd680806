"""Context managers around Lightning: no banners, and an interrupt that stays an interrupt."""

from __future__ import annotations

import logging
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

LOGGERS = ("lightning.pytorch", "lightning.fabric", "lightning")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the notes and hints of Lightning inside the block; errors are still raised."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"lightning.*")
        warnings.filterwarnings("ignore", message=r".*lr_scheduler\.step.*")
        warnings.filterwarnings("ignore", message=r".*isinstance\(treespec, LeafSpec\).*")
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


@contextmanager
def interruptible() -> Iterator[None]:
    """Keep Ctrl-C a KeyboardInterrupt: Lightning turns it into an exit and mutes the signal."""
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if main else None
    try:
        yield
    except SystemExit as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise
    finally:
        if main and handler is not None:
            signal.signal(signal.SIGINT, handler)
