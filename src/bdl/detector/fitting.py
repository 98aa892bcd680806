"""Fitting: from settings, recordings and events to a trained model; and back from its file."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from bdl import stride as strides
from bdl.detector.application import validator
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.model import Model
from bdl.detector.modelfile import read_model
from bdl.encoders import Encoder
from bdl.encoders.custom import Custom
from bdl.encoders.vectors import vector_bits
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.labels import Labels, mean_spacing
from bdl.recording import Recordings
from bdl.sampling import bin_count
from bdl.training import preparation
from bdl.training.history import Epoch
from bdl.training.task import TrainingTask
from bdl.windows import window_bins


@dataclass(frozen=True)
class FittedModel:
    """A trained model: configuration, module, history, and weights of kept epochs."""

    model: Model
    module: nn.Module
    history: list[Epoch] = field(default_factory=list)
    checkpoints: dict[int, dict[str, Tensor]] = field(default_factory=dict)


def fit_model(
    settings: DetectorSettings,
    recordings: Recordings,
    events: Events,
    *,
    validation: tuple[Recordings, Events] | None,
    intervals: tuple[IntervalType, ...],
    types: Sequence[str] | None,
    event_free: Literal["ignore", "count"],
    unknown: Literal["error", "ignore"],
    directory: Path | None,
    tensorboard: bool,
    progress: bool,
) -> FittedModel:
    """Train on recordings and their events; see `bdl.detector.Detector`.

    All settings, and everything that can be wrong with the data, are checked before the first step.
    """
    complete = settings.complete()
    assert complete.decoder is not None
    if event_free != "ignore" and validation is None:
        raise ConfigError("event_free has no effect without validation recordings")
    channels, period = preparation.check_recordings(recordings)
    events = preparation.check_events(events, recordings, unknown=unknown)
    types = preparation.choose_types(events, intervals, types)
    outputs = complete.objective.outputs(types, intervals)
    window = choose_window(complete, recordings)
    features = complete.features.fit(recordings)
    prepared = preparation.prepare(recordings, events, features, types=types, intervals=intervals)
    labels = [recording.labels for recording in prepared]
    warn(preparation.check_labels(labels, types), labels, period, complete)
    model = Model(
        settings=settings,
        channels=channels,
        period=period,
        types=types,
        intervals=intervals,
        features=features,
        levels=preparation.levels(prepared, features),
        objective=complete.objective.resolve(labels, stride=features.stride),
        window=window,
        tile=complete.tile or complete.encoder.tile(window),
        decoder=complete.decoder,
        epoch=1,  # until it is known
        versions={
            "bdl": version("bdl"),
            "torch": torch.__version__,
            "vector_bits": str(vector_bits()),
        },
    )
    identity = {}
    if directory is not None:
        # Without validation recordings the decoder does not influence which weights are kept.
        free = {"settings", "tile"} | (set() if validation else {"decoder"})
        identity = {
            **settings.model_dump(mode="json", exclude={"decoder", "tile"}),
            **model.model_dump(mode="json", exclude=free),
            "data": preparation.data_digest(prepared),
            "validation": None if validation is None else preparation.events_digest(*validation),
        }
    with torch.random.fork_rng():
        torch.manual_seed(complete.training.seed)
        module = model.build()
    task = TrainingTask(
        model.objective,
        prepared,
        complete.training,
        features,
        window,
        len(outputs),
        validate=validator(model, validation, event_free),
        directory=directory,
        identity=identity,
        tensorboard=tensorboard,
        progress=progress,
    )
    result = complete.encoder.train(module, task)
    assert result.best is not None
    module.load_state_dict(result.checkpoints[result.best])
    model = model.replace(epoch=result.best)
    return FittedModel(model, module.eval(), result.history, result.checkpoints)


def restore(path: str | Path, module: nn.Module | None) -> FittedModel:
    """Return a trained model from its file.

    ``module`` is the user's own module if the model was trained with one: the file contains its
    weights, but not its code.
    """
    model, weights = read_model(path)
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
    return FittedModel(model, built.eval())


def choose_window(settings: DetectorSettings, recordings: Recordings) -> int:
    """Return the bins of a training window; the encoder's own if its length is fixed."""
    window, period, stride = settings.window, recordings.infos[0].period, settings.features.stride
    longest = max(recordings.infos, key=lambda info: info.samples)
    bins = bin_count(longest.samples, stride)
    fixed = settings.encoder.fixed_bins
    if window is None:
        return fixed or bins
    wanted = window_bins(window, period=period, stride=stride)
    if fixed is not None and wanted != fixed:
        raise ConfigError(
            f"the encoder needs windows of exactly {fixed} bins ({fixed * stride * period:g} s at "
            f"stride {stride}), and the window of {window:g} s has {wanted}"
        )
    if wanted > bins:
        raise ConfigError(
            f"the window of {window:g} s is longer than every recording; the longest, "
            f"{longest.id!r}, has {longest.duration:g} s"
        )
    return wanted


def warn(outside: int, labels: Sequence[Labels], period: float, settings: DetectorSettings) -> None:
    """Warn about unusual training data, and about a stride that does not suit them."""
    if outside:
        warnings.warn(
            f"{outside} events are outside their recordings and are left out", stacklevel=4
        )
    for sentence in strides.check(
        period=period,
        stride=settings.features.stride,
        tolerances=settings.tolerances,
        spacing=mean_spacing(labels),
    ):
        warnings.warn(f"stride: {sentence}", stacklevel=4)
    empty = np.array([not any(map(len, recording.events)) for recording in labels])
    if empty.mean() > 0.9 and len(labels) > 10:
        warnings.warn(
            f"{int(empty.sum())} of {len(labels)} training recordings have no events",
            stacklevel=4,
        )
