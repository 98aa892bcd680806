"""The command that trains a detector."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option, Typer

from bdl.cli.console import err, print_json
from bdl.cli.detector_options import DETECTOR_OPTIONS, PresetOption, with_options
from bdl.cli.fit_config import find_config, written_config
from bdl.cli.options import PROJECT, Json, Quiet, takes
from bdl.cli.sources import TRAINING_OPTIONS, FitSource, TrainingOptions, find_training_source
from bdl.detector.cross_validation import CrossValidation
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.model import Model
from bdl.detector.presets import PresetName
from bdl.errors import ConfigError, StudyError

if TYPE_CHECKING:
    from bdl import Detector

commands = Typer()


@commands.command()
@takes(source_options=TRAINING_OPTIONS, detector=DETECTOR_OPTIONS)
def fit(
    project: Annotated[Path | None, PROJECT] = None,
    *,
    out: Annotated[
        Path | None,
        Option(help="Model file to write. [default: model.safetensors, in the project]"),
    ] = None,
    evaluation: Annotated[
        Path | None,
        Option(
            help="Run directory of `bdl evaluate`; the model file gets its score. "
            "[default: evaluation, in the project]"
        ),
    ] = None,
    preset: PresetOption = None,
    from_: Annotated[
        Path | None,
        Option("--from", help="Model file to fine-tune, with a tenth of its training steps."),
    ] = None,
    page: Annotated[
        Path | None,
        Option(help="Page with scores before and after --from, on a held-out fifth of the groups."),
    ] = None,
    log: Annotated[
        Path | None, Option(help="Folder for logs and checkpoints, kept afterwards.")
    ] = None,
    tensorboard: Annotated[
        bool, Option("--tensorboard", help="Log for TensorBoard to --log.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
    source_options: TrainingOptions,
    detector: dict[str, Any],
) -> None:
    """Train a detector and write it to one file.

    After an interruption the same command resumes. The model remembers how the recordings were
    read, and the score of `bdl evaluate` if the project has one with the same data and settings.
    Objective, encoder, decoder and scaling are a name, or a mapping such as
    '{kind: peaks, threshold: 0.5}'. Settings that are not given are chosen from the data.
    """
    from bdl import Detector
    from bdl.formats.addresses import address_of
    from bdl.formats.outputs import check_output

    config: Path | None = None
    if project is not None:
        if source_options.config is not None:
            raise ConfigError(f"--config has no effect with the project {project}")
        config = find_config(project)
        source_options = replace(source_options, config=config)
        out = out or config.parent / "model.safetensors"
    if out is None:
        raise ConfigError("--out is missing: the model file to write")
    if evaluation is not None and (project is None or from_ is not None):
        reason = "without a project" if project is None else "with --from"
        raise ConfigError(f"--evaluation has no effect {reason}")
    check_output(out)
    if log is not None:
        check_output(log, folder=True, flag="--log")
    if tensorboard and log is None:
        raise ConfigError("--tensorboard needs --log, the folder to log to")
    source = find_training_source(source_options)
    # Checkpoints are local, also of a model that is written to an address.
    directory = log or (out if address_of(out) is None else Path(out.name)).with_name(
        f"{out.name}.run"
    )
    if from_ is not None:
        from bdl.cli.fine_tuning import fine_tuned

        training = detector.pop("training", {})
        other_settings = {**detector, "preset": preset}
        fitted = fine_tuned(
            from_,
            source,
            training,
            other_settings,
            page=page,
            directory=directory,
            progress=not quiet,
        )
        _write(fitted, out, directory if log is None else None, source, quiet=quiet, json=json)
        return
    if page is not None:
        raise ConfigError("--page has no effect without --from")
    settings = source.detector_settings(preset, detector)
    cross_validation, reason = None, ""
    if config is not None:
        cross_validation, reason = _known_score(config, preset, detector, evaluation)
    err.notes((*source.notes, *_open_settings(settings, source)) if not quiet else ())
    if reason:
        err.print(f"note: no cross-validated score ({reason}): bdl evaluate {project} measures it")
    fitted = Detector(
        **dict(settings), tensorboard=tensorboard, progress=not quiet, directory=directory
    ).fit(
        source.recordings,
        source.events,
        intervals=source.intervals,
        types=source.types,
        event_free=source.event_free if settings.selection.folds else "ignore",
    )
    fitted.model_ = fitted.model_.replace(reading=source.reading, cross_validation=cross_validation)
    _write(fitted, out, directory if log is None else None, source, quiet=quiet, json=json)


def _write(
    fitted: Detector,
    out: Path,
    temporary_folder: Path | None,
    source: FitSource,
    *,
    quiet: bool,
    json: bool,
) -> None:
    """Write a fitted detector and its history, and print a summary."""
    from bdl.formats.atomic_files import atomic
    from bdl.training.history import history_csv

    count = len(source.recordings)
    if (origin := fitted.model_.provenance) is not None:
        count = origin.recordings
        origin = origin.replace(data=source.name, licence=source.licence)
        fitted.model_ = fitted.model_.replace(provenance=origin)
    fitted.save(out)
    with atomic(out.with_name(f"{out.name}.csv")) as temporary:
        temporary.write_bytes(history_csv(fitted.history_))
    if temporary_folder is not None:
        shutil.rmtree(temporary_folder, ignore_errors=True)
    summary = _summary(out, fitted.model_, fitted.history_[-1].loss, count)
    if json:
        print_json(summary)
    elif not quiet:
        err.print(f"note: {fitted.model_.features.scaling.describe(fitted.model_.channels)}")
        err.print(", ".join(f"{key} {value}" for key, value in summary.items()))


def _known_score(
    config: Path, preset: PresetName | None, options: dict[str, Any], evaluation: Path | None
) -> tuple[CrossValidation | None, str]:
    """Return the cross-validated score of these settings, or why it is not known."""
    from bdl.study.known_score import known_score

    project = written_config(config)
    try:
        score = known_score(
            evaluation or config.parent / "evaluation",
            project.tables(),
            config.parent,
            preset=preset or project.preset,
            detector=with_options(project.detector, options),
            settings={"event_free": project.event_free},
        )
    except StudyError as error:
        if evaluation is not None:
            raise
        return None, str(error)
    return score, ""


def _open_settings(settings: DetectorSettings, source: FitSource) -> list[str]:
    """Return notes on the settings that are chosen for the data, with the reasons."""
    from bdl.proposal import propose

    kinds = " and ".join(dict.fromkeys(member.kind for member in settings.encoder.parts))
    notes = []
    if settings.objective.tree_loss is None:
        notes.append(
            f"objective {settings.objective.kind}: an encoder without boosted trees ({kinds}), "
            "which have no loss like it"
        )
    if settings.lag is not None:
        notes.append(
            f"lag {settings.lag:g} s: a forward encoder ({kinds}), scaling that is learned from "
            "the training recordings, and a decoder with a bounded look-ahead"
        )
    if settings.is_complete:
        return notes
    events = source.events.select(types=source.types) if source.types else source.events
    proposal = propose(source.recordings, events, settings.tolerances)
    is_open = {
        "stride": settings.features.stride is None,
        "tolerances": not settings.tolerances,
        "window": settings.window is None,
        "calendar": settings.features.calendar is None,
    }
    proposed = {name: getattr(proposal, name) for name, open_ in is_open.items() if open_}
    return notes + [
        f"{name} {setting.value}: {setting.reason}" for name, setting in proposed.items()
    ]


def _summary(out: Path, model: Model, loss: float, recordings: int) -> dict[str, Any]:
    """Return the main properties and scores of a fitted model."""
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
    if model.cross_validation is not None:
        summary["cross-validated"] = str(model.cross_validation)
    return summary
