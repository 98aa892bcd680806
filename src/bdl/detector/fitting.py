"""Fitting: from settings, recordings and events to a trained model; and back from its file.

Everything that is chosen is chosen on recordings that were held out of the training it belongs to;
then the model is trained on all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import torch
from torch import nn

from bdl.detector.budget import within_budget
from bdl.detector.choices import HeldOut
from bdl.detector.completion import complete_settings
from bdl.detector.cross_fitting import cross_fit
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.holdouts import holdouts
from bdl.detector.model_training import FittedModel, Reporting, TrainingData, train_model
from bdl.detector.modelfile import check_size, read_model, split_weights
from bdl.detector.selection import SHARE, Selection
from bdl.encoders import Encoder
from bdl.encoders.custom import Custom
from bdl.errors import ConfigError, InputError
from bdl.evaluation.matching import EventFree
from bdl.evaluation.scored_parts import scored_parts
from bdl.events import Events
from bdl.formats.files import reading
from bdl.intervals import IntervalType, likely_intervals
from bdl.pairing import pair
from bdl.recording import Recordings
from bdl.training import preparation
from bdl.units import common_units, in_units


def fit_model(
    settings: DetectorSettings,
    recordings: Recordings,
    events: Events,
    *,
    validation: tuple[Recordings, Events] | None,
    intervals: tuple[IntervalType, ...] | None,
    types: Sequence[str] | None,
    event_free: EventFree,
    unknown: Literal["error", "ignore"],
    reporting: Reporting,
) -> FittedModel:
    """Train on recordings and their events; see `bdl.detector.Detector`.

    All settings, and everything that can be wrong with the data, are checked before the first step.
    """
    settings.check_given()
    selection = settings.selection
    if event_free != "ignore" and validation is None and not selection.folds:
        raise ConfigError("event_free has no effect without validation recordings")
    if validation is not None:
        _check_selection(selection)
    preparation.check_recordings(recordings)
    converted = in_units(recordings, common_units(recordings), "another recording")
    for note in converted.notes[len(recordings.notes) :]:
        warnings.warn(note, stacklevel=3)
    recordings = converted
    if validation is not None:
        validation = (
            in_units(validation[0], common_units(recordings), "the training part"),
            validation[1],
        )
    events = preparation.events_of(events, recordings, unknown=unknown)
    if intervals is None:
        names = types if types is not None else [events.types[i] for i in {*events.type_code}]
        intervals = likely_intervals(sorted(names))
    if settings.decoder is not None and settings.decoder.alternate and not intervals:
        raise ConfigError(
            "decoder: alternate: needs interval types, to know which event types alternate "
            "(intervals: in bdl.yaml, or intervals=)"
        )
    chosen_types = preparation.choose_types(events, intervals, types)
    data = TrainingData(recordings, events, chosen_types, intervals, event_free)
    complete, separation = complete_settings(settings, data)
    refit = validation is None and selection.folds > 0 and selection.refit
    complete = within_budget(
        complete,
        data,
        trainings=(selection.folds or 1 if validation is None else 1) + refit,
        directory=reporting.directory,
    )
    if refit and complete.chooses_epoch and complete.training.epochs is None:
        raise ConfigError(
            "checkpoints choose an epoch, and a second training on more recordings has others "
            "for the same updates: give epochs instead of updates, or leave out the refit"
        )
    if validation is None and not selection.folds:
        return _trained_once(settings, complete, data, reporting)
    if not complete.tolerances:
        raise ConfigError("choices on held-out recordings need tolerances in seconds")
    parts: list[tuple[TrainingData, TrainingData]]
    if validation is not None:
        held = preparation.events_of(validation[1], validation[0], unknown="ignore")
        others = TrainingData(validation[0], held, chosen_types, intervals, event_free)
        parts = [(data, others)]
    else:
        divided = holdouts(
            recordings,
            events.select(types=chosen_types),
            folds=selection.folds,
            share=selection.share,
            seed=complete.training.seed,
        )
        parts = [(data.part(holdout.train), data.part(holdout.held)) for holdout in divided]
        if not parts:
            warnings.warn(
                "there is one group of recordings only: nothing can be held out, so the decoder "
                "is not calibrated and there is no operating point",
                stacklevel=3,
            )
            return _trained_once(settings, complete, data, reporting)
    truth = Events.concat([held.events for _, held in parts]).select(types=chosen_types)
    if not len(truth):
        raise InputError("the validation part has no events of the trained types")
    scored = scored_parts(info for _, held in parts for info in held.recordings.infos)
    context = HeldOut(
        truth,
        complete.tolerances,
        chosen_types,
        intervals,
        event_free,
        separation,
        scored["regions"],
        scored["durations"],
        forward=complete.lag is not None,
    )
    fitted = cross_fit(
        complete,
        data,
        parts,
        context,
        reporting,
        refit=refit,
        fixed_decoder=settings.decoder is not None,
    )
    return _finished(fitted, settings, data)


def _check_selection(selection: Selection) -> None:
    """Raise an error for what parts of the training recordings do, where others are given."""
    if selection.rescoring is not None:
        raise ConfigError("rescoring is trained across folds: leave out validation")
    # The preset "paper" has one fold, the size of which is the default.
    without_effect = {
        "folds": selection.folds > 1,
        "share": selection.share != SHARE,
        "refit": selection.refit,
    }
    for name, is_set in without_effect.items():
        if is_set and name in selection.given:
            raise ConfigError(
                f"selection: {name}: has no effect with validation recordings, on which "
                "everything is chosen; leave it out"
            )


def _trained_once(
    settings: DetectorSettings, complete: DetectorSettings, data: TrainingData, reporting: Reporting
) -> FittedModel:
    single = complete.replace(objective=complete.objective.candidates[0])
    return _finished(train_model(single, data, reporting.inside("all")), settings, data)


def _finished(fitted: FittedModel, settings: DetectorSettings, data: TrainingData) -> FittedModel:
    """Return the model with a decoder in its settings only if one was given, and durations."""
    chosen = fitted.model.settings.replace(decoder=settings.decoder)
    durations = {}
    for interval in data.intervals:
        seconds = pair(data.events, interval).seconds
        if len(seconds):
            durations[interval.name] = (float(seconds.min()), float(seconds.max()))
    return replace(fitted, model=fitted.model.replace(settings=chosen, durations=durations))


def restore(path: str | Path, module: nn.Module | None) -> FittedModel:
    """Return a trained model from its file.

    ``module`` is the user's own module if the model was trained with one: the file contains its
    weights, but not its code.
    """
    model, stored = read_model(path)
    model, weights, rescorer = split_weights(path, model, stored)
    if module is not None:
        if not isinstance(model.settings.encoder, Custom):
            raise ConfigError(f"{path}: has an encoder of the package; no module is needed")
        model = model.replace(settings=model.settings.replace(encoder=Encoder.parse(module)))
    try:
        with reading(path, "a model"), torch.random.fork_rng():
            if module is None:
                with torch.device("meta"):
                    check_size(path, model.build(), weights)
            built = model.build()
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    try:
        built.load_state_dict(weights)
    except (RuntimeError, InputError) as error:
        raise InputError(f"{path}: its weights do not fit the encoder: {error}") from error
    return FittedModel(model, built.eval(), rescorer)
