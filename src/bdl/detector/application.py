"""A trained model applied to recordings: what it accepts, densities, a validation score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
import torch
from torch import nn

from bdl import decoding, evaluation
from bdl.density import Density
from bdl.detector.modelfile import Model
from bdl.detector.resampling import resample as resampled
from bdl.encoders.memory import keep_buffers
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.features import Binned, bin_features
from bdl.inference import logits
from bdl.recording import Recording, Recordings
from bdl.training.preparation import check_events, check_like, same_period

# Features of a recording this many times those of training, or this part of them, are in other
# units: millivolts are a thousand microvolts.
UNITS = 500.0


def accept(recording: Recording, model: Model, *, resample: bool) -> Recording:
    """The recording with the model's channels, in their order, on the model's clock.

    Channels are found by name; others are left out. Another period is an error, unless
    resampling was asked for.
    """
    info = recording.info
    if info.channels != model.channels and set(model.channels) <= set(info.channels):
        columns = [info.channels.index(name) for name in model.channels]
        values = np.ascontiguousarray(recording.values[:, columns])
        recording = Recording(replace(info, channels=model.channels), values)
    if resample and not same_period(info.period, model.period):
        recording = resampled(recording, model.period)
    check_like(recording.info, model.channels, model.period, "the model")
    return recording


def check_units(recording: Recording, binned: Binned, model: Model) -> None:
    """Refuse values that are far larger or smaller in every channel than those of training."""
    there = ~binned.missing
    if not model.levels or not there.any():
        return
    means = np.abs(binned.values[there]).mean(axis=0, dtype=np.float64)
    now = means.reshape(len(model.channels), -1).mean(axis=1)
    trained = np.array(model.levels)
    known = (trained > 0) & (now > 0)
    ratio = now[known] / trained[known]
    if not len(ratio):
        return
    if ratio.min() > UNITS or ratio.max() < 1 / UNITS:
        names = [name for name, use in zip(model.channels, known, strict=True) if use]
        told = ", ".join(f"{n} {r:.2g} times" for n, r in zip(names, ratio, strict=True))
        raise InputError(
            f"recording {recording.id!r}: values of another size than in training ({told}); are "
            "they in other units?"
        )


def density_of(module: nn.Module, model: Model, recording: Recording, binned: Binned) -> Density:
    """The density of one recording whose features are at hand."""
    keep_buffers()
    raw = logits(module, binned, outputs=len(model.outputs), tile=model.tile)
    with torch.inference_mode():
        values = model.objective.density(torch.from_numpy(raw)).numpy()
    return Density(
        recording.id,
        values,
        model.outputs,
        model.period,
        stride=model.features.stride,
        samples=recording.info.samples,
        kind=model.objective.density_kind,
        bounded=model.objective.bounded,
    )


def validator(
    model: Model,
    validation: tuple[Recordings, Events] | None,
    event_free: Literal["ignore", "count"],
) -> Callable[[nn.Module], float] | None:
    """Event mAP of a module on the validation part, with the model's decoder.

    Features are binned once, at the first call.
    """
    if validation is None:
        return None
    if not model.tolerances:
        raise ConfigError("validation needs tolerances in seconds")
    recordings, events = validation
    truth = check_events(events, recordings, unknown="ignore").select(types=model.types)
    if not len(truth):
        raise InputError("the validation part has no events of the trained types")
    held: list[tuple[Recording, Binned]] = []

    def score(module: nn.Module) -> float:
        if not held:
            for one in recordings:
                taken = accept(one, model, resample=False)
                light = Recording(replace(taken.info, channels=()), taken.values[:, :0])
                held.append((light, bin_features(taken, model.features)))
        found = (density_of(module, model, one, binned) for one, binned in held)
        detections = decoding.decode(found, model.decoder, model.intervals)
        matches = evaluation.match(
            truth,
            detections,
            model.tolerances,
            types=model.types,
            event_free=event_free,
            recordings=recordings.ids,
        )
        return matches.mean_average_precision()

    return score
