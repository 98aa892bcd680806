"""What the commands share: progress on standard error, results on standard output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

T = TypeVar("T")

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def progress() -> Progress:
    """A progress display: what, how far, how long still."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=err,
    )


def track(items: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Pass items on while a progress bar counts them."""
    with progress() as bar:
        yield from bar.track(items, total=total, description=what)


def print_json(data: Any) -> None:
    """One JSON object on standard output, for programs."""
    print(json.dumps(data, allow_nan=False))
