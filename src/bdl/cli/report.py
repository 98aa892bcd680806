"""Commands that show results: the demonstration and the report page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bdl.cli.console import err, out, print_json
from bdl.cli.options import Fields, Json, takes
from bdl.cli.sources import EventFree, find_source
from bdl.errors import ConfigError, InputError
from bdl.training import Training

if TYPE_CHECKING:
    from bdl.report import Content, System

commands = typer.Typer()


@commands.command(epilog="Example: `bdl demo --out demo`")
@takes(training=Fields(Training, without=tuple({*Training.model_fields} - {"epochs", "seed"})))
def demo(
    folder: Annotated[Path, typer.Option("--out", help="Folder for everything it makes.")] = Path(
        "demo"
    ),
    recordings: Annotated[int, typer.Option(help="How many recordings to simulate.")] = 40,
    days: Annotated[float, typer.Option(help="Days per recording.")] = 7.0,
    json: Json = False,
    *,
    training: dict[str, Any],
) -> None:
    """A demonstration: simulate, train two detectors, calibrate, score held-out recordings."""
    from rich.table import Table

    from bdl.demo import DemoSettings, run

    defaults = DemoSettings()
    settings = defaults.replace(
        recordings=recordings, days=days, training=defaults.training.replace(**training)
    )
    result = run(folder, settings, say=lambda text: err.print(f"• {text}"), progress=not json)
    head, *rows = _summary_rows(result.content)
    if json:
        named = [dict(zip(head, row, strict=True)) for row in rows]
        print_json({"systems": named, "report": str(result.page)})
        return
    table = Table(*head, title="Held-out recordings, with 95 % confidence intervals")
    for row in rows:
        # The interval below its value, so that the table fits a narrow terminal.
        table.add_row(*(cell.replace(" [", "\n[") for cell in row))
    out.print(table)
    out.print(f"Report: {result.page}")


def _summary_rows(content: Content) -> list[list[str]]:
    """Heading, and one row per system: scores with intervals, and the paired difference."""
    from bdl.report.estimates import estimate_text
    from bdl.report.summary import summarise

    systems = summarise(content)
    strict = f"AP at {min(content.tolerances):g} s"
    head = ["system", "mAP", strict, "F1", "median error", f"mAP of {systems[0].name} minus"]
    rows = [
        [
            system.name,
            estimate_text(system.ap["mAP"]),
            estimate_text(system.strict),
            f"{system.best_f1:.3f}",
            system.median_error,
            "" if system.difference is None else estimate_text(system.difference),
        ]
        for system in systems
    ]
    return [head, *rows]


@commands.command(
    epilog="Example: `bdl report mine.csv theirs.csv --truth truth.csv --tolerance 60`"
)
def report(
    sources: Annotated[
        list[Path], typer.Argument(help="Tables of detections, or the folder of a study.")
    ],
    target: Annotated[Path, typer.Option("--out", help="Page to write.")] = Path("report.html"),
    truth: Annotated[Path | None, typer.Option(help="Table of annotated events.")] = None,
    tolerance: Annotated[list[float] | None, typer.Option(help="Seconds; may be repeated.")] = None,
    period: Annotated[float | None, typer.Option(help="Seconds a step, for Kaggle tables.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Data set that brings the signals.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of the data set.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="key=value for the data set.")] = None,
    recordings: Annotated[str | None, typer.Option(help="Recordings, for signals.")] = None,
    densities: Annotated[
        list[Path] | None,
        typer.Option(help="Folder of densities, one for each table of detections, in order."),
    ] = None,
    history: Annotated[
        list[Path] | None,
        typer.Option(help="History of a fit (MODEL.csv), one for each table, in order."),
    ] = None,
    event_free: Annotated[EventFree, typer.Option(help="Recordings without events.")] = "ignore",
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    bootstrap: Annotated[int, typer.Option(help="Replicates; 0 for no intervals.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Open a study's data even where it is a pickle.")
    ] = False,
) -> None:
    """Write a report: one HTML page that works offline."""
    from bdl.formats import read_events
    from bdl.report import Content, write_report

    if len(sources) == 1 and sources[0].is_dir():
        from bdl.report.study_content import study_content

        study = study_content(
            sources[0], data=data, title=title, replicates=bootstrap, trust=trust_pickle
        )
        out.print(str(write_report(study, target)))
        return
    source = None
    if dataset is not None or recordings is not None:
        source = find_source(
            dataset=dataset,
            data=data,
            option=option,
            recordings=recordings,
            events=None if truth is None else str(truth),
        )
    if truth is not None:
        annotated = read_events(truth, defaults={"period": period})
    elif source is not None and dataset is not None:
        annotated = source.events
    else:
        raise ConfigError("--truth expected: the table of annotated events")
    if tolerance is None and source is not None and source.benchmark is not None:
        tolerance = list(source.benchmark.tolerances)
    if not tolerance:
        raise ConfigError("--tolerance expected: seconds, once or more")
    content = Content(
        title=title or f"Detections of {', '.join(file.stem for file in sources)}",
        truth=annotated,
        systems=_systems(sources, period, densities or [], history or []),
        tolerances=tuple(tolerance),
        event_free=event_free,
        recordings=None if source is None else source.recordings,
        provenance={"truth": str(truth or data), "detections": ", ".join(map(str, sources))},
        seed=seed,
        replicates=bootstrap,
    )
    out.print(str(write_report(content, target)))


def _systems(
    sources: list[Path], period: float | None, densities: list[Path], histories: list[Path]
) -> tuple[System, ...]:
    from bdl.formats import read_events
    from bdl.formats.densities import read_densities
    from bdl.report import System

    for name, given in (("--densities", densities), ("--history", histories)):
        if given and len(given) != len(sources):
            raise ConfigError(f"{name}: one for each of {len(sources)} tables, got {len(given)}")
    systems = []
    for i, file in enumerate(sources):
        found = read_events(file, defaults={"period": period, "missing": "drop"})
        if found.score is None:
            raise InputError(f"{file}: detections need a column 'score'")
        dense = {d.recording: d for d in read_densities(densities[i])} if densities else {}
        curves = _history(histories[i]) if histories else {}
        systems.append(System(file.stem, found, dense, curves))
    return tuple(systems)


def _history(file: Path) -> dict[str, tuple[list[float], list[float]]]:
    """Loss and, where there was a validation part, its score, by epoch."""
    import polars as pl

    try:
        table = pl.read_csv(file)
        curves = {}
        for column, name in (("loss", "loss"), ("score", "validation mAP")):
            known = table.drop_nulls(column)
            if len(known):
                curves[name] = (known["epoch"].cast(float).to_list(), known[column].to_list())
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{file}: no history of a fit: {error}") from error
    return curves
