"""Commands that train a detector and use it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from bdl.cli.console import err, print_json, track
from bdl.cli.options import Json
from bdl.cli.sources import Source, find_source
from bdl.errors import ConfigError

commands = typer.Typer()

DATASET = Annotated[str | None, typer.Option(help="Data set: sleep, chbmit, hapt, mitdb, ...")]
DATA = Annotated[Path | None, typer.Option(help="Folder of the data set, as published.")]
OPTION = Annotated[
    list[str] | None,
    typer.Option(help="key=value: an option of the data set, or of the tables' layout."),
]
RECORDINGS = Annotated[str | None, typer.Option(help="File, folder, glob or prepared store.")]
CONFIG = Annotated[Path | None, typer.Option(help="YAML file with data and settings.")]


@commands.command()
def fit(
    out: Annotated[Path, typer.Option(help="Model file to write.")],
    dataset: DATASET = None,
    data: DATA = None,
    option: OPTION = None,
    recordings: RECORDINGS = None,
    events: Annotated[str | None, typer.Option(help="Table of events.")] = None,
    config: CONFIG = None,
    objective: Annotated[str | None, typer.Option(help="bdl-hard, seg-ce, ...")] = None,
    encoder: Annotated[str | None, typer.Option(help="gru, unet, transformer, ...")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the recordings.")] = None,
    batch: Annotated[int | None, typer.Option(help="Windows a step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Its peak.")] = None,
    stride: Annotated[int | None, typer.Option(help="Samples a bin.")] = None,
    window: Annotated[float | None, typer.Option(help="Seconds of a training window.")] = None,
    seed: Annotated[int | None, typer.Option(help="All that is random follows from it.")] = None,
    validation: Annotated[
        float | None,
        typer.Option(help="Share of groups to choose epoch and decoder on; 0 for none."),
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Folder for logs and checkpoints, kept afterwards.")
    ] = None,
    tensorboard: Annotated[bool, typer.Option(help="Log for TensorBoard to --log.")] = False,
    accelerator: Annotated[str, typer.Option(help="auto, cpu, gpu or mps.")] = "auto",
    quiet: Annotated[bool, typer.Option(help="No progress display.")] = False,
    json: Json = False,
) -> None:
    """Train a detector and write it to one file; the same command goes on after a kill."""
    if out.is_dir():
        raise ConfigError(f"--out {out}: a folder; a file name expected")
    if tensorboard and log is None:
        raise ConfigError("--tensorboard needs --log, the folder to log to")
    source = find_source(
        dataset=dataset,
        data=data,
        option=option,
        recordings=recordings,
        events=events,
        config=config,
        need_events=True,
    )
    for note in source.notes if not quiet else ():
        err.print(f"note: {note}")
    given = {
        "objective": objective,
        "encoder": encoder,
        "epochs": epochs,
        "batch": batch,
        "learning_rate": learning_rate,
        "stride": stride,
        "window": window,
        "seed": seed,
    }
    parameters = {
        **source.detector,
        **{key: value for key, value in given.items() if value is not None},
        "accelerator": accelerator,
        "tensorboard": tensorboard,
        "progress": not quiet,
        "directory": log or out.with_name(f"{out.name}.run"),
    }
    share = source.validation if validation is None else validation
    summary = _fit(source, parameters, share, out)
    if log is None:
        shutil.rmtree(parameters["directory"], ignore_errors=True)
    if json:
        print_json(summary)
    elif not quiet:
        err.print(", ".join(f"{key} {value}" for key, value in summary.items()))


def _fit(source: Source, parameters: dict[str, Any], share: float, out: Path) -> dict[str, Any]:
    from bdl import Detector
    from bdl.formats.files import atomic

    known = Detector().get_params()
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise ConfigError(
            f"detector: no parameter {', '.join(unknown)}; there are {', '.join(known)}"
        )
    train, aside = _split(source, share, int(parameters.get("seed", 0)))
    if aside and "checkpoint_epochs" not in parameters:
        total = int(parameters.get("epochs", known["epochs"]))
        parameters["checkpoint_epochs"] = tuple(range(5, total + 1, 5))
    part = source.recordings.select(train)
    held = source.recordings.select(aside)
    labels = source.events.select(recordings=aside)
    detector = Detector(**parameters).fit(
        part,
        source.events if not aside else source.events.select(recordings=train),
        validation=(held, labels) if aside else None,
        intervals=source.intervals,
        types=source.types,
        event_free=source.event_free,
    )
    summary: dict[str, Any] = {
        "model": str(out),
        "recordings": len(part),
        "epoch": detector.best_epoch,
        "loss": round(detector.history[-1].loss, 6),
    }
    if aside:
        chosen = detector.calibrate(held, labels, event_free=source.event_free)
        summary |= {"validation recordings": len(held), "validation mAP": round(chosen.score, 4)}
    detector.save(out)
    history = Path(parameters["directory"]) / "history.csv"
    with atomic(out.with_name(f"{out.name}.csv")) as temporary:
        temporary.write_bytes(history.read_bytes())
    return summary


def _split(source: Source, share: float, seed: int) -> tuple[list[str], list[str]]:
    """Training and validation ids: whole groups, drawn from the seed."""
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
def detect(
    model: Annotated[Path, typer.Argument(help="Model file written by fit.")],
    out: Annotated[Path, typer.Option(help="Table of detections to write.")],
    dataset: DATASET = None,
    data: DATA = None,
    option: OPTION = None,
    recordings: RECORDINGS = None,
    config: CONFIG = None,
    densities: Annotated[
        Path | None, typer.Option(help="Folder to write the densities to as well.")
    ] = None,
    resample: Annotated[
        bool, typer.Option(help="Bring recordings of another rate onto the model's clock.")
    ] = False,
    quiet: Annotated[bool, typer.Option(help="No progress display.")] = False,
) -> None:
    """Detect events in recordings with a trained model."""
    from bdl import Detector
    from bdl.decoding import decode
    from bdl.formats import write_events
    from bdl.formats.densities import write_densities

    detector = Detector.load(model)
    source = find_source(
        dataset=dataset,
        data=data,
        option=option,
        recordings=recordings,
        config=config,
    )
    many: Any = source.recordings
    if not quiet:
        many = track(many, "detecting", len(source.recordings))
    found = detector.densities(many, resample=resample)
    if densities is not None:
        held = [*found]
        write_densities(densities, held)
        found = iter(held)
    decoded = decode(found, detector.model.decoder, detector.model.intervals)
    write_events(decoded, out)
    if not quiet:
        err.print(f"{len(decoded):,} detections in {len(source.recordings):,} recordings: {out}")
