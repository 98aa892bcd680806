"""Sources of the data of ``fit`` and ``detect``: a data set, files, or a configuration file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from bdl.cli.dataset_options import DatasetName, DatasetOptions, named_dataset
from bdl.cli.generated_options import NestedFields
from bdl.cli.options import Pattern
from bdl.cli.recording_options import EVENT_OPTIONS, RECORDING_OPTIONS, FormatName
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.formats.data_files import DataFiles
from bdl.formats.reading import Reading
from bdl.intervals import IntervalType
from bdl.recording import Recordings
from bdl.registry import singular

if TYPE_CHECKING:
    from bdl.datasets import Settings
    from bdl.detector import DetectorSettings
    from bdl.evaluation.matching import EventFree

Plain = dict[str, Any]


@dataclass(frozen=True)
class SourceOptions:
    """Options that name the data of a command, besides a configuration file."""

    dataset: DatasetName = None
    data: Annotated[Path | None, Option(help="Folder of the data set, as it was published.")] = None
    option: DatasetOptions = None
    recordings: Annotated[
        str | None, Option(help="Recordings: a file, folder, glob or prepared store.")
    ] = None
    format: FormatName = None
    pattern: Pattern = None
    layout: Plain = field(default_factory=dict)  # what was given of `RECORDING_OPTIONS`


@dataclass(frozen=True)
class TrainingOptions(SourceOptions):
    """Options that name the data and the settings of a training."""

    events: Annotated[str | None, Option(help="Table of events.")] = None
    config: Annotated[Path | None, Option(help="YAML file with data and settings.")] = None
    event_options: Plain = field(default_factory=dict)  # what was given of `EVENT_OPTIONS`


SOURCE_OPTIONS = NestedFields(SourceOptions, {"layout": RECORDING_OPTIONS})
TRAINING_OPTIONS = NestedFields(
    TrainingOptions, {"layout": RECORDING_OPTIONS, "event_options": EVENT_OPTIONS}
)


@dataclass(frozen=True)
class FitSource:
    """Data and settings of a fit or a detection."""

    recordings: Recordings
    events: Events
    intervals: tuple[IntervalType, ...] | None
    types: tuple[str, ...] | None
    settings: Plain = field(default_factory=dict)  # fields of `bdl.detector.DetectorSettings`
    benchmark: Settings | None = None  # settings of the data set, if the data are one
    preset: str = "fast"  # preset that ``settings`` change
    event_free: EventFree = "ignore"  # whether held-out recordings without events count
    notes: tuple[str, ...] = ()  # what the user should know
    reading: Reading | None = None  # how the recordings are read, if they are files
    name: str = ""  # name of the data set, if the data are one
    licence: str = ""  # terms of its use

    def detector_settings(self, preset: str | None, options: Plain) -> DetectorSettings:
        """Return settings; preset and options of the command line replace those of the source."""
        from bdl.cli.detector_options import named_options, with_options
        from bdl.detector.detector_settings import DetectorSettings

        fields = with_options(self.settings, options)
        with named_options():
            if self.benchmark is not None:
                settings = DetectorSettings.of(self.benchmark, preset or self.preset, **fields)
                return settings if fields.get("decoder") else settings.replace(decoder=None)
            return DetectorSettings.preset(preset or self.preset, **fields)


def find_training_source(options: TrainingOptions) -> FitSource:
    """Read the one source that the options of a training name, with its events."""
    return find_source(
        options,
        events=options.events,
        event_options=options.event_options,
        config=options.config,
        need_events=True,
    )


def find_source(
    options: SourceOptions,
    *,
    events: str | None = None,
    event_options: Plain | None = None,
    config: Path | None = None,
    need_events: bool = False,
    invalid: Literal["error", "skip"] = "error",
) -> FitSource:
    """Read the one source that the options of a command name.

    Of several files, those that cannot be read are an error or left out (``skip``) and noted.
    """
    sources = {"--dataset": options.dataset, "--recordings": options.recordings, "--config": config}
    flags = [flag for flag, value in sources.items() if value is not None]
    if len(flags) != 1:
        got = " and ".join(flags) if flags else "none of them"
        raise ConfigError(f"one of --dataset, --recordings or --config expected, got {got}")
    columns = {f"event_{name}": value for name, value in (event_options or {}).items()}
    if columns and options.recordings is None:
        unused = " and ".join(f"--{singular(name)}" for name in event_options or {})
        raise ConfigError(f"{unused} has no effect with {flags[0]}")
    without_effect: Plain = {}
    if options.recordings is None:
        without_effect |= options.layout
        without_effect |= {"format": options.format, "pattern": options.pattern, "events": events}
    if options.dataset is None:
        without_effect |= {"data": options.data, "option": options.option}
    for name, value in without_effect.items():
        if value is not None:
            raise ConfigError(f"--{name.replace('_', '-')} has no effect with {flags[0]}")
    if options.dataset is not None:
        return _dataset(options)
    if config is not None:
        from bdl.cli.fit_config import read_config

        fit_config = read_config(config)
        return replace(
            _files(fit_config, need_events, invalid),
            settings=fit_config.detector,
            preset=fit_config.preset,
            event_free=fit_config.event_free,
        )
    assert options.recordings is not None
    if need_events and events is None:
        raise ConfigError("--recordings needs --events as well")
    return _files(
        DataFiles(
            recordings=options.recordings,
            format=options.format,
            pattern=options.pattern,
            layout=options.layout,
            events=events,
            **columns,
        ),
        need_events,
        invalid,
    )


def _dataset(options: SourceOptions) -> FitSource:
    if options.data is None or options.dataset is None:
        raise ConfigError("--dataset needs --data, the folder it was published as")
    dataset = named_dataset(options.dataset, options.option)
    benchmark = dataset.load(options.data)
    settings = benchmark.settings
    longest = max((info.duration for info in benchmark.recordings.infos), default=settings.window)
    return FitSource(
        benchmark.recordings,
        benchmark.events,
        benchmark.intervals,
        settings.types,
        benchmark=settings.replace(window=min(settings.window, longest)),
        event_free=settings.event_free,
        notes=benchmark.notes,
        name=dataset.kind,
        licence=dataset.licence,
    )


def _files(files: DataFiles, need_events: bool, invalid: Literal["error", "skip"]) -> FitSource:
    if need_events and files.events is None:
        raise ConfigError("events: a path expected, got none")
    recordings, events = files.read_files(invalid)
    return FitSource(
        recordings,
        events,
        files.intervals or None,
        files.types,
        notes=(*recordings.notes, *events.notes),
        reading=Reading.of(
            files.recordings, format=files.format, pattern=files.pattern, layout=files.layout
        ),
    )
