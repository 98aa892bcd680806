"""The command that translates events between formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, Typer

from bdl.cli.console import err, out, print_json
from bdl.cli.generated_options import Fields
from bdl.cli.options import Json, Pattern, takes
from bdl.cli.recording_options import EventsFormat, FormatName
from bdl.errors import ConfigError
from bdl.formats.events import EventFormat
from bdl.formats.recordings import RecordingFormat

commands = Typer()
_SHARED = ("period", "date_order")  # hold for the recordings as well as for the events


def written_formats() -> list[str]:
    """Names of the event formats that can be written."""
    return [name for name, kind in EventFormat.kinds().items() if kind.writes()]


WrittenFormat = Annotated[
    str | None,
    Option(
        help=f"Format to write: {', '.join(written_formats())}. [default: bdl, our table]",
        autocompletion=written_formats,
    ),
]


def _folder_formats() -> str:
    """Names of the event formats with one file per recording."""
    formats = {name: EventFormat.parse(name) for name in EventFormat.kinds()}
    return ", ".join(name for name, format in formats.items() if format.ending() is not None)


@commands.command(epilog="Example: `bdl convert train_events.csv --out events.parquet --period 5`")
@takes(options=Fields(EventFormat), layout=Fields(RecordingFormat, without=_SHARED))
def convert(
    source: Annotated[
        Path,
        Argument(
            help=f"Events: a file, or a folder with one file per recording ({_folder_formats()})."
        ),
    ],
    target: Annotated[
        Path,
        Option("--out", help="File to write, or a folder for formats with one file per recording."),
    ],
    events_format: EventsFormat = None,
    to: Annotated[
        str,
        Option(
            "--to",
            help=f"Format to write: {', '.join(written_formats())}.",
            autocompletion=written_formats,
        ),
    ] = "bdl",
    *,
    options: dict[str, Any],
    recordings: Annotated[
        Path | None,
        Option(
            help="Recordings, to place dates and times on their clocks, and to list those without "
            "events in formats that do so."
        ),
    ] = None,
    format: FormatName = None,
    pattern: Pattern = None,
    layout: dict[str, Any],
    json: Json = False,
) -> None:
    """Translate events between formats.

    Every file is written whole or not at all.
    """
    from bdl.formats import read_recordings
    from bdl.formats.event_files import convert_events

    opened, shared = None, {}
    if recordings is not None:
        # What was needed to read the recordings need not be an option of the event formats.
        shared = {name: options.pop(name) for name in _SHARED if name in options}
        layout |= shared
        opened = read_recordings(recordings, format=format, pattern=pattern, **layout)
    elif unused := [*layout, *(["format"] if format else []), *(["pattern"] if pattern else [])]:
        raise ConfigError(f"--{unused[0].replace('_', '-')} has no effect without --recordings")
    events = convert_events(
        source,
        target,
        source_format=events_format,
        target_format=to,
        recordings=opened,
        defaults=shared,
        **options,
    )
    if json:
        summary = {"events": len(events), "dropped": events.dropped, "target": str(target)}
        print_json({**summary, "notes": [*events.notes]})
        return
    out.print(repr(events))
    err.notes(events.notes)
