"""Recordings with labels and the outputs of a model, as ``explore`` and ``review`` name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from bdl.cli.generated_options import NestedFields
from bdl.cli.recording_options import EVENT_OPTIONS, RECORDING_OPTIONS, read_event_table
from bdl.cli.sources import FitSource, SourceOptions, find_source
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from bdl.density import Density
    from bdl.events import Events
    from bdl.intervals import IntervalType
    from bdl.recording import Recordings

Plain = dict[str, Any]


@dataclass(frozen=True)
class LabelOptions(SourceOptions):
    """Options that name recordings, labels and the outputs of a model."""

    source: Annotated[
        Path | None, Argument(help="Project of bdl new, or run directory of a study.")
    ] = None
    events: Annotated[
        list[Path] | None,
        Option(help="Table of labels; further ones are those of other annotators."),
    ] = None
    detections: Annotated[Path | None, Option(help="Detections of a model.")] = None
    densities: Annotated[
        Path | None, Option(help="Folder of densities, as bdl detect writes it.")
    ] = None
    event_options: Plain = field(default_factory=dict)  # what was given of `EVENT_OPTIONS`


LABEL_OPTIONS = NestedFields(
    LabelOptions, {"layout": RECORDING_OPTIONS, "event_options": EVENT_OPTIONS}
)


@dataclass(frozen=True, eq=False)
class LabelledData:
    """Recordings, labels and outputs of a model that the options of a command name."""

    recordings: Recordings | None
    home: Path  # files are written to the folder that contains this path
    events: Events | None = None
    table: Path | None = None  # the file that the labels are in, if they are in one
    others: Mapping[str, Events] = field(default_factory=dict)  # of other annotators, by name
    detections: Events | None = None
    densities: Mapping[str, Density] = field(default_factory=dict)
    intervals: tuple[IntervalType, ...] | None = None
    tolerances: tuple[float, ...] = ()  # known from a configuration or a study
    notes: tuple[str, ...] = ()

    @property
    def has_model(self) -> bool:
        """Whether there are outputs of a model."""
        return bool(self.densities) or self.detections is not None


def find_labelled(options: LabelOptions) -> LabelledData:
    """Read what is named: a project, a run directory, a data set, or recordings and tables."""
    sources = {
        "a project or run directory": options.source,
        "--recordings": options.recordings,
        "--dataset": options.dataset,
    }
    flags = [flag for flag, value in sources.items() if value is not None]
    if len(flags) > 1:
        raise ConfigError(
            f"one of a project or run directory, --recordings and --dataset expected, got "
            f"{' and '.join(flags)}"
        )
    data = _find_recordings(options)
    recordings, layout = data.recordings, options.layout
    paths = [*(options.events or ())]
    tables = [read_event_table(path, recordings, options.event_options, layout) for path in paths]
    changes: Plain = {"notes": (*data.notes, *(note for table in tables for note in table.notes))}
    if tables:
        changes |= {"events": tables[0], "table": paths[0], "others": _named(paths[1:], tables[1:])}
    if recordings is None and tables:
        changes["home"] = paths[0]
    if options.detections is not None:
        detections = read_event_table(options.detections, recordings, {}, layout, incomplete="drop")
        if detections.score is None:
            raise ConfigError(f"--detections {options.detections}: a column 'score' is missing")
        changes["detections"] = detections
    if options.densities is not None:
        from bdl.explore import DensityFolder

        changes["densities"] = DensityFolder(options.densities)
    return replace(data, **changes)


def _find_recordings(options: LabelOptions) -> LabelledData:
    if options.source is not None:
        from bdl.cli.fit_config import CONFIG

        path = options.source
        config = path / CONFIG if path.is_dir() else path
        return _project(config, options) if config.is_file() else _study(path, options)
    if options.dataset is not None:
        source = find_source(options)
        assert options.data is not None  # checked there
        return _of(source, home=options.data, events=source.events)
    if options.recordings is not None:
        return _of(find_source(options), home=_home(options.recordings))
    return LabelledData(None, home=Path("labels"))


def _project(config: Path, options: SourceOptions) -> LabelledData:
    from bdl.cli.fit_config import read_config

    source, project = find_source(options, config=config), read_config(config)
    labels: Plain = {}
    if project.events is not None:
        labels = {"events": source.events, "table": Path(project.events)}
    tolerances = tuple(project.detector.get("tolerances") or ())
    return _of(source, home=_home(project.recordings), tolerances=tolerances, **labels)


def _study(path: Path, options: SourceOptions) -> LabelledData:
    from bdl.study.study_reader import StudyReader

    if not path.is_dir():
        raise ConfigError(f"{path}: a project of bdl new or a run directory of a study expected")
    study = StudyReader(path)
    if study.get_json("protocol.json") is None:
        raise ConfigError(
            f"{path}: neither a project of `bdl new` nor a run directory of `bdl evaluate` or "
            "`bdl study run`; a folder of recordings is named by --recordings"
        )
    unused = {"format": options.format, "pattern": options.pattern, "option": options.option}
    for name, value in {**unused, **options.layout}.items():
        if value is not None:
            raise ConfigError(f"--{name.replace('_', '-')} has no effect with the run of a study")
    benchmark = study.benchmark(options.data)
    row = next(row.name for row in study.protocol.rows if row.name in study.outputs.rows)
    test = study.outputs.test
    return LabelledData(
        benchmark.recordings.select(test),
        home=path.resolve(),
        events=benchmark.events.select(recordings=test),
        detections=study.detections(row),
        densities=study.densities(row),
        intervals=tuple(benchmark.intervals),
        tolerances=tuple(benchmark.settings.tolerances),
        notes=(f"detections and densities are those of {row}, in the test recordings",),
    )


def _of(source: FitSource, **known: Any) -> LabelledData:
    if source.benchmark is not None:
        known["tolerances"] = source.benchmark.tolerances
    return LabelledData(source.recordings, intervals=source.intervals, notes=source.notes, **known)


def _named(paths: list[Path], tables: list[Events]) -> dict[str, Events]:
    """Tables by the name of their file, without a folder or a suffix."""
    names = [path.stem for path in paths]
    unique = names if len({*names}) == len(names) else [str(path) for path in paths]
    return dict(zip(unique, tables, strict=True))


def _home(recordings: str) -> Path:
    """The path of the recordings, without a pattern; files are written to the same folder."""
    path = Path(recordings)
    return path if path.exists() else path.parent / "recordings"
