"""Options that several commands share, each written once.

A group of options is a dataclass; a command that `takes` it has one parameter for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl.events import IntervalType
    from bdl.recording import Recordings

Command = Callable[..., None]
Format = Literal["bdl", "kaggle", "bids", "seizures", "dcase", "edf", "wfdb"]
Written = Literal["bdl", "kaggle", "bids", "seizures", "dcase"]
Period = Annotated[float | None, typer.Option(help="Seconds from one sample to the next.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Intervals = Annotated[
    list[str] | None,
    typer.Option(
        "--interval",
        help="Interval type: NAME=ONSET,OFFSET (event types), or NAME for NAME:onset, NAME:offset.",
    ),
]


@dataclass(frozen=True)
class TableLayout:
    """Which files hold recordings, and which column of a table is what: `formats.Layout`."""

    pattern: Annotated[
        str | None, typer.Option(help="Which files of a folder, such as '**/*.parquet'.")
    ] = None
    recording: Annotated[
        str | None, typer.Option(help="Column of recording ids in a long table.")
    ] = None
    channels: Annotated[
        list[str] | None, typer.Option("--channel", help="A column of values; repeat for more.")
    ] = None
    sample: Annotated[str | None, typer.Option(help="Column of sample numbers.")] = None
    first_sample: Annotated[int, typer.Option(help="Number of a recording's first sample.")] = 0
    time: Annotated[str | None, typer.Option(help="Column of times.")] = None
    clock: Annotated[
        Literal["seconds", "epoch", "iso"] | None, typer.Option(help="What the time column holds.")
    ] = None
    unit: Annotated[
        Literal["s", "ms", "us", "ns"], typer.Option(help="Unit of numbers as times.")
    ] = "s"
    period: Period = None
    zone: Annotated[
        str | None, typer.Option(help="UTC offset or zone of times without one, such as +02:00.")
    ] = None
    group: Annotated[str | None, typer.Option(help="Column of groups (subjects).")] = None
    group_pattern: Annotated[
        str | None, typer.Option(help="Regular expression on the id; its first group is the group.")
    ] = None
    regular: Annotated[
        bool,
        typer.Option("--regular", help="Fill gaps with missing values instead of refusing them."),
    ] = False

    def read(self, source: Path) -> Recordings:
        """The recordings of a source in this layout."""
        from bdl.formats import read_recordings

        given = {name: value for name, value in vars(self).items() if value not in (None, [])}
        return read_recordings(source, **given)


def takes(**groups: Callable[..., Any]) -> Callable[[Command], Command]:
    """Give a command the options of each group in place of its parameter of that name.

    >>> @takes(layout=TableLayout)
    ... def show(source: Path, *, layout: TableLayout) -> None:
    ...     print(layout.period)
    >>> [*signature(show).parameters][:3]
    ['source', 'pattern', 'recording']
    >>> show(source=Path("walk.csv"), **{**vars(TableLayout()), "period": 5.0})
    5.0
    """
    options = {name: signature(group, eval_str=True).parameters for name, group in groups.items()}

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(**given: Any) -> None:
            for name, group in groups.items():
                given[name] = group(**{option: given.pop(option) for option in options[name]})
            command(**given)

        parameters = [
            each.replace(kind=Parameter.KEYWORD_ONLY)
            for name, own in signature(command, eval_str=True).parameters.items()
            for each in options.get(name, {name: own}).values()
        ]
        vars(run)["__signature__"] = Signature(parameters)  # what typer reads
        return run

    return decorate


def interval_types(texts: list[str] | None) -> tuple[IntervalType, ...]:
    """Interval types from their command-line form.

    >>> interval_types(["sleep=onset,wakeup", "seizure"])
    (IntervalType(name='sleep', onset='onset', offset='wakeup'),
     IntervalType(name='seizure', onset='seizure:onset', offset='seizure:offset'))
    """
    from bdl.events import IntervalType

    out = []
    for one in texts or ():
        name, given, events = one.partition("=")
        sides = [side.strip() for side in events.split(",")]
        if not name or (given and (len(sides) != 2 or not all(sides))):
            raise ConfigError(f"--interval {one!r}: NAME=ONSET,OFFSET or NAME expected")
        out.append(IntervalType(name, *sides) if given else IntervalType.named(name))
    return tuple(out)


def advance(bar: Any, what: str) -> Callable[[int, int], None]:
    """A callback that moves one task of a progress display; it appears with the first call."""
    task: list[Any] = []

    def move(done: int, total: int) -> None:
        if not task:
            task.append(bar.add_task(what, total=total))
        bar.update(task[0], completed=done)

    return move
