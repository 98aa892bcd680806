"""Options that describe recordings and event tables: their format, and its options.

The options are the fields of all registered formats, third-party ones included. They arrive as a
dictionary of those that were given, for `bdl.formats.read_recordings`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from bdl.cli.generated_options import Fields
from bdl.formats.events import EventFormat
from bdl.formats.events.event_table import EventTable
from bdl.formats.recordings import RecordingFormat

if TYPE_CHECKING:
    from bdl.events import Events
    from bdl.recording import Recordings


def recording_formats() -> list[str]:
    """Names of all recording formats, for completion in the shell."""
    return [*RecordingFormat.kinds()]


def event_formats() -> list[str]:
    """Names of all event formats, for completion in the shell."""
    return [*EventFormat.kinds()]


FormatName = Annotated[
    str | None,
    Option(
        "--format",
        help=f"Format of the recordings: {', '.join(recording_formats())}. Recognised by the "
        "suffix, or by the files of a folder, if it is not given.",
        autocompletion=recording_formats,
    ),
]
EventsFormat = Annotated[
    str | None,
    Option(
        "--events-format",
        help=f"Format of the events: {', '.join(event_formats())}. Recognised by suffix and "
        "columns if it is not given.",
        autocompletion=event_formats,
    ),
]
RECORDING_OPTIONS = Fields(RecordingFormat)
# Those of our own event table; dates are in the order of the recordings' dates.
EVENT_OPTIONS = Fields(EventTable, without=("kind", "intervals", "date_order"))


def counts_steps(path: str | Path, options: dict[str, Any] | None = None) -> bool:
    """Whether the format of a table of events has a period; ``options`` are `EVENT_OPTIONS`."""
    from bdl.formats.event_files import recognise
    from bdl.formats.event_places import event_places
    from bdl.formats.format_options import option_names

    formats = [recognise(place, options or {}) for place in event_places(path, None)]
    return any("period" in option_names(type(format)) for format in formats)


def read_event_table(
    path: Path,
    recordings: Recordings | None,
    options: dict[str, Any],
    layout: dict[str, Any],
    *,
    format: str | None = None,
    **defaults: Any,
) -> Events:
    """Read events with the given `EVENT_OPTIONS`, on the clocks of the recordings.

    The period and the order of dates are those of the given `RECORDING_OPTIONS`, the ``layout``;
    ``defaults`` are used if the format has them.
    """
    from bdl.formats import read_events

    defaults |= {name: layout.get(name) for name in ("period", "date_order")}
    return read_events(path, format=format, recordings=recordings, defaults=defaults, **options)
