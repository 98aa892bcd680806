"""Inputs of ``bdl detect``: the threshold, the recordings, and those that are done already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bdl.cli.sources import SourceOptions, find_source
from bdl.detector.model import Model
from bdl.detector.operating_point import OperatingPoint
from bdl.errors import ConfigError
from bdl.workers import Workers

if TYPE_CHECKING:
    from bdl.formats.done_files import DoneFiles
    from bdl.recording import Recordings


def chosen_point(
    model: Model, all: bool, false_alarms_per_day: float | None, sensitivity: float | None
) -> OperatingPoint | None:
    """Return the operating point that the options select; None for the whole ranking."""
    options = {
        "--all": all or None,
        "--false-alarms-per-day": false_alarms_per_day,
        "--sensitivity": sensitivity,
    }
    flags = [flag for flag, value in options.items() if value is not None]
    if len(flags) > 1:
        raise ConfigError(f"{' and '.join(flags)} contradict each other; give one of them")
    point = model.operating_point
    if all or (point is None and not flags):
        return None
    if point is None:
        raise ConfigError(
            f"{flags[0]}: the model has no operating point, since nothing was held out when it was "
            "fitted; leave it out"
        )
    if false_alarms_per_day is not None:
        return point.within_false_alarms(false_alarms_per_day, model.intervals)
    return point if sensitivity is None else point.reaching_sensitivity(sensitivity)


def open_recordings(
    model: Model,
    source: str | None,
    options: SourceOptions,
    config: Path | None,
    done: DoneFiles | None,
    workers: Workers,
) -> Recordings:
    """Open the recordings that the arguments name, without those that are done already."""
    places = {
        "--dataset": options.dataset,
        "--recordings": options.recordings,
        "--config": config,
    }
    flags = [flag for flag, place in places.items() if place is not None]
    if source is None and not flags:
        raise ConfigError(
            "the recordings are missing: give a file or folder as second argument, or "
            "--recordings, --dataset or --config"
        )
    if source is None:
        recordings = find_source(options, config=config, invalid="skip").recordings
        return recordings if done is None else done.new(recordings)
    from bdl.formats.addresses import is_folder
    from bdl.formats.polyphase import on_one_clock
    from bdl.formats.reading import Reading
    from bdl.training.preparation import same_period

    if flags:
        raise ConfigError(f"{flags[0]} has no effect with the recordings {source}")
    reading = model.reading or Reading()
    # The pattern of the model chooses files of a folder, and has no effect with a file or a glob.
    inherited = reading.pattern if is_folder(Path(source)) else None
    reading = reading.replace(
        format=options.format or reading.format,
        pattern=options.pattern or inherited,
        layout={**reading.layout, **options.layout},
    )
    if done is None:
        recordings = reading.open(source, invalid="skip", workers=workers)
    else:
        opened = reading.open(source, invalid="skip", only=done.is_new, workers=workers)
        recordings = done.new(opened)
    if all(same_period(info.period, model.period) for info in recordings.infos):
        return recordings
    return on_one_clock(recordings, 1 / model.period)


def done_files(model: Path, out: Path, point: OperatingPoint | None, paired: bool) -> DoneFiles:
    """Return which recordings are in the table already, for this model and threshold."""
    from bdl.formats.done_files import DoneFiles
    from bdl.formats.files import content_hash

    threshold = None if point is None else point.threshold
    purpose = f"{content_hash([model])}, threshold {threshold}, paired {paired}"
    record = out.with_name(f"{out.name}.done.json")
    if not out.exists():
        record.unlink(missing_ok=True)
    return DoneFiles(record, purpose=purpose)
