"""The progress of a study on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bdl.study.runner import ReportProgress


@contextmanager
def study_progress(*, quiet: bool = False) -> Iterator[ReportProgress]:
    """A function for `bdl.study.run_study` that shows what is being done."""
    if quiet:
        yield lambda what, done, total: None
        return
    from bdl.cli.console import progress

    with progress() as bar:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield report
