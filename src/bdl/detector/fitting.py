"""Fitting: from a detector's parameters, recordings and events to a trained model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from bdl.detector.application import validator
from bdl.detector.modelfile import Model, read_model
from bdl.detector.plan import choose_tile, choose_window, make_plan, warn
from bdl.encoders import Encoder
from bdl.encoders.custom import Custom
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.recording import Recordings
from bdl.training import Epoch
from bdl.training import preparation as prep


@dataclass(frozen=True)
class Fitted:
    """A trained model: configuration, module, history, and weights of kept epochs."""

    model: Model
    module: nn.Module
    history: list[Epoch]
    checkpoints: dict[int, dict[str, Tensor]]


def fit_model(
    given: dict[str, Any],
    recordings: Recordings,
    events: Events,
    *,
    validation: tuple[Recordings, Events] | None,
    intervals: tuple[IntervalType, ...],
    types: Sequence[str] | None,
    event_free: Literal["ignore", "count"],
    unknown: Literal["error", "ignore"],
) -> Fitted:
    """Train on recordings and their events; see `bdl.detector.Detector.fit`.

    ``given`` are the parameters of a detector. All of them, and all that can be wrong with the
    data, are checked before the first step.
    """
    from bdl.training import train  # here, since it brings Lightning

    plan = make_plan(given)
    directory = given["directory"]
    channels, period = prep.check_recordings(recordings)
    events = prep.check_events(events, recordings, unknown=unknown)
    types = prep.choose_types(events, intervals, types)
    outputs = plan.objective.outputs(types, intervals)
    window = choose_window(given["window"], recordings, plan)
    features = plan.features.fit(recordings)
    prepared = prep.prepare(recordings, events, features, types=types, intervals=intervals)
    labels = [one.labels for one in prepared]
    outside = prep.check_labels(labels, types)
    warn(outside, labels, period, plan)
    objective = plan.objective.resolve(labels, stride=plan.features.stride)
    with torch.random.fork_rng():
        torch.manual_seed(plan.training.seed)
        width = features.width(len(channels))
        module = plan.encoder.build(width, len(outputs), features.calendar)
    model = Model(
        channels=channels,
        period=period,
        features=features,
        levels=prep.levels(prepared, len(channels)),
        types=types,
        intervals=intervals,
        objective=objective,
        encoder=plan.encoder,
        window=window,
        tile=choose_tile(given["tile"], plan.encoder, window),
        decoder=plan.decoder,
        tolerances=plan.tolerances,
        training=plan.training,
        epoch=plan.training.last,
        versions={"bdl": version("bdl"), "torch": torch.__version__},
    )
    identity = {}
    if directory is not None:
        # Without a validation part the decoder has no say in which weights are kept.
        aside = {"tile"} if validation else {"tile", "decoder"}
        identity = {
            **model.model_dump(mode="json", exclude=aside),
            "data": prep.data_digest(prepared),
            "validation": None if validation is None else prep.events_digest(*validation),
        }
    kept = train(
        module,
        objective,
        prepared,
        settings=plan.training,
        stride=features.stride,
        window=window,
        outputs=len(outputs),
        validate=validator(model, validation, event_free),
        directory=None if directory is None else Path(directory),
        identity=identity,
        tensorboard=given["tensorboard"],
        progress=given["progress"],
    )
    assert kept.best is not None
    module.load_state_dict(kept.checkpoints[kept.best])
    model = model.replace(epoch=kept.best)
    return Fitted(model, module.eval(), kept.history, kept.checkpoints)


def restore(path: str | Path, module: nn.Module | None) -> tuple[Fitted, dict[str, Any]]:
    """A trained model from its file, and the parameters of a detector that would train it again.

    ``module`` is the user's own module where the model was trained with one: the file holds its
    weights, not its code.
    """
    model, weights = read_model(path)
    if module is not None and not isinstance(model.encoder, Custom):
        raise ConfigError(f"{path}: has an encoder of the package; no module is needed")
    encoder = model.encoder if module is None else Encoder.parse(module)
    width = model.features.width(len(model.channels))
    try:
        with torch.random.fork_rng():
            built = encoder.build(width, len(model.outputs), model.features.calendar)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    try:
        built.load_state_dict(weights)
    except RuntimeError as error:
        raise InputError(f"{path}: its weights do not fit the encoder: {error}") from error
    parameters = {
        "objective": model.objective,
        "encoder": module or encoder,
        "stride": model.features.stride,
        "window": model.window * model.features.stride * model.period,
        "statistics": model.features.statistics,
        "calendar": model.features.calendar,
        "scaling": model.features.scaling,
        "decoder": model.decoder,
        "tolerances": model.tolerances,
        "tile": model.tile,
        **dict(model.training),
    }
    return Fitted(model, built.eval(), [], {}), parameters
