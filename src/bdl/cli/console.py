"""What the commands share: results on standard output, progress and messages on standard error."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator
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

    def print(self, item: object, *, markup: bool = False, soft_wrap: bool = False) -> None:
        """Print a text, table or other object; names such as ``[x]`` stay as they are."""
        if isinstance(item, str) and soft_wrap and not markup:
            print(item, file=sys.stderr if self._stderr else sys.stdout)
        else:
            self.rich.print(item, markup=markup, soft_wrap=soft_wrap)


out = Terminal(stderr=False)
err = Terminal(stderr=True)


def progress() -> Progress:
    """A progress display on standard error: what, how many of how many, time passed and left."""
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


def track(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Yield the items while a progress bar counts them."""
    with progress() as bar:
        yield from bar.track(items, total=total, description=what)


def width() -> int | None:
    """Characters of a line of the terminal; None where output goes to a file or program."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def say(text: str) -> None:
    """Print plain text on standard output, its lines as they are."""
    out.print(text, markup=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """Print one JSON object on standard output, for programs."""
    print(json.dumps(data, allow_nan=False))
