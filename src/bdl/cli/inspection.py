"""The command that shows what recordings and events contain."""

from __future__ import annotations

import textwrap
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option, Typer

from bdl.cli.console import out, print_json, progress, width
from bdl.cli.dataset_options import DatasetName, DatasetOptions, named_dataset
from bdl.cli.option_types import parse_yaml_option
from bdl.cli.options import Intervals, Json, Pattern, interval_types, refuse_options, takes
from bdl.cli.recording_options import (
    EVENT_OPTIONS,
    RECORDING_OPTIONS,
    EventsFormat,
    FormatName,
    read_event_table,
)
from bdl.config import validate
from bdl.errors import ConfigError
from bdl.text_tables import WIDTH, duration_text
from bdl.workers import Workers

if TYPE_CHECKING:
    from bdl.events import Events
    from bdl.formats.event_summary import EventSummary
    from bdl.formats.inspect import RecordingSummary
    from bdl.recording import Recordings

commands = Typer()
SHOWN = 5  # channels of recordings of each kind of bad data


@commands.command(epilog="Example: `bdl inspect recordings/ --period 0.02 --events events.csv`")
@takes(options=RECORDING_OPTIONS, event_options=EVENT_OPTIONS, workers=Workers)
def inspect(
    source: Annotated[
        Path | None, Argument(help="Recordings: a file, folder, glob or prepared store.")
    ] = None,
    events: Annotated[Path | None, Option(help="Events of these recordings.")] = None,
    events_format: EventsFormat = None,
    interval: Intervals = None,
    dataset: DatasetName = None,
    option: DatasetOptions = None,
    format: FormatName = None,
    pattern: Pattern = None,
    *,
    options: dict[str, Any],
    event_options: dict[str, Any],
    quality: Annotated[
        Any,
        Option(
            parser=parse_yaml_option,
            metavar="VALUE",
            help="Stretches of bad data to look for, such as '{flat: 60, clipped: 0.1, "
            "repeated: 1, non_wear: {}}' in seconds. [default: all kinds]",
        ),
    ] = None,
    quick: Annotated[bool, Option("--quick", help="Do not read the values.")] = False,
    json: Json = False,
    workers: dict[str, Any],
    context: Context,
) -> None:
    """Show what recordings and events contain, and what looks wrong."""
    from bdl import formats
    from bdl.quality import Quality

    if quick and quality is not None:
        raise ConfigError("--quality has no effect with --quick, which does not read the values")
    if Workers(**workers).here:
        refuse_options(context, ("threads",), "with one worker process (--jobs)")
    _refuse_unused(context, source, dataset, events)
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
            source,
            format=format,
            pattern=pattern,
            invalid="skip",
            workers=Workers(**workers),
            **options,
        )
    if dataset is None and events is not None:
        table = read_event_table(events, recordings, event_options, options, format=events_format)
        notes = (*notes, *table.notes)
    with progress() as report:
        summary = formats.inspect(
            recordings,
            table,
            intervals=intervals,
            values=not quick,
            quality=None if quality is None else validate(Quality, quality, "--quality"),
            progress=partial(report, "reading"),
            workers=Workers(**workers),
        )
    if json:
        print_json({**summary.to_dict(), "notes": [*notes]})
        return
    rows: list[tuple[str, str]] = []
    if summary.recordings is not None:
        rows += _recording_rows(summary.recordings) + _quality_rows(summary.recordings)
        notes = (*notes, *summary.recordings.notes)
    if summary.events is not None:
        rows += _event_rows(summary.events)
    names = max(len(name) for name, _ in rows)
    room = max((width() or WIDTH) - names - 2, 40)
    for name, text in rows:
        lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
        wrapped = f"\n{' ' * (names + 2)}".join(lines)
        out.print(f"{name:<{names}}  {wrapped}")
    out.notes(notes)


def _refuse_unused(
    context: Context, source: Path | None, dataset: str | None, events: Path | None
) -> None:
    """Raise an error for options of data that are not given."""
    of_recordings, of_events = (
        {"format", "pattern", *RECORDING_OPTIONS.parameters()},
        {"events_format", *EVENT_OPTIONS.parameters()},
    )
    if dataset is not None:
        refuse_options(context, {"events", *of_recordings, *of_events}, "with --dataset")
        return
    refuse_options(context, ("option",), "without --dataset")
    if events is None:
        refuse_options(context, {"interval", *of_events}, "without --events")
    if source is None:
        # The period and the order of dates hold for tables of events, too.
        names = {"quality", "quick", *of_recordings, *Workers.model_fields} - {
            "period",
            "date_order",
        }
        refuse_options(context, names, "without recordings")


def _recording_rows(summary: RecordingSummary) -> list[tuple[str, str]]:
    rates = ", ".join(
        f"every {float(period):g} s ({1 / float(period):g} Hz) x {count:,}"
        for period, count in summary.periods.items()
    )
    names = [
        f"{name}{_unit(summary.units.get(name, {}))}"
        + ("" if count == summary.recordings else f" (in {count:,})")
        for name, count in summary.channels.items()
    ]
    total, shortest, longest = (
        duration_text(3600 * hours)
        for hours in (summary.hours, summary.shortest_hours, summary.longest_hours)
    )
    return [
        ("recordings", f"{summary.recordings:,}"),
        ("length", f"{total} (shortest {shortest}, longest {longest})"),
        ("rates", rates),
        ("channels", f"{len(names)}: {', '.join(names)}"),
        ("start known", f"{summary.with_start:,}"),
        ("groups", f"{summary.groups:,} (largest {summary.largest_group:,})"),
        ("missing", "not read" if summary.missing is None else f"{summary.missing:.3%}"),
    ]


def _unit(counts: dict[str, int]) -> str:
    """The unit of a channel, or all of them with the number of recordings."""
    if len(counts) < 2:
        return "".join(f" in {unit}" for unit in counts)
    return " in " + " or ".join(f"{unit} (x {count:,})" for unit, count in counts.items())


def _quality_rows(summary: RecordingSummary) -> list[tuple[str, str]]:
    """Kinds of bad data with the recordings that have most of it."""
    rows = []
    by_share = sorted(summary.quality or (), key=lambda row: row.share, reverse=True)
    for kind in dict.fromkeys(row.kind for row in summary.quality or ()):
        stretches = [row for row in by_share if row.kind == kind]
        count = len({row.recording for row in stretches})
        rows.append((kind.replace("_", "-"), f"in {count:,} of {summary.recordings:,} recordings"))
        rows += [
            (
                f"  {row.recording}",
                f"{row.channel or 'all channels'}: {row.share:.3%}, longest "
                f"{duration_text(row.longest_seconds)}",
            )
            for row in stretches[:SHOWN]
        ]
        if len(stretches) > SHOWN:
            rows.append(("  ...", f"{len(stretches) - SHOWN:,} more (--json lists all)"))
    return rows


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
        pair = f"{duration_text(summary.closest_seconds)} ({types} in {summary.closest_recording})"
        rows.append(("closest pair", pair))
    rows += [
        (
            f"{name} lasts",
            f"{duration_text(durations.shortest)} to {duration_text(durations.longest)}, "
            f"median {duration_text(durations.median)} ({durations.intervals:,})",
        )
        for name, durations in summary.durations.items()
    ]
    if summary.dropped:
        rows.append(("rows left out", f"{summary.dropped:,} without a time or score"))
    return rows
