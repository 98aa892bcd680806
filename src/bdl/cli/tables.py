"""Commands on event tables and recordings: convert, inspect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bdl.cli.console import err, out, print_json, progress
from bdl.cli.dataset_options import DatasetOptions, SourceDataset, named_dataset
from bdl.cli.options import (
    Format,
    Intervals,
    Json,
    Period,
    TableLayout,
    Written,
    advance,
    interval_types,
    takes,
)
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl.events import Events
    from bdl.formats.inspect import Summary
    from bdl.recording import Recordings

commands = typer.Typer()


@commands.command(
    epilog="Example: `bdl convert train_events.csv events.parquet --from kaggle --period 5`"
)
def convert(
    source: Annotated[Path, typer.Argument(help="Events: a file, or a folder (BIDS, EDF, WFDB).")],
    target: Annotated[Path, typer.Argument(help="File to write, or a folder for BIDS.")],
    from_: Annotated[
        Format | None, typer.Option("--from", help="Format; told by suffix and columns if left out")
    ] = None,
    to: Annotated[Written, typer.Option("--to", help="Format to write.")] = "bdl",
    period: Period = None,
    interval: Intervals = None,
    recordings: Annotated[
        Path | None, typer.Option(help="Recordings, to list those without events as well.")
    ] = None,
    drop_scores: Annotated[
        bool, typer.Option("--drop-scores", help="Write without scores where a format has none.")
    ] = False,
    json: Json = False,
) -> None:
    """Translate events between our own table, Kaggle, BIDS, seizure and DCASE tables.

    Annotations of EDF and WFDB files can be read, too. The target is written whole or not at all.
    """
    from bdl.formats import read_events, read_recordings, write_events

    kinds = interval_types(interval) or None
    events = read_events(source, format=from_, period=period, intervals=kinds)
    known = read_recordings(recordings) if recordings is not None else None
    write_events(
        events,
        target,
        format=to,
        period=period,
        intervals=kinds,
        recordings=known,
        drop_scores=drop_scores,
    )
    if json:
        print_json({"events": len(events), "dropped": events.dropped, "target": str(target)})
        return
    out.print(repr(events), markup=False)
    if events.dropped:
        err.print(f"{events.dropped:,} rows without a time or score were left out")


@commands.command(epilog="Example: `bdl inspect recordings/ --period 0.02 --events events.csv`")
@takes(layout=TableLayout)
def inspect(
    source: Annotated[
        Path | None, typer.Argument(help="Recordings: a file, folder, glob or prepared store.")
    ] = None,
    events: Annotated[Path | None, typer.Option(help="Events of these recordings.")] = None,
    events_format: Annotated[Format | None, typer.Option(help="Format of the events.")] = None,
    dataset: SourceDataset = None,
    option: DatasetOptions = None,
    *,
    layout: TableLayout,
    quick: Annotated[bool, typer.Option("--quick", help="Do not read the values.")] = False,
    json: Json = False,
) -> None:
    """Tell what recordings and events hold: hours, rates, channels, gaps, types, what is odd."""
    from bdl import formats

    notes: tuple[str, ...] = ()
    if dataset is not None:
        if source is None:
            raise ConfigError("--dataset needs the folder of the data set as argument")
        loaded = named_dataset(dataset, option).load(source)
        found: Recordings | None = loaded.recordings
        table: Events | None = loaded.events
        notes = loaded.notes
    else:
        if source is None and events is None:
            raise ConfigError("give recordings, --events, or both")
        found = None if source is None else layout.read(source)
        table = None
        if events is not None:
            table = formats.read_events(events, format=events_format, period=layout.period)
    with progress() as bar:
        told = formats.inspect(found, table, values=not quick, progress=advance(bar, "reading"))
    if json:
        print_json({**told.to_dict(), "notes": [*notes]})
    else:
        _print_summary(told, notes)


def _print_summary(told: Summary, notes: tuple[str, ...]) -> None:
    rows: list[tuple[str, str]] = []
    if told.recordings is not None:
        one = told.recordings
        rates = ", ".join(
            f"every {float(period):g} s ({1 / float(period):g} Hz) x {count:,}"
            for period, count in one.periods.items()
        )
        names = [
            name if count == one.recordings else f"{name} (in {count:,})"
            for name, count in one.channels.items()
        ]
        rows += [
            ("recordings", f"{one.recordings:,}"),
            (
                "hours",
                f"{one.hours:,.2f} (shortest {one.shortest_hours:.3g}, longest "
                f"{one.longest_hours:.3g})",
            ),
            ("rates", rates),
            ("channels", f"{len(names)}: {', '.join(names)}"),
            ("start known", f"{one.with_start:,}"),
            ("groups", f"{one.groups:,} (largest {one.largest_group:,})"),
            ("missing", "not read" if one.missing is None else f"{one.missing:.3%}"),
        ]
        notes = (*notes, *one.notes)
    if told.events is not None:
        rows += _event_rows(told)
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        out.print(f"{name:<{width}}  {text}", markup=False, soft_wrap=True)
    for note in notes:
        out.print(f"note: {note}", markup=False, soft_wrap=True)


def _event_rows(told: Summary) -> list[tuple[str, str]]:
    some = told.events
    assert some is not None
    rows = [("events", f"{some.events:,}{' (scored)' if some.scored else ''}")]
    rows += [(f"  {name}", f"{count:,}") for name, count in some.types.items()]
    if some.outside is not None and some.unknown_recordings is not None:
        rows.append(("events outside", f"{some.outside:,}"))
        unknown = ", ".join(some.unknown_recordings[:3])
        count = len(some.unknown_recordings)
        rows.append(("unknown recordings", f"{count:,}" + (f" ({unknown})" if count else "")))
        rows.append(("without events", f"{some.recordings_without_events:,} recordings"))
    rows.append(("duplicates", f"{some.duplicates:,}"))
    if some.closest_seconds is not None and some.closest_types is not None:
        rows.append(
            (
                "closest pair",
                f"{some.closest_seconds:g} s ({' and '.join(some.closest_types)} in "
                f"{some.closest_recording})",
            )
        )
    if some.dropped:
        rows.append(("rows left out", f"{some.dropped:,} without a time or score"))
    return rows
