"""A trained model applied to recordings: checks of the input, densities, a validation score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bdl import decoding, evaluation
from bdl.binning import Binned, bin_features
from bdl.decoding.candidates import ByType
from bdl.density import Density
from bdl.detector.model import Model
from bdl.encoders.allocator import keep_buffers
from bdl.errors import ConfigError, InputError
from bdl.evaluation.matching import EventFree
from bdl.evaluation.scored_parts import scored_parts
from bdl.events import Events
from bdl.formats.polyphase import on_one_clock
from bdl.recording import Recording, RecordingInfo, Recordings
from bdl.rescoring.candidate_features import candidate_features
from bdl.training.preparation import check_like, events_of, same_period
from bdl.units import in_units

# Torch is imported where it computes, so that an exported model is applied without it.
if TYPE_CHECKING:
    from torch import nn

# Features this many times larger or smaller than in training are in other units: a millivolt is a
# thousand microvolts.
OTHER_UNITS = 500.0
# A recording without its values, which need not stay in memory, and its features.
Featured = tuple[RecordingInfo, Binned]


def accept(recording: Recording, model: Model, *, resample: bool) -> Recording:
    """Return the recording with the model's channels, in their order, on the model's clock.

    Channels are found by name; others are left out. Units that differ are converted. Another period
    is an error without ``resample``.
    """
    info = recording.info
    if info.channels != model.channels and set(model.channels) <= set(info.channels):
        columns = [info.channels.index(name) for name in model.channels]
        values = np.ascontiguousarray(recording.values[:, columns])
        units = tuple(info.units[column] for column in columns) if info.units else ()
        recording = Recording(replace(info, channels=model.channels, units=units), values)
    if model.units and recording.info.units:
        converted = in_units(Recordings.of([recording]), model.units_by_channel, "the model")
        recording = converted[info.id]
    if resample and not same_period(info.period, model.period):
        recording = on_one_clock(Recordings.of([recording]), 1 / model.period)[recording.id]
    check_like(recording.info, model.channels, model.period, "the model")
    return recording


def features_of(recording: Recording, model: Model) -> Binned:
    """Return the features of a recording, with the blank bins that a lag needs at its end."""
    return bin_features(recording, model.features, blank=model.lag)


def check_units(recording: Recording, binned: Binned, model: Model) -> None:
    """Raise an error if all channels are far larger or smaller than in training."""
    present = ~binned.missing
    if not model.levels or not present.any():
        return
    means = np.abs(binned.values[present]).mean(axis=0, dtype=np.float64)
    levels = model.features.per_channel(means).mean(axis=1)
    trained = np.array(model.levels)
    comparable = (trained > 0) & (levels > 0)
    ratio = levels[comparable] / trained[comparable]
    if len(ratio) and (ratio.min() > OTHER_UNITS or ratio.max() < 1 / OTHER_UNITS):
        names = [name for name, use in zip(model.channels, comparable, strict=True) if use]
        sizes = ", ".join(f"{name} {r:.2g} times" for name, r in zip(names, ratio, strict=True))
        trained_units = f" than {', '.join(dict.fromkeys(model.units))}" if model.units else ""
        raise InputError(
            f"recording {recording.id!r}: values of another size than in training ({sizes}); are "
            f"they in other units{trained_units}? Give their units to convert them "
            "(channel_units=, --channel-unit CHANNEL=UNIT)"
        )


def densities_of(
    module: nn.Module, model: Model, features: Iterable[Featured]
) -> Iterator[tuple[Binned, Density]]:
    """Yield the features and the density of each recording."""
    from bdl.batched_inference import densities, inference_batches

    keep_buffers()
    for batch in inference_batches(features, module, lambda item: len(item[1])):
        values = densities(
            module,
            [binned for _, binned in batch],
            outputs=len(model.outputs),
            link=model.objective.density,
            tile=model.tile,
            tilings=model.settings.tilings,
        )
        for (info, binned), array in zip(batch, values, strict=True):
            yield binned, density_from(model, info, array)


def density_from(model: Model, info: RecordingInfo, outputs: NDArray[np.float32]) -> Density:
    """Return the density of a recording, given the densities (bins, outputs) of the encoder."""
    return Density(
        info.id,
        outputs[model.lag :],  # the output of a bin is that many bins late
        model.outputs,
        info.period,  # the recording's own: a millionth is 2.6 s in a month
        stride=model.features.bin_samples,
        samples=info.samples,
        kind=model.objective.density_kind,
        bounded=model.objective.bounded,
    )


def member_densities(module: nn.Module, model: Model, recording: Recording) -> list[Density]:
    """Return the density of a recording by each member of an ensemble, or by the only module."""
    from bdl.encoders.networks.ensemble import members_of

    accepted = accept(recording, model, resample=False)
    features = [(accepted.info, features_of(accepted, model))]
    return [
        density
        for member in members_of(module)
        for _, density in densities_of(member, model, features)
    ]


def describe(
    density: Density, candidates: ByType, binned: Binned, model: Model
) -> NDArray[np.float32]:
    """Return the features of each detection of a recording, for the second stage."""
    return candidate_features(density, candidates, binned, model.features, model.tolerances)


def validator(
    model: Model,
    validation: tuple[Recordings, Events] | None,
    event_free: EventFree,
) -> Callable[[nn.Module], float] | None:
    """Return a function that computes the event mAP of a module on the validation recordings.

    The model's decoder is used. Features are binned once, at the first call.
    """
    if validation is None:
        return None
    if not model.tolerances:
        raise ConfigError("validation needs tolerances in seconds")
    recordings, events = validation
    truth = events_of(events, recordings, unknown="ignore").select(types=model.types)
    if not len(truth):
        raise InputError("the validation part has no events of the trained types")
    features: list[Featured] = []

    def score(module: nn.Module) -> float:
        if not features:
            for recording in recordings:
                accepted = accept(recording, model, resample=False)
                features.append((accepted.info, features_of(accepted, model)))
        densities = (density for _, density in densities_of(module, model, features))
        detections = decoding.decode(densities, model.decoder, model.intervals)
        matches = evaluation.match(
            truth,
            detections,
            model.tolerances,
            types=model.types,
            event_free=event_free,
            **scored_parts(recordings.infos),
        )
        return matches.mean_average_precision()

    return score
