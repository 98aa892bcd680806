"""Commands that train a detector and use it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bdl.cli.console import err, print_json, track
from bdl.cli.options import Fields, Json, Quiet, takes
from bdl.cli.recording_options import RECORDING_OPTIONS
from bdl.cli.sources import FitSource, SourceOptions, find_source
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.model import Model
from bdl.detector.presets import PresetName
from bdl.detector.selection import Selection
from bdl.errors import ConfigError
from bdl.features import Features
from bdl.training import Training

if TYPE_CHECKING:
    from bdl.decoding.candidates import ByType
    from bdl.density import Density

commands = typer.Typer()

CONFIG = Annotated[Path | None, typer.Option(help="YAML file with data and settings.")]


@commands.command()
@takes(
    source_options=SourceOptions,
    layout=RECORDING_OPTIONS,
    detector=Fields(DetectorSettings, without=("features", "training", "selection")),
    features=Features,
    training=Fields(Training, without=("augmentation",)),
    selection=Fields(Selection, without=("kernels", "rescoring")),
)
def fit(
    out: Annotated[Path, typer.Option(help="Model file to write.")],
    events: Annotated[str | None, typer.Option(help="Table of events.")] = None,
    config: CONFIG = None,
    preset: Annotated[
        PresetName | None, typer.Option(help="Recipe that the other options change. Default: fast.")
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
    selection: dict[str, Any],
) -> None:
    """Train a detector and write it to one file.

    After an interruption the same command resumes.
    Objective, encoder, decoder and scaling are a name, or a mapping such as
    '{kind: peaks, threshold: 0.5}'. What is not given is chosen for the data.
    """
    from bdl import Detector
    from bdl.formats.files import atomic
    from bdl.training.history import history_csv

    if out.is_dir():
        raise ConfigError(f"--out {out}: a folder; a file name expected")
    if tensorboard and log is None:
        raise ConfigError("--tensorboard needs --log, the folder to log to")
    source = find_source(source_options, layout, events=events, config=config, need_events=True)
    given = {**detector, "features": features, "training": training, "selection": selection}
    settings = source.detector_settings(preset, given)
    for note in (*source.notes, *_open_settings(settings, source)) if not quiet else ():
        err.print(f"note: {note}")
    directory = log or out.with_name(f"{out.name}.run")
    fitted = Detector(
        **dict(settings), tensorboard=tensorboard, progress=not quiet, directory=directory
    ).fit(
        source.recordings,
        source.events,
        intervals=source.intervals,
        types=source.types,
        event_free=source.event_free if settings.selection.folds else "ignore",
    )
    fitted.save(out)
    with atomic(out.with_name(f"{out.name}.csv")) as temporary:
        temporary.write_bytes(history_csv(fitted.history_))
    if log is None:
        shutil.rmtree(directory, ignore_errors=True)
    summary = _summary(out, fitted.model_, fitted.history_[-1].loss, len(source.recordings))
    if json:
        print_json(summary)
    elif not quiet:
        err.print(f"note: {fitted.model_.features.scaling.describe(fitted.model_.channels)}")
        err.print(", ".join(f"{key} {value}" for key, value in summary.items()))


def _open_settings(settings: DetectorSettings, source: FitSource) -> list[str]:
    """Say what is chosen for the data, with the reason."""
    from bdl.proposal import propose

    if settings.is_complete:
        return []
    known = source.events.select(types=source.types) if source.types else source.events
    proposal = propose(source.recordings, known, settings.tolerances)
    given = {
        "stride": settings.features.stride is not None,
        "tolerances": bool(settings.tolerances),
        "window": settings.window is not None,
        "calendar": settings.features.calendar is not None,
    }
    return [
        f"{name} {getattr(proposal, name).value}: {getattr(proposal, name).reason}"
        for name, known in given.items()
        if not known
    ]


def _summary(out: Path, model: Model, loss: float, recordings: int) -> dict[str, Any]:
    """Return what a user wants to know after a fit."""
    summary: dict[str, Any] = {
        "model": str(out),
        "recordings": recordings,
        "epoch": model.epoch,
        "loss": round(loss, 6),
        "scaling": model.features.scaling.kind,
    }
    if model.choices is not None and model.operating_point is not None:
        point = model.operating_point
        summary |= {
            "held-out recordings": model.choices.recordings,
            "held-out mAP": round(model.choices.score, 4),
            "decoder": model.decoder.kind,
            "threshold": round(point.threshold, 4),
            "held-out F1": round(point.f1, 4),
        }
    return summary


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
    all: Annotated[
        bool,
        typer.Option(
            "--all", help="The whole ranking, for AP, instead of detections above the threshold."
        ),
    ] = False,
    quiet: Quiet = False,
    *,
    source_options: SourceOptions,
    layout: dict[str, Any],
) -> None:
    """Detect events in recordings with a trained model.

    Detections are those above the threshold with the best F1 on held-out training recordings, if
    the model has one.
    """
    from bdl import Detector
    from bdl.decoding.candidates import to_events
    from bdl.formats import write_events
    from bdl.formats.densities import write_densities

    detector = Detector.load(model)
    source = find_source(source_options, layout, config=config)
    tracked: Any = source.recordings
    if not quiet:
        tracked = track(tracked, "detecting", len(source.recordings))
    operating_point = not all and detector.model_.operating_point is not None
    kept: list[Density] = []

    def detected() -> Iterator[tuple[str, ByType]]:
        for density, candidates in detector.apply(
            tracked, resample=resample, operating_point=operating_point
        ):
            if densities is not None:
                kept.append(density)
            yield density.recording, candidates

    detections = to_events(detected())
    if densities is not None:
        write_densities(densities, kept)
    write_events(detections, out)
    if not quiet:
        err.print(f"{len(detections):,} detections in {len(source.recordings):,} recordings: {out}")
