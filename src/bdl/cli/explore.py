"""The application to look at recordings and correct labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option, Typer

from bdl.cli.console import err
from bdl.cli.labelled_data import LABEL_OPTIONS, LabelOptions, find_labelled
from bdl.cli.numbers import PORT, TOLERANCE
from bdl.cli.options import Cutoff, takes
from bdl.errors import ConfigError

commands = Typer()


@commands.command(
    epilog="Example: `bdl explore --recordings store --events events.csv --detections found.csv`"
)
@takes(labels=LABEL_OPTIONS)
def explore(
    tolerance: Annotated[
        float | None,
        Option(
            parser=TOLERANCE, help="Seconds within which labels and model agree. Default: proposed."
        ),
    ] = None,
    cutoff: Cutoff = 0.5,
    journal: Annotated[
        Path | None, Option(help="File of the edits. Default: beside the table of labels.")
    ] = None,
    index: Annotated[
        Path | None, Option(help="Folder of the tiles. Default: beside the recordings.")
    ] = None,
    export_: Annotated[
        Path | None,
        Option("--export", help="Write the corrected table and its change log here, and exit."),
    ] = None,
    to: Annotated[str, Option("--to", help="Format of --export.")] = "bdl",
    port: Annotated[int, Option(parser=PORT, help="Port of this machine; 0 for a free one.")] = 0,
    browser: Annotated[
        bool, Option("--browser/--no-browser", help="Open the default browser.")
    ] = True,
    *,
    labels: LabelOptions,
) -> None:
    """Look at recordings, correct labels, work through a review queue.

    The page is served to browsers of this machine only; the address with its token is the first
    line that is printed. Edits go to a journal at once, and the table is never changed: --export,
    or a button of the page, writes a corrected one.
    """
    from bdl.explore import export, open_session, serve

    data = find_labelled(labels)
    if data.recordings is None:
        raise ConfigError(
            "one of a project or run directory, --recordings and --dataset expected, got none"
        )
    beside = data.table or data.home
    with open_session(
        data.recordings,
        data.events,
        journal=journal or beside.with_name(f"{beside.name}.journal"),
        table=data.table,
        others=data.others,
        detections=data.detections,
        densities=data.densities,
        intervals=data.intervals,
        tolerance=tolerance or max(data.tolerances, default=None),
        cutoff=cutoff,
        index=index or data.home.with_name(f"{data.home.name}.tiles"),
    ) as session:
        if export_ is not None:
            log = export(session, export_, format=to)
            err.print(f"{export_}, and its changes: {log}")
            return

        def say(address: str) -> None:
            print(address, flush=True)
            err.notes((*data.notes, *session.labels.journal.notes))
            err.print("Ctrl+C ends it; every edit is saved at once.")

        serve(session, port=port, browser=browser, say=say)
