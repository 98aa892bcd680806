"""The command that starts a project on the user's own data."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option, Typer

from bdl.cli.console import out, print_json
from bdl.cli.numbers import SECONDS
from bdl.cli.options import Json, Pattern, takes
from bdl.cli.recording_options import (
    EVENT_OPTIONS,
    RECORDING_OPTIONS,
    FormatName,
    counts_steps,
    read_event_table,
)
from bdl.config import read_yaml
from bdl.errors import ConfigError, InputError, some

if TYPE_CHECKING:
    from bdl.events import Events
    from bdl.proposal import Proposal
    from bdl.recording import Recordings

commands = Typer()
DETECTOR, FEATURES = ("tolerances", "window"), ("stride", "calendar")  # proposed settings


@commands.command(
    epilog="Example: `bdl new walks --recordings data/ --events events.csv --period 0.02`"
)
@takes(layout=RECORDING_OPTIONS, event_options=EVENT_OPTIONS)
def new(
    project: Annotated[Path, Argument(help="Folder to make.")],
    recordings: Annotated[str, Option(help="File, folder, glob or prepared store.")],
    events: Annotated[str, Option(help="Table of events.")],
    format: FormatName = None,
    pattern: Pattern = None,
    event_period: Annotated[
        float | None, Option(parser=SECONDS, help="Seconds per step, for event tables in steps.")
    ] = None,
    annotated: Annotated[
        Path | None,
        Option(
            help="Table of the annotated spans (recording, start, end): nothing outside them is "
            "learned or scored."
        ),
    ] = None,
    json: Json = False,
    *,
    layout: dict[str, Any],
    event_options: dict[str, Any],
) -> None:
    """Propose every setting from the data, and write a configuration."""
    from bdl.formats import read_annotated, read_recordings
    from bdl.formats.atomic_files import atomic
    from bdl.proposal import propose

    target = project / "bdl.yaml"
    if target.exists():
        raise ConfigError(f"{target}: exists already; choose another name")
    opened = read_recordings(recordings, format=format, pattern=pattern, **layout)
    if annotated is not None:
        opened = read_annotated(annotated, opened)
    if event_period is not None and not counts_steps(events, event_options):
        raise ConfigError(f"--event-period has no effect: {events} is not in steps")
    # --period is that of the recordings.
    event_layout = {**layout, "period": event_period}
    table = read_event_table(Path(events), opened, event_options, event_layout)
    notes = (*opened.notes, *table.notes, *_doubts(table, opened))
    out.notes(() if json else notes)
    proposal = propose(opened, table)
    lines = [
        "# Proposed from the data; edit any setting for which you know a better value.",
        _line("recordings", str(Path(recordings).resolve())),
        _line("events", str(Path(events).resolve())),
    ]
    optional = {
        "format": format,
        "pattern": pattern,
        "layout": layout or None,
        "event_period": event_period,
        "annotated": None if annotated is None else str(annotated.resolve()),
        **{f"event_{name}": value for name, value in event_options.items()},
    }
    lines += [_line(name, value) for name, value in optional.items() if value is not None]
    if proposal.intervals.value:
        intervals = [vars(interval) for interval in proposal.intervals.value]
        lines += [f"# {proposal.intervals.reason}", _line("intervals", intervals)]
    lines += ["# fast, best or paper: what the settings below change.", "preset: fast"]
    lines += ["detector:", *_settings(proposal, DETECTOR, "  ")]
    lines += ["  features:", *_settings(proposal, FEATURES, "    ")]
    with atomic(target) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if json:
        reasons = {name: getattr(proposal, name).reason for name in (*DETECTOR, *FEATURES)}
        summary = {"project": str(project), "config": read_yaml(target), "reasons": reasons}
        print_json({**summary, "notes": [*notes]})
        return
    out.print(target.read_text(encoding="utf-8"))
    groups = len({*opened.groups.values()})
    folds = f" --folds {groups}" if 1 < groups < 5 else ""  # fewer than the default
    out.print(f"Next: bdl evaluate {project}{folds}, then bdl fit {project}")


def _doubts(events: Events, recordings: Recordings) -> list[str]:
    """Return notes on events that cannot be learned from: of other recordings, or outside them."""
    from bdl.formats.event_recordings import outside

    unknown = [id for id in events.recordings if id not in recordings]
    notes = []
    if unknown:
        notes.append(
            f"events of {len(unknown)} recordings that are not among the {len(recordings)} given "
            f"({some(unknown)}), which training refuses: --incomplete drop leaves them out"
        )
    lost = int(outside(events, recordings).sum())
    cause = (
        "are their times seconds from the start? A unit may follow the name of their column, as in "
        "Time (ms); sample numbers are named by --column sample=NAME"
    )
    if lost and lost == len(events.select(recordings=recordings.ids)):
        raise InputError(f"all {lost:,} events are outside their recordings: {cause}")
    if lost:
        notes.append(
            f"{lost:,} of {len(events):,} events are outside their recordings and are left out: "
            f"{cause}"
        )
    return notes


def _settings(proposal: Proposal, names: tuple[str, ...], indent: str) -> list[str]:
    """Return proposed settings as lines of YAML, with the reason above each."""
    proposed = {name: getattr(proposal, name) for name in names}
    return [
        line
        for name, setting in proposed.items()
        for line in (f"{indent}# {setting.reason}", _line(f"{indent}{name}", setting.value))
    ]


def _line(name: str, value: Any) -> str:
    """Return a line of YAML; JSON is YAML."""
    return f"{name}: {json_text.dumps(value, ensure_ascii=False)}"
