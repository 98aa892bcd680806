"""The command that shows what recordings and events hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bdl.cli.console import out, print_json, progress
from bdl.cli.dataset_options import DatasetName, DatasetOptions, named_dataset
from bdl.cli.options import Intervals, Json, Pattern, advance, interval_types, takes
from bdl.cli.recording_options import (
    EVENT_OPTIONS,
    RECORDING_OPTIONS,
    FormatName,
    read_given_events,
)
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl.events import Events
    from bdl.formats.inspect import EventSummary, RecordingSummary
    from bdl.recording import Recordings

commands = typer.Typer()


@commands.command(epilog="Example: `bdl inspect recordings/ --period 0.02 --events events.csv`")
@takes(options=RECORDING_OPTIONS, event_options=EVENT_OPTIONS)
def inspect(
    source: Annotated[
        Path | None, typer.Argument(help="Recordings: a file, folder, glob or prepared store.")
    ] = None,
    events: Annotated[Path | None, typer.Option(help="Events of these recordings.")] = None,
    events_format: Annotated[
        str | None, typer.Option(help="Format of the events, as for `bdl convert --from`.")
    ] = None,
    interval: Intervals = None,
    dataset: DatasetName = None,
    option: DatasetOptions = None,
    format: FormatName = None,
    pattern: Pattern = None,
    *,
    options: dict[str, Any],
    event_options: dict[str, Any],
    quick: Annotated[bool, typer.Option("--quick", help="Do not read the values.")] = False,
    json: Json = False,
) -> None:
    """Show what recordings and events hold, and what is odd."""
    from bdl import formats

    notes: tuple[str, ...] = ()
    recordings: Recordings | None = None
    table: Events | None = None
    intervals = interval_types(interval) or None
    if dataset is not None:
        if source is None:
            raise ConfigError("--dataset needs the folder of the data set as argument")
        benchmark = named_dataset(dataset, option).load(source)
        recordings, table, notes = benchmark.recordings, benchmark.events, benchmark.notes
        intervals = intervals or benchmark.intervals
    elif source is None and events is None:
        raise ConfigError("recordings, --events, or both expected, got none")
    if dataset is None and source is not None:
        recordings = formats.read_recordings(
            source, format=format, pattern=pattern, invalid="skip", **options
        )
    if dataset is None and events is not None:
        table = read_given_events(events, recordings, event_options, options, format=events_format)
        notes = (*notes, *table.notes)
    with progress() as bar:
        summary = formats.inspect(
            recordings,
            table,
            intervals=intervals,
            values=not quick,
            progress=advance(bar, "reading"),
        )
    if json:
        print_json({**summary.to_dict(), "notes": [*notes]})
        return
    rows: list[tuple[str, str]] = []
    if summary.recordings is not None:
        rows += _recording_rows(summary.recordings)
        notes = (*notes, *summary.recordings.notes)
    if summary.events is not None:
        rows += _event_rows(summary.events)
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        out.print(f"{name:<{width}}  {text}", markup=False, soft_wrap=True)
    for note in notes:
        out.print(f"note: {note}", markup=False, soft_wrap=True)


def _recording_rows(summary: RecordingSummary) -> list[tuple[str, str]]:
    rates = ", ".join(
        f"every {float(period):g} s ({1 / float(period):g} Hz) x {count:,}"
        for period, count in summary.periods.items()
    )
    names = [
        name if count == summary.recordings else f"{name} (in {count:,})"
        for name, count in summary.channels.items()
    ]
    shortest, longest = summary.shortest_hours, summary.longest_hours
    return [
        ("recordings", f"{summary.recordings:,}"),
        ("hours", f"{summary.hours:,.2f} (shortest {shortest:.3g}, longest {longest:.3g})"),
        ("rates", rates),
        ("channels", f"{len(names)}: {', '.join(names)}"),
        ("start known", f"{summary.with_start:,}"),
        ("groups", f"{summary.groups:,} (largest {summary.largest_group:,})"),
        ("missing", "not read" if summary.missing is None else f"{summary.missing:.3%}"),
    ]


def _event_rows(summary: EventSummary) -> list[tuple[str, str]]:
    rows = [("events", f"{summary.events:,}{' (scored)' if summary.scored else ''}")]
    rows += [(f"  {name}", f"{count:,}") for name, count in summary.types.items()]
    if summary.outside is not None and summary.unknown_recordings is not None:
        rows.append(("events outside", f"{summary.outside:,}"))
        unknown = ", ".join(summary.unknown_recordings[:3])
        count = len(summary.unknown_recordings)
        rows.append(("unknown recordings", f"{count:,}" + (f" ({unknown})" if count else "")))
        rows.append(("without events", f"{summary.recordings_without_events:,} recordings"))
    rows.append(("duplicates", f"{summary.duplicates:,}"))
    if summary.closest_seconds is not None and summary.closest_types is not None:
        types = " and ".join(summary.closest_types)
        pair = f"{summary.closest_seconds:g} s ({types} in {summary.closest_recording})"
        rows.append(("closest pair", pair))
    rows += [
        (
            f"{name} lasts",
            f"{told.shortest:g} to {told.longest:g} s, median {told.median:g} ({told.intervals:,})",
        )
        for name, told in summary.durations.items()
    ]
    if summary.dropped:
        rows.append(("rows left out", f"{summary.dropped:,} without a time or score"))
    return rows
