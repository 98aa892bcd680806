"""Commands on labels: ``review`` lists doubtful ones, ``explore`` shows and corrects them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Context, Option, Typer

from bdl.cli.console import err, out, print_json
from bdl.cli.labelled_data import LABEL_OPTIONS, LabelledData, LabelOptions, find_labelled
from bdl.cli.numbers import DURATION, PORT, TOLERANCE
from bdl.cli.options import (
    Intervals,
    Json,
    ScoreThreshold,
    TableOut,
    interval_types,
    refuse_options,
    takes,
)
from bdl.cli.recording_options import EVENT_OPTIONS
from bdl.cli.sources import SOURCE_OPTIONS
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table

    from bdl.review import Agreement, ReviewQueue

commands = Typer()


@commands.command(
    epilog="Example: `bdl review --events labels.csv --densities densities --tolerance 60`"
)
@takes(labels=LABEL_OPTIONS)
def review(
    target: TableOut = None,
    tolerance: Annotated[
        list[float] | None,
        Option(
            parser=TOLERANCE,
            help="Seconds within which labels and model agree; the first is for the queue, "
            "further ones are for the agreement of annotators.",
        ),
    ] = None,
    reach: Annotated[
        float | None,
        Option(
            parser=TOLERANCE,
            help="Largest distance from a label to its detection (s). [default: 5 tolerances]",
        ),
    ] = None,
    threshold: ScoreThreshold = 0.5,
    margin: Annotated[
        float | None,
        Option(
            parser=DURATION,
            help="Scores this much below --threshold, or less, are uncertain. [default: a fifth]",
        ),
    ] = None,
    json: Json = False,
    *,
    labels: LabelOptions,
    context: Context,
) -> None:
    """List doubtful labels, the most likely errors first.

    Labels are compared with the densities or detections of a model, or with the table of another
    annotator (a second --events); then their agreement is shown as well.
    """
    from bdl.formats.table_writing import check_table_output, write_table

    if target is not None:
        check_table_output(target)
    _refuse_unused(context, labels)
    data = find_labelled(labels)
    if not data.has_model:
        refuse_options(context, ("threshold", "margin"), "without --densities or --detections")
    tolerances = tuple(tolerance or ()) or data.tolerances[-1:]
    if data.events is None:
        raise ConfigError("--events is missing: the table of labels")
    if not tolerances:
        raise ConfigError("--tolerance is missing: seconds within which labels and model agree")
    queue, annotator_agreement = _compared(data, tolerances, reach, threshold, margin)
    if target is not None:
        write_table(queue.to_frame("pyarrow"), target)
    if json:
        rows = None if annotator_agreement is None else [*map(_plain, annotator_agreement.rows)]
        print_json({"items": len(queue), **queue.counts(), "agreement": rows})
        return
    _show(queue, annotator_agreement)
    if target is not None:
        err.print(f"{len(queue):,} items: {target}")


@commands.command(
    epilog="Example: `bdl explore --recordings store --events events.csv --detections found.csv`"
)
@takes(labels=LABEL_OPTIONS)
def explore(
    tolerance: Annotated[
        float | None,
        Option(
            parser=TOLERANCE,
            help="Seconds within which labels and model agree. [default: proposed]",
        ),
    ] = None,
    threshold: ScoreThreshold = 0.5,
    interval: Intervals = None,
    journal: Annotated[
        Path | None, Option(help="File of the edits. [default: in the folder of the labels]")
    ] = None,
    index: Annotated[
        Path | None, Option(help="Folder of the tiles. [default: in the folder of the recordings]")
    ] = None,
    target: Annotated[
        Path | None,
        Option("--out", help="Write the corrected table and its change log here, and exit."),
    ] = None,
    to: Annotated[str, Option("--to", help="Format of --out.")] = "bdl",
    port: Annotated[int, Option(parser=PORT, help="Port of this machine; 0 for a free one.")] = 0,
    browser: Annotated[
        bool, Option("--browser/--no-browser", help="Open the default browser.")
    ] = True,
    *,
    labels: LabelOptions,
    context: Context,
) -> None:
    """Look at recordings, correct labels, work through a review queue.

    The page is served to browsers of this machine only; the address with its token is the first
    line that is printed. Edits go to a journal at once, and the table is never changed: --out,
    or a button of the page, writes a corrected one.
    """
    from bdl.explore import export, open_session, serve

    _refuse_unused(context, labels)
    if target is None:
        refuse_options(context, ("to",), "without --out")
    else:
        refuse_options(context, ("port", "browser", "index"), "with --out")
    data = find_labelled(labels)
    if not data.has_model:
        refuse_options(context, ("threshold",), "without --densities or --detections")
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
        intervals=interval_types(interval) or data.intervals,
        tolerance=tolerance or max(data.tolerances, default=None),
        threshold=threshold,
        index=index or data.home.with_name(f"{data.home.name}.tiles"),
    ) as session:
        if target is not None:
            log = export(session, target, format=to)
            err.print(f"{target}, and its changes: {log}")
            return

        def announce(address: str) -> None:
            print(address, flush=True)
            err.notes((*data.notes, *session.labels.journal.notes))
            err.print("Press Ctrl+C to stop; every edit is saved immediately.")

        serve(session, port=port, browser=browser, announce=announce)


def _refuse_unused(context: Context, labels: LabelOptions) -> None:
    """Raise an error for options of recordings or tables that are not given."""
    if labels.source is None and labels.recordings is None and labels.dataset is None:
        # The period and the order of dates hold for tables of events, too.
        names = {*SOURCE_OPTIONS.parameters()} - {"period", "date_order"}
        refuse_options(context, names, "without --recordings or --dataset")
    if not labels.events:
        refuse_options(context, EVENT_OPTIONS.parameters(), "without --events")


def _compared(
    data: LabelledData,
    tolerances: tuple[float, ...],
    reach: float | None,
    threshold: float,
    margin: float | None,
) -> tuple[ReviewQueue, Agreement | None]:
    from bdl.review import Item, ReviewQueue, agreement, disagreements, review

    assert data.events is not None
    items: list[Item] = []
    if data.has_model:
        items += review(
            data.events,
            densities=(data.densities[id] for id in data.densities),
            detections=data.detections,
            tolerance=tolerances[0],
            reach=reach,
            threshold=threshold,
            margin=margin,
            recordings=data.recordings,
        )
    elif not data.others:
        raise ConfigError(
            "nothing to compare the labels with: give --densities, --detections, or a second "
            "table (--events)"
        )
    if not data.others:
        return ReviewQueue.of(items), None
    for name, other in data.others.items():
        items += disagreements(
            data.events, other, tolerance=tolerances[0], reach=reach, source=name
        )
    return ReviewQueue.of(items), agreement({"labels": data.events, **data.others}, tolerances)


def _show(queue: ReviewQueue, annotator_agreement: Agreement | None) -> None:
    if annotator_agreement is not None:
        names = ("first", "second", "event", "tolerance", "pairs", "F1", "bias", "median", "p95")
        table = _table(names, title="Agreement; differences in time in seconds")
        for row in annotator_agreement.rows:
            table.add_row(*(_text(row[name]) for name in names))
        out.print(table)
    counts = ", ".join(f"{kind} {count:,}" for kind, count in queue.counts().items())
    out.print(f"{len(queue):,} items: {counts}")
    table = _table(("kind", "recording", "event", "label (s)", "model (s)", "expected", "source"))
    for item in queue.items[:20]:
        times = ("" if time is None else f"{time:.6g}" for time in (item.label, item.model))
        expected = f"{item.expected:.3f}"
        table.add_row(item.kind, item.recording, item.event, *times, expected, item.source)
    if len(queue):
        out.print(table)
    if len(queue) > 20:
        out.print(f"the first 20 of {len(queue):,}; --out FILE writes all")


def _table(names: tuple[str, ...], title: str | None = None) -> Table:
    """A table without rules, whose names are folded where they are too long, never cut."""
    from rich.table import Column, Table

    columns = (Column(name, overflow="fold") for name in names)
    return Table(*columns, title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))


def _text(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    from bdl.evaluation.estimate import plain

    return {key: plain(value) if isinstance(value, float) else value for key, value in row.items()}
