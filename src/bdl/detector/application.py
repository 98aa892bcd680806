"""A trained model applied to recordings: which it accepts, densities, a validation score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from torch import nn

from bdl import decoding, evaluation
from bdl.decoding.candidates import ByType
from bdl.density import Density
from bdl.detector.model import Model
from bdl.detector.resample import resample as resampled
from bdl.encoders.allocator import keep_buffers
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.features import Binned, bin_features
from bdl.inference import density
from bdl.recording import Recording, Recordings
from bdl.rescoring.candidate_features import candidate_features
from bdl.training.preparation import check_events, check_like, same_period

# Features this many times larger or smaller than in training are in other units: a millivolt is a
# thousand microvolts.
OTHER_UNITS = 500.0


def accept(recording: Recording, model: Model, *, resample: bool) -> Recording:
    """Return the recording with the model's channels, in their order, on the model's clock.

    Channels are found by name; others are left out. Another period is an error without
    ``resample``.
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
    """Raise an error if all channels are far larger or smaller than in training."""
    present = ~binned.missing
    if not model.levels or not present.any():
        return
    means = np.abs(binned.values[present]).mean(axis=0, dtype=np.float64)
    levels = model.features.per_channel(means).mean(axis=1)
    trained = np.array(model.levels)
    known = (trained > 0) & (levels > 0)
    ratio = levels[known] / trained[known]
    if not len(ratio):
        return
    if ratio.min() > OTHER_UNITS or ratio.max() < 1 / OTHER_UNITS:
        names = [name for name, use in zip(model.channels, known, strict=True) if use]
        sizes = ", ".join(f"{name} {r:.2g} times" for name, r in zip(names, ratio, strict=True))
        raise InputError(
            f"recording {recording.id!r}: values of another size than in training ({sizes}); are "
            "they in other units?"
        )


def density_of(module: nn.Module, model: Model, recording: Recording, binned: Binned) -> Density:
    """Return the density of one recording, given its features."""
    keep_buffers()
    values = density(
        module,
        binned,
        outputs=len(model.outputs),
        link=model.objective.density,
        tile=model.tile,
        tilings=model.settings.tilings,
    )
    return Density(
        recording.id,
        values,
        model.outputs,
        model.period,
        stride=model.features.bin_samples,
        samples=recording.info.samples,
        kind=model.objective.density_kind,
        bounded=model.objective.bounded,
    )


def member_densities(module: nn.Module, model: Model, recording: Recording) -> list[Density]:
    """Return the density of a recording by each member of an ensemble, or by the only module."""
    accepted = accept(recording, model, resample=False)
    binned = bin_features(accepted, model.features)
    members = getattr(module, "members", None) or [module]
    return [density_of(member, model, accepted, binned) for member in members]


def describe(
    density: Density, candidates: ByType, binned: Binned, model: Model
) -> NDArray[np.float32]:
    """Return what the second stage knows about each detection of a recording."""
    return candidate_features(density, candidates, binned, model.features, model.tolerances)


def validator(
    model: Model,
    validation: tuple[Recordings, Events] | None,
    event_free: Literal["ignore", "count"],
) -> Callable[[nn.Module], float] | None:
    """Return a function that computes the event mAP of a module on the validation recordings.

    The model's decoder is used. Features are binned once, at the first call.
    """
    if validation is None:
        return None
    if not model.tolerances:
        raise ConfigError("validation needs tolerances in seconds")
    recordings, events = validation
    truth = check_events(events, recordings, unknown="ignore").select(types=model.types)
    if not len(truth):
        raise InputError("the validation part has no events of the trained types")
    features: list[tuple[Recording, Binned]] = []
    regions = evaluation.Regions.annotated(recordings.infos)

    def score(module: nn.Module) -> float:
        if not features:
            for recording in recordings:
                accepted = accept(recording, model, resample=False)
                without_values = Recording(
                    replace(accepted.info, channels=()), accepted.values[:, :0]
                )
                features.append((without_values, bin_features(accepted, model.features)))
        densities = (density_of(module, model, recording, binned) for recording, binned in features)
        detections = decoding.decode(densities, model.decoder, model.intervals)
        matches = evaluation.match(
            truth,
            detections,
            model.tolerances,
            types=model.types,
            event_free=event_free,
            recordings=recordings.ids,
            regions=regions,
        )
        return matches.mean_average_precision()

    return score
