"""Recordings with labels and the outputs of a model, as ``explore`` and ``review`` name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bdl.cli.options import Intervals, interval_types
from bdl.cli.recording_options import read_given_events
from bdl.cli.sources import FitSource, SourceOptions, find_source
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl.density import Density
    from bdl.events import Events
    from bdl.intervals import IntervalType
    from bdl.recording import Recordings

Plain = dict[str, Any]


@dataclass(frozen=True)
class LabelOptions:
    """Options that name labels and the outputs of a model."""

    events: Annotated[
        list[Path] | None,
        typer.Option(help="Table of labels; further ones are those of other annotators."),
    ] = None
    detections: Annotated[Path | None, typer.Option(help="Detections of a model.")] = None
    densities: Annotated[
        Path | None, typer.Option(help="Folder of densities, as bdl detect writes it.")
    ] = None
    interval: Intervals = None


@dataclass(frozen=True, eq=False)
class LabelledData:
    """What the options of a command name."""

    recordings: Recordings | None
    events: Events | None
    table: Path | None  # the file that the labels are in, if they are in one
    home: Path  # beside which files are written
    others: Mapping[str, Events] = field(default_factory=dict)
    detections: Events | None = None
    densities: Mapping[str, Density] = field(default_factory=dict)
    intervals: tuple[IntervalType, ...] | None = None
    tolerances: tuple[float, ...] = ()  # known from a configuration or a study
    notes: tuple[str, ...] = ()


def find_labelled(
    place: Path | None,
    source: SourceOptions,
    labels: LabelOptions,
    layout: Plain,
    event_options: Plain,
) -> LabelledData:
    """Read what is named: a project, a run directory, a data set, or recordings and tables."""
    named = [flag for flag, value in _sources(place, source).items() if value is not None]
    if len(named) > 1:
        raise ConfigError(
            f"one of a project or run directory, --recordings and --dataset expected, got "
            f"{' and '.join(named)}"
        )
    source_data = _find(place, source, layout)
    recordings = source_data.recordings
    tables = [*(labels.events or ())]
    read = [_read(path, recordings, event_options, layout) for path in tables]
    changes: Plain = {}
    if read:
        changes = {"events": read[0], "table": tables[0], "others": _named(tables[1:], read[1:])}
    if recordings is None and tables:
        changes["home"] = tables[0]
    if labels.detections is not None:
        changes["detections"] = _read(labels.detections, recordings, {}, layout, incomplete="drop")
        if changes["detections"].score is None:
            raise ConfigError(f"--detections {labels.detections}: a column 'score' is missing")
    if labels.densities is not None:
        from bdl.explore import DensityFolder

        changes["densities"] = DensityFolder(labels.densities)
    if labels.interval:
        changes["intervals"] = interval_types(labels.interval)
    notes = tuple(note for table in read for note in table.notes)
    return LabelledData(**{**vars(source_data), **changes, "notes": (*source_data.notes, *notes)})


def _sources(place: Path | None, source: SourceOptions) -> dict[str, Any]:
    return {
        "a project or run directory": place,
        "--recordings": source.recordings,
        "--dataset": source.dataset,
    }


def _find(place: Path | None, source: SourceOptions, layout: Plain) -> LabelledData:
    if place is not None:
        config = place / "bdl.yaml" if place.is_dir() else place
        if config.is_file():
            return _project(config, source, layout)
        return _study(place, source)
    if source.dataset is not None:
        source_data = find_source(source, layout)
        assert source.data is not None  # checked there
        return _of(source_data, source_data.events, None, source.data)
    if source.recordings is not None:
        source_data = find_source(source, layout)
        return _of(source_data, None, None, _home(source.recordings))
    return LabelledData(None, None, None, Path("labels"))


def _project(config: Path, source: SourceOptions, layout: Plain) -> LabelledData:
    from bdl.cli.fit_config import read_config

    source_data = find_source(source, layout, config=config)
    given = read_config(config)
    table = None if given.events is None else Path(given.events)
    tolerances = tuple(given.detector.get("tolerances") or ())
    events = None if table is None else source_data.events
    return _of(source_data, events, table, _home(given.recordings), tolerances)


def _study(place: Path, source: SourceOptions) -> LabelledData:
    from bdl.study.study_reader import StudyReader

    if not place.is_dir():
        raise ConfigError(f"{place}: a project of bdl new or a run directory of a study expected")
    study = StudyReader(place)
    if study.get_json("protocol.json") is None:
        raise ConfigError(
            f"{place}: neither a project of `bdl new` nor a run directory of `bdl evaluate` or "
            "`bdl study run`; a folder of recordings is named by --recordings"
        )
    benchmark = study.benchmark(source.data)
    row = next(row.name for row in study.protocol.rows if row.name in study.outputs.rows)
    test = study.outputs.test
    return LabelledData(
        benchmark.recordings.select(test),
        benchmark.events.select(recordings=test),
        None,
        place.resolve(),
        detections=study.detections(row),
        densities=study.densities(row),
        intervals=tuple(benchmark.intervals),
        tolerances=tuple(benchmark.settings.tolerances),
        notes=(f"detections and densities are those of {row}, in the test recordings",),
    )


def _of(
    source_data: FitSource,
    events: Events | None,
    table: Path | None,
    home: Path,
    tolerances: tuple[float, ...] = (),
) -> LabelledData:
    if source_data.benchmark is not None:
        tolerances = source_data.benchmark.tolerances
    return LabelledData(
        source_data.recordings,
        events,
        table,
        home,
        intervals=source_data.intervals,
        tolerances=tolerances,
        notes=source_data.notes,
    )


def _read(
    path: Path, recordings: Recordings | None, options: Plain, layout: Plain, **defaults: Any
) -> Events:
    from bdl.formats import read_events

    if defaults:
        shared = {name: layout.get(name) for name in ("period", "date_order")}
        return read_events(path, recordings=recordings, defaults={**shared, **defaults})
    return read_given_events(path, recordings, options, layout)


def _named(paths: list[Path], tables: list[Events]) -> dict[str, Events]:
    """Tables by the name of their file, without a folder or a suffix."""
    names = [path.stem for path in paths]
    unique = names if len({*names}) == len(names) else [str(path) for path in paths]
    return dict(zip(unique, tables, strict=True))


def _home(recordings: str) -> Path:
    """The path beside which files are written: that of the recordings, without a pattern."""
    path = Path(recordings)
    return path if path.exists() else path.parent / "recordings"
