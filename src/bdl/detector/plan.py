"""A detector's parameters, validated: names become values, and conflicts are errors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl import decoding
from bdl import stride as strides
from bdl.config import Value
from bdl.detector.modelfile import Model
from bdl.encoders import Encoder
from bdl.errors import ConfigError
from bdl.features import Features
from bdl.labels import Labels, mean_spacing
from bdl.objectives import Objective
from bdl.recording import Recordings
from bdl.sampling import bin_count
from bdl.scaling import Divisor, Scaling
from bdl.training import Training
from bdl.windows import window_bins


@dataclass(frozen=True)
class Plan:
    """The validated parameters of a detector."""

    features: Features
    objective: Any
    encoder: Encoder
    decoder: Any
    training: Training
    tolerances: tuple[float, ...]


def make_plan(given: dict[str, Any]) -> Plan:
    """Validate all parameters of a detector, before any data are read."""
    tolerances = tuple(float(value) for value in given["tolerances"])
    if any(not value > 0 for value in tolerances):
        raise ConfigError(f"tolerances: positive numbers of seconds expected, got {tolerances}")
    features = Features(
        stride=given["stride"],
        statistics=tuple(given["statistics"]),
        calendar=given["calendar"],
        scaling=scaling_value(given["scaling"]),
    )
    sigma = given["sigma"]
    objective = Objective.parse(given["objective"], "objective").complete(
        sigma=min(tolerances, default=None) if sigma is None else sigma,
        tolerances=tolerances,
        reference_spacing=given["reference_spacing"],
    )
    names = Training.model_fields
    settings = {key: value for key, value in given.items() if key in names}
    settings["checkpoint_epochs"] = tuple(settings["checkpoint_epochs"])
    return Plan(
        features,
        objective,
        Encoder.parse(given["encoder"], "encoder"),
        decoder_value(given["decoder"], objective, tolerances, given),
        Training(**settings),
        tolerances,
    )


def scaling_value(given: object) -> Any:
    """The scaling as a value; a name, a divisor, or None for no scaling.

    >>> scaling_value(100.0), scaling_value("robust").kind
    (Divisor(kind='divisor', by=100.0), 'robust')
    """
    if isinstance(given, int | float) and not isinstance(given, bool):
        return Divisor(by=given)
    return Scaling.parse("none" if given is None else given, "scaling")


def decoder_value(
    given: object, objective: Any, tolerances: tuple[float, ...], parameters: dict[str, Any]
) -> Any:
    """The decoder given, or the recommended one."""
    if given is not None:
        return decoding.Decoder.parse(given, "decoder").complete(tolerances)
    return decoding.default_decoder(
        objective.density_kind, tolerances=tolerances, separation=parameters["separation"]
    )


def default_grid(model: Model, tolerances: tuple[float, ...], separation: float) -> Any:
    """Decoders that calibration tries where none are named."""
    return decoding.default_grid(
        model.objective.density_kind,
        tolerances=tolerances,
        separation=separation,
        alternations=(False, True) if model.intervals else (False,),
    )


def choose_window(window: float | None, recordings: Recordings, plan: Plan) -> int:
    """Bins of a training window; the encoder's own where its length is fixed."""
    period, stride = recordings.infos[0].period, plan.features.stride
    longest = max(recordings.infos, key=lambda info: info.samples)
    bins = bin_count(longest.samples, stride)
    fixed = plan.encoder.fixed_bins
    if window is None:
        return fixed or bins
    asked = window_bins(window, period=period, stride=stride)
    if fixed is not None and asked != fixed:
        raise ConfigError(
            f"the encoder takes windows of exactly {fixed} bins ({fixed * stride * period:g} s at "
            f"stride {stride}), and the window of {window:g} s has {asked}"
        )
    if asked > bins:
        raise ConfigError(
            f"the window of {window:g} s is longer than every recording; the longest, "
            f"{longest.id!r}, has {longest.duration:g} s"
        )
    return asked


def choose_tile(tile: int | None, encoder: Encoder, window: int) -> int:
    """Most bins that inference takes at once; by default what the encoder says."""
    if tile is not None and tile < 2:
        raise ConfigError(f"tile: at least 2 bins expected, got {tile}")
    return encoder.tile(window) if tile is None else tile


def warn(outside: int, labels: Sequence[Labels], period: float, plan: Plan) -> None:
    """Say what is odd about the training part, and what speaks against the stride."""
    if outside:
        warnings.warn(
            f"{outside} events lie outside their recordings and are left out", stacklevel=3
        )
    found = strides.check(
        period=period,
        stride=plan.features.stride,
        tolerances=plan.tolerances,
        spacing=mean_spacing(labels),
    )
    for sentence in found:
        warnings.warn(f"stride: {sentence}", stacklevel=3)
    missing = np.array([not any(map(len, one.events)) for one in labels])
    if missing.mean() > 0.9 and len(labels) > 10:
        warnings.warn(
            f"{int(missing.sum())} of {len(labels)} training recordings have no events",
            stacklevel=3,
        )


def _plain(given: object) -> object:
    """A value as it is; plain data stay plain data, to be validated."""
    return given if isinstance(given, Value | dict) else {"kind": given}
