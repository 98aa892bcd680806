"""Commands that train a detector and use it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bdl.cli.console import err, print_json, track
from bdl.cli.options import Fields, Json, Quiet, takes
from bdl.cli.recording_options import RECORDING_OPTIONS
from bdl.cli.sources import FitSource, SourceOptions, find_source
from bdl.detector.detector_settings import DetectorSettings
from bdl.errors import ConfigError
from bdl.features import Features
from bdl.recording import Recordings
from bdl.training import Training

if TYPE_CHECKING:
    from bdl.density import Density

commands = typer.Typer()

CONFIG = Annotated[Path | None, typer.Option(help="YAML file with data and settings.")]


@commands.command()
@takes(
    source_options=SourceOptions,
    layout=RECORDING_OPTIONS,
    detector=Fields(DetectorSettings, without=("features", "training")),
    features=Features,
    training=Training,
)
def fit(
    out: Annotated[Path, typer.Option(help="Model file to write.")],
    events: Annotated[str | None, typer.Option(help="Table of events.")] = None,
    config: CONFIG = None,
    validation: Annotated[
        float | None,
        typer.Option(help="Share of groups to choose epoch and decoder on; 0 for none."),
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Folder for logs and checkpoints, kept afterwards.")
    ] = None,
    tensorboard: Annotated[bool, typer.Option(help="Log for TensorBoard to --log.")] = False,
    quiet: Quiet = False,
    json: Json = False,
    *,
    source_options: SourceOptions,
    layout: dict[str, Any],
    detector: dict[str, Any],
    features: dict[str, Any],
    training: dict[str, Any],
) -> None:
    """Train a detector and write it to one file.

    After an interruption the same command resumes.
    Objective, encoder, decoder and scaling are a name, or a mapping such as
    '{kind: peaks, threshold: 0.5}'.
    """
    from bdl import Detector
    from bdl.formats.files import atomic

    if out.is_dir():
        raise ConfigError(f"--out {out}: a folder; a file name expected")
    if tensorboard and log is None:
        raise ConfigError("--tensorboard needs --log, the folder to log to")
    source = find_source(source_options, layout, events=events, config=config, need_events=True)
    settings = source.detector_settings({**detector, "features": features, "training": training})
    share = source.validation if validation is None else validation
    train, held = _split(source, share, settings.training.seed)
    settings, notes = _fit_to(settings, source.recordings, train, bool(held))
    for note in (*source.notes, *notes) if not quiet else ():
        err.print(f"note: {note}")
    directory = log or out.with_name(f"{out.name}.run")
    held_recordings = source.recordings.select(held)
    held_events = source.events.select(recordings=held)
    fitted = Detector(
        **dict(settings), tensorboard=tensorboard, progress=not quiet, directory=directory
    ).fit(
        source.recordings.select(train),
        source.events.select(recordings=train) if held else source.events,
        validation=(held_recordings, held_events) if held else None,
        intervals=source.intervals,
        types=source.types,
        event_free=source.event_free if held else "ignore",
    )
    summary: dict[str, Any] = {
        "model": str(out),
        "recordings": len(train),
        "epoch": fitted.best_epoch_,
        "loss": round(fitted.history_[-1].loss, 6),
    }
    if held:
        score = fitted.history_[fitted.best_epoch_ - 1].score
        if not source.names_decoder(detector):
            calibration = fitted.calibrate(
                held_recordings, held_events, event_free=source.event_free
            )
            score = calibration.score
        assert score is not None
        summary |= {"validation recordings": len(held), "validation mAP": round(score, 4)}
    fitted.save(out)
    with atomic(out.with_name(f"{out.name}.csv")) as temporary:
        temporary.write_bytes((directory / "history.csv").read_bytes())
    if log is None:
        shutil.rmtree(directory, ignore_errors=True)
    if json:
        print_json(summary)
    elif not quiet:
        err.print(", ".join(f"{key} {value}" for key, value in summary.items()))


def _fit_to(
    settings: DetectorSettings, recordings: Recordings, train: list[str], validated: bool
) -> tuple[DetectorSettings, list[str]]:
    """Return settings with checkpoints to choose from, and a window that fits the training part."""
    notes = []
    training = settings.training
    if validated and not training.checkpoint_epochs and not training.checkpoints:
        if training.epochs is None:
            changed = training.replace(checkpoints=4)
        else:
            last = training.stop_after or training.epochs
            changed = training.replace(checkpoint_epochs=tuple(range(5, last + 1, 5)))
        settings = settings.replace(training=changed)
    durations = {info.id: info.duration for info in recordings.infos}
    longest = max((durations[id] for id in train), default=0.0)
    if settings.window and longest < settings.window <= max(durations.values()):
        settings = settings.replace(window=longest)
        notes.append(f"window cut to the longest training recording, {longest:g} s")
    return settings, notes


def _split(source: FitSource, share: float, seed: int) -> tuple[list[str], list[str]]:
    """Return training and validation ids: whole groups, drawn from the seed."""
    import numpy as np

    groups = source.recordings.groups
    names = sorted(set(groups.values()))
    count = round(share * len(names))
    if share > 0 and count == 0:
        err.print(f"note: {len(names)} groups are too few to set a share of {share:g} aside")
    drawn = np.random.default_rng(seed).permutation(len(names))[: min(count, len(names) - 1)]
    aside = {names[i] for i in drawn}
    ids = source.recordings.ids
    return [i for i in ids if groups[i] not in aside], [i for i in ids if groups[i] in aside]


@commands.command()
@takes(source_options=SourceOptions, layout=RECORDING_OPTIONS)
def detect(
    model: Annotated[Path, typer.Argument(help="Model file written by fit.")],
    out: Annotated[Path, typer.Option(help="Table of detections to write.")],
    config: CONFIG = None,
    densities: Annotated[
        Path | None, typer.Option(help="Folder to write the densities to as well.")
    ] = None,
    resample: Annotated[
        bool, typer.Option(help="Resample recordings of another rate to that of the model.")
    ] = False,
    quiet: Quiet = False,
    *,
    source_options: SourceOptions,
    layout: dict[str, Any],
) -> None:
    """Detect events in recordings with a trained model."""
    from bdl import Detector
    from bdl.decoding import decode
    from bdl.formats import write_events
    from bdl.formats.densities import write_densities

    detector = Detector.load(model)
    source = find_source(source_options, layout, config=config)
    tracked: Any = source.recordings
    if not quiet:
        tracked = track(tracked, "detecting", len(source.recordings))
    computed: Iterable[Density] = detector.densities(tracked, resample=resample)
    if densities is not None:
        computed = [*computed]
        write_densities(densities, computed)
    detections = decode(computed, detector.model_.decoder, detector.model_.intervals)
    write_events(detections, out)
    if not quiet:
        err.print(f"{len(detections):,} detections in {len(source.recordings):,} recordings: {out}")
