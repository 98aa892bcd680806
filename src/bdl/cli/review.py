"""The command that lists doubtful labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option, Typer

from bdl.cli.console import err, out, print_json
from bdl.cli.labelled_data import LABEL_OPTIONS, LabelledData, LabelOptions, find_labelled
from bdl.cli.numbers import DURATION, TOLERANCE
from bdl.cli.options import Cutoff, Json, TableOut, takes
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
            help="Seconds within which both may mean the same event. Default: 5 tolerances.",
        ),
    ] = None,
    cutoff: Cutoff = 0.5,
    margin: Annotated[
        float | None,
        Option(
            parser=DURATION,
            help="Scores at most this much below the cutoff are uncertain. Default: a fifth of it.",
        ),
    ] = None,
    json: Json = False,
    *,
    labels: LabelOptions,
) -> None:
    """List doubtful labels, the most likely errors first.

    Labels are compared with the densities or detections of a model, or with the table of another
    annotator (a second --events); then their agreement is shown as well.
    """
    from bdl.formats.table_writing import check_table_output, write_table

    if target is not None:
        check_table_output(target)
    data = find_labelled(labels)
    tolerances = tuple(tolerance or ()) or data.tolerances[-1:]
    if data.events is None:
        raise ConfigError("--events is missing: the table of labels")
    if not tolerances:
        raise ConfigError("--tolerance is missing: seconds within which labels and model agree")
    queue, agreed = _compared(data, tolerances, reach, cutoff, margin)
    if target is not None:
        write_table(queue.to_frame("pyarrow"), target)
    if json:
        rows = None if agreed is None else [*map(_plain, agreed.rows)]
        print_json({"items": len(queue), **queue.counts(), "agreement": rows})
        return
    _show(queue, agreed)
    if target is not None:
        err.print(f"{len(queue):,} items: {target}")


def _compared(
    data: LabelledData,
    tolerances: tuple[float, ...],
    reach: float | None,
    cutoff: float,
    margin: float | None,
) -> tuple[ReviewQueue, Agreement | None]:
    from bdl.review import Item, ReviewQueue, agreement, disagreements, review

    assert data.events is not None
    items: list[Item] = []
    if data.densities or data.detections is not None:
        items += review(
            data.events,
            densities=(data.densities[id] for id in data.densities),
            detections=data.detections,
            tolerance=tolerances[0],
            reach=reach,
            cutoff=cutoff,
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


def _show(queue: ReviewQueue, agreed: Agreement | None) -> None:
    if agreed is not None:
        names = ("first", "second", "event", "tolerance", "pairs", "F1", "bias", "median", "p95")
        table = _table(names, title="Agreement; differences in time in seconds")
        for row in agreed.rows:
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
