"""What the commands share: results on standard output, progress and messages on standard error."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

T = TypeVar("T")


class Terminal:
    """Standard output or standard error; rich is imported when there is something to lay out."""

    def __init__(self, *, stderr: bool) -> None:
        self._stderr = stderr

    @cached_property
    def rich(self) -> Console:
        """The rich console of this output."""
        from rich.console import Console

        return Console(stderr=self._stderr, highlight=False, markup=False)

    def print(self, item: object) -> None:
        """Print a text as it is, or lay out a table or other object."""
        if isinstance(item, str):
            print(item, file=sys.stderr if self._stderr else sys.stdout)
        else:
            self.rich.print(item)

    def notes(self, notes: Iterable[str]) -> None:
        """Print notes, one per line."""
        for note in notes:
            self.print(f"note: {note}")


out = Terminal(stderr=False)
err = Terminal(stderr=True)


def _bars() -> Progress:
    """A progress display on standard error: task, items done of all, time elapsed and left."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=err.rich,
        speed_estimate_period=3600,  # a long recording takes minutes
    )


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Show progress; the function takes the name of a task, the items done and their total."""
    if quiet:
        yield lambda what, done, total: None
        return
    with _bars() as bars:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield report


def track(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Yield the items while a progress bar counts them."""
    with _bars() as bars:
        yield from bars.track(items, total=total, description=what)


def width() -> int | None:
    """Characters of a line of the terminal; None where output goes to a file or program."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_json(data: Any) -> None:
    """Print one JSON object on standard output, for programs."""
    print(json.dumps(data, allow_nan=False))
