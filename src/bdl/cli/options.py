"""Options that the commands on recordings share: the layout of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import typer

Format = Literal["bdl", "kaggle", "bids", "seizures", "dcase", "edf", "wfdb"]
Written = Literal["bdl", "kaggle", "bids", "seizures", "dcase"]
Pattern = Annotated[
    str | None, typer.Option(help="Which files of a folder, such as '**/*.parquet'.")
]
Recording = Annotated[str | None, typer.Option(help="Column of recording ids in a long table.")]
Channels = Annotated[
    list[str] | None, typer.Option("--channel", help="A column of values; repeat for more.")
]
Sample = Annotated[str | None, typer.Option(help="Column of sample numbers.")]
FirstSample = Annotated[int, typer.Option(help="Number of a recording's first sample.")]
Time = Annotated[str | None, typer.Option(help="Column of times.")]
Clock = Annotated[
    Literal["seconds", "epoch", "iso"] | None, typer.Option(help="What the time column holds.")
]
Unit = Annotated[Literal["s", "ms", "us", "ns"], typer.Option(help="Unit of numbers as times.")]
Period = Annotated[float | None, typer.Option(help="Seconds from one sample to the next.")]
Zone = Annotated[
    str | None, typer.Option(help="UTC offset or zone of times without one, such as +02:00.")
]
Group = Annotated[str | None, typer.Option(help="Column of groups (subjects).")]
GroupPattern = Annotated[
    str | None, typer.Option(help="Regular expression on the id; its first group is the group.")
]
Regular = Annotated[
    bool, typer.Option("--regular", help="Fill gaps with missing values instead of refusing them.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object for programs.")]


def layout_of(**options: Any) -> dict[str, Any]:
    """The options that were given, as fields of a layout."""
    if options.get("channels"):
        options["channels"] = tuple(options["channels"])
    return {name: value for name, value in options.items() if value is not None and value != []}


def advance(bar: Any, what: str) -> Callable[[int, int], None]:
    """A callback that moves one task of a progress display; it appears with the first call."""
    task: list[Any] = []

    def move(done: int, total: int) -> None:
        if not task:
            task.append(bar.add_task(what, total=total))
        bar.update(task[0], completed=done)

    return move
