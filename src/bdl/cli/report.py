"""The command that writes the report page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Context, Option, Typer

from bdl.cli.console import out, print_json
from bdl.cli.fit_config import CONFIG
from bdl.cli.numbers import SECONDS
from bdl.cli.options import (
    TOLERANCES,
    Bootstrap,
    BootstrapSeed,
    EventFreeRule,
    Json,
    TrustPickle,
    given_options,
    refuse_options,
    takes,
)
from bdl.cli.recording_options import counts_steps
from bdl.cli.sources import SOURCE_OPTIONS, SourceOptions, find_source
from bdl.errors import ConfigError, InputError

if TYPE_CHECKING:
    from bdl.report import System

commands = Typer()
OF_STUDIES = ("sources", "target", "data", "title", "trust_pickle", "json")


@commands.command(
    epilog="Example: `bdl report mine.csv theirs.csv --truth truth.csv --tolerance 60`"
)
@takes(signals=SOURCE_OPTIONS)
def report(
    sources: Annotated[
        list[str],
        Argument(
            help="Tables of detections, an evaluated project, or the run directory of a study."
        ),
    ],
    target: Annotated[Path, Option("--out", help="Page to write.")] = Path("report.html"),
    truth: Annotated[Path | None, Option(help="Table of annotated events.")] = None,
    tolerance: Annotated[list[float] | None, TOLERANCES] = None,
    period: Annotated[float | None, Option(parser=SECONDS, help="Seconds between samples.")] = None,
    densities: Annotated[
        list[Path] | None,
        Option(help="Folder of densities: one per table of detections, in the same order."),
    ] = None,
    history: Annotated[
        list[Path] | None,
        Option(help="History of a fit (MODEL.csv): one per table, in the same order."),
    ] = None,
    event_free: EventFreeRule = "ignore",
    title: Annotated[str | None, Option(help="Heading of the page.")] = None,
    bootstrap: Bootstrap = 1000,
    seed: BootstrapSeed = 0,
    trust_pickle: TrustPickle = False,
    json: Json = False,
    *,
    signals: SourceOptions,
    context: Context,
) -> None:
    """Write a report: one HTML page that works offline."""
    from bdl.formats import read_events
    from bdl.formats.files import known_path
    from bdl.formats.outputs import check_output
    from bdl.report import Content, write_report

    check_output(target)
    if len(sources) == 1 and ("://" in sources[0] or Path(sources[0]).is_dir()):
        from bdl.report.study_content import study_content

        others = given_options(context).keys() - {*OF_STUDIES}
        refuse_options(context, others, "on a report of a project or study, which has its own data")
        project = (Path(sources[0]) / CONFIG).is_file()
        study = study_content(
            f"{sources[0]}/evaluation" if project else sources[0],
            data=signals.data,
            title=title,
            trust=trust_pickle,
        )
        _print_path(write_report(study, target), json)
        return
    for name in sources:
        known_path(name)
        if "://" not in name and not Path(name).exists():
            raise InputError(
                f"{name}: no such file or folder; a run directory of `bdl evaluate` or `bdl study "
                "run`, or tables of detections expected"
            )
    refuse_options(context, ("trust_pickle",), "without the run directory of a study")
    if not bootstrap:
        refuse_options(context, ("seed",), "with --bootstrap 0")
    source = None
    if signals.recordings is None:
        if period is not None and not any(counts_steps(path) for path in (*sources, truth) if path):
            raise ConfigError(
                "--period has no effect: all tables are in seconds, and there are no --recordings"
            )
        if signals.dataset is None:
            names = {*SOURCE_OPTIONS.parameters()} - {"period"}
            refuse_options(context, names, "without --recordings or --dataset")
    if signals.recordings is not None and period is not None:
        signals = replace(signals, layout={**signals.layout, "period": period})
    if signals.dataset is not None or signals.recordings is not None:
        source = find_source(signals)
        if "event_free" not in given_options(context):
            event_free = source.event_free
    types = None
    if truth is not None:
        annotated = read_events(truth, defaults={"period": period})
    elif source is not None and source.benchmark is not None:
        annotated, types = source.events, source.types
    else:
        raise ConfigError("--truth is missing: the table of annotated events")
    if tolerance is None and source is not None and source.benchmark is not None:
        tolerance = list(source.benchmark.tolerances)
    if not tolerance:
        raise ConfigError("--tolerance is missing: matching tolerances in seconds")
    files = [Path(name) for name in sources]
    content = Content(
        title=title or f"Detections of {', '.join(file.stem for file in files)}",
        truth=annotated,
        systems=_systems(files, period, densities or [], history or []),
        tolerances=tuple(tolerance),
        types=types,
        event_free=event_free,
        recordings=None if source is None else source.recordings,
        provenance={"truth": str(truth or signals.data), "detections": ", ".join(sources)},
        seed=seed,
        replicates=bootstrap,
    )
    _print_path(write_report(content, target), json)


def _print_path(page: Path, json: bool) -> None:
    if json:
        print_json({"out": str(page), "bytes": page.stat().st_size})
    else:
        out.print(str(page))


def _systems(
    files: list[Path], period: float | None, densities: list[Path], histories: list[Path]
) -> tuple[System, ...]:
    from bdl.formats import read_events
    from bdl.formats.densities import read_densities
    from bdl.report import System

    for flag, paths in (("--densities", densities), ("--history", histories)):
        if paths and len(paths) != len(files):
            raise ConfigError(
                f"{flag}: one per table of detections expected ({len(files)}), got {len(paths)}"
            )
    systems = []
    for index, file in enumerate(files):
        detections = read_events(file, defaults={"period": period, "incomplete": "drop"})
        if detections.score is None:
            raise InputError(f"{file}: a table of detections needs a column 'score'")
        folder = read_densities(densities[index]) if densities else ()
        by_recording = {density.recording: density for density in folder}
        curves = _history(histories[index]) if histories else {}
        systems.append(System(file.stem, detections, by_recording, curves))
    return tuple(systems)


def _history(file: Path) -> dict[str, tuple[list[float], list[float]]]:
    """Loss by epoch and, if there was a validation part, its score."""
    import polars as pl

    try:
        table = pl.read_csv(file)
        curves = {}
        for column, name in (("loss", "loss"), ("score", "validation mAP")):
            rows = table.drop_nulls(column)
            if len(rows):
                curves[name] = (rows["epoch"].cast(float).to_list(), rows[column].to_list())
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{file}: not the history of a fit (columns epoch, loss, score): {error}"
        ) from error
    return curves
