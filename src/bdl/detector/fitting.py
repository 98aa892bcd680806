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

from bdl.detector.choices import HeldOut
from bdl.detector.completion import complete_settings
from bdl.detector.cross_fitting import cross_fit
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.holdouts import Holdout, holdouts
from bdl.detector.model_training import FittedModel, Reporting, TrainingData, train_model
from bdl.detector.modelfile import read_model, split_weights
from bdl.encoders import Encoder
from bdl.encoders.custom import Custom
from bdl.errors import ConfigError, InputError
from bdl.evaluation import Regions
from bdl.evaluation.matching import EventFree
from bdl.events import Events
from bdl.intervals import IntervalType, likely_intervals
from bdl.recording import Recordings
from bdl.training import preparation


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
    selection = settings.selection
    if event_free != "ignore" and validation is None and not selection.folds:
        raise ConfigError("event_free has no effect without validation recordings")
    preparation.check_recordings(recordings)
    events = preparation.check_events(events, recordings, unknown=unknown)
    if intervals is None:
        names = types if types is not None else [events.types[i] for i in {*events.type_code}]
        intervals = likely_intervals(sorted(names))
    chosen_types = preparation.choose_types(events, intervals, types)
    data = TrainingData(recordings, events, chosen_types, intervals, event_free)
    complete, separation = complete_settings(settings, data)
    refit = validation is None and selection.folds > 0 and selection.refit
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
        if selection.rescoring is not None:
            raise ConfigError("rescoring is trained across folds: leave out validation")
        held = preparation.check_events(validation[1], validation[0], unknown="ignore")
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
        parts = [_divide(data, holdout) for holdout in divided]
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
    context = HeldOut(truth, complete.tolerances, chosen_types, intervals, event_free, separation)
    infos = [info for _, held_out in parts for info in held_out.recordings.infos]
    context = replace(context, regions=Regions.annotated(infos))
    fitted = cross_fit(
        complete,
        data,
        parts,
        context,
        reporting,
        refit=refit,
        fixed_decoder=settings.decoder is not None,
    )
    return _with_own_decoder(fitted, settings)


def _trained_once(
    settings: DetectorSettings, complete: DetectorSettings, data: TrainingData, reporting: Reporting
) -> FittedModel:
    return _with_own_decoder(train_model(complete, data, reporting.inside("all")), settings)


def _with_own_decoder(fitted: FittedModel, settings: DetectorSettings) -> FittedModel:
    """Return the model with a decoder in its settings only if one was given."""
    own = fitted.model.settings.replace(decoder=settings.decoder)
    return replace(fitted, model=fitted.model.replace(settings=own))


def _divide(data: TrainingData, holdout: Holdout) -> tuple[TrainingData, TrainingData]:
    return data.part(holdout.train), data.part(holdout.held)


def restore(path: str | Path, module: nn.Module | None) -> FittedModel:
    """Return a trained model from its file.

    ``module`` is the user's own module if the model was trained with one: the file contains its
    weights, but not its code.
    """
    model, stored = read_model(path)
    weights, rescorer = split_weights(path, stored)
    if module is not None:
        if not isinstance(model.settings.encoder, Custom):
            raise ConfigError(f"{path}: has an encoder of the package; no module is needed")
        model = model.replace(settings=model.settings.replace(encoder=Encoder.parse(module)))
    try:
        with torch.random.fork_rng():
            built = model.build()
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    try:
        built.load_state_dict(weights)
    except RuntimeError as error:
        raise InputError(f"{path}: its weights do not fit the encoder: {error}") from error
    return FittedModel(model, built.eval(), rescorer)
