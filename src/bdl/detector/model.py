"""A trained detector as one value, without its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from bdl.config import Value
from bdl.decoding import Decoder
from bdl.detector.choices import Choices
from bdl.detector.cross_validation import CrossValidation
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.operating_point import OperatingPoint
from bdl.detector.provenance import Provenance
from bdl.encoders import Encoder
from bdl.errors import ConfigError
from bdl.features import Features
from bdl.formats.reading import Reading
from bdl.intervals import IntervalType
from bdl.objectives import Objective
from bdl.rescoring import Rescorer, ScoreCalibration
from bdl.windows import lag_bins

if TYPE_CHECKING:
    from torch import nn

OLDER_CALIBRATION = "calibration"  # array beside the trees, in files of older versions


class Model(Value):
    """A trained detector without its weights.

    Parameters
    ----------
    settings
        Settings that it was trained with: those of the detector, and what was chosen where they
        were open.
    channels, period
        Channels that a recording must have, and its seconds per sample.
    units
        Unit of each channel, empty where it is not known; none if none is.
    types, intervals
        Event types and interval types, in training order.
    features
        Features with learned scaling.
    levels
        Mean absolute feature of each channel in training, to recognise other units.
    objective
        Objective with everything that it learned from training labels.
    window
        Bins per training window.
    tile
        Largest number of bins for inference at once.
    decoder
        The decoder of rankings, after calibration the calibrated one.
    calibration
        Calibration of the scores of rankings; None if they are those of the decoder.
    operating_point
        How detections are selected where a yes or no is needed; None if nothing was held out.
    choices
        What was chosen on held-out recordings, with the scores that decided.
    epoch
        Epoch of these weights.
    durations
        Shortest and longest annotated interval in seconds, by interval type.
    reading
        How the training recordings were read from files; None if they were not, or it is not known.
    cross_validation
        Score of this recipe on the same data by nested cross-validation; None if it is not known.
    provenance
        What it was trained on; None if it is not known.
    versions
        Versions of this package and of torch that wrote it, and the width of the vectors in use.
    """

    settings: DetectorSettings
    channels: tuple[str, ...] = Field(min_length=1)
    period: PositiveFloat
    units: tuple[str, ...] = ()
    types: tuple[str, ...] = Field(min_length=1)
    intervals: tuple[IntervalType, ...] = ()
    features: Features
    levels: tuple[float, ...] = ()
    objective: Objective
    window: PositiveInt
    tile: PositiveInt
    decoder: Decoder
    calibration: ScoreCalibration | None = None
    operating_point: OperatingPoint | None = None
    choices: Choices | None = None
    epoch: PositiveInt
    durations: dict[str, tuple[float, float]] = Field(default_factory=dict)
    reading: Reading | None = None
    cross_validation: CrossValidation | None = None
    provenance: Provenance | None = None
    versions: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _calibrates_its_types(self) -> Self:
        point = self.operating_point
        for calibration in (self.calibration, point.calibration if point else None):
            if calibration is not None and (missing := {*self.types} - {*calibration.types}):
                raise ValueError(f"calibration: no curve for {', '.join(sorted(missing))}")
        return self

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name of each output column."""
        return self.objective.outputs(self.types, self.intervals)

    @property
    def units_by_channel(self) -> dict[str, str]:
        """Unit of each channel that has a known one."""
        units = zip(self.channels, self.units, strict=False)
        return {channel: unit for channel, unit in units if unit}

    @property
    def lag(self) -> int:
        """Bins by which outputs are late; 0 without a lag."""
        return lag_bins(self.settings.lag, period=self.period, stride=self.features.bin_samples)

    @property
    def tolerances(self) -> tuple[float, ...]:
        """Matching tolerances in seconds."""
        return self.settings.tolerances

    def issue_times(self, known: NDArray[np.int64], samples: int | None) -> NDArray[np.float64]:
        """Times in seconds of the last samples that were needed for the densities of some bins.

        ``samples`` is the length of a recording that has ended.
        """
        end = (known + self.lag + 1) * self.features.bin_samples
        last = np.minimum(end, end if samples is None else samples) - 1
        times: NDArray[np.float64] = last * self.period
        return times

    def build(self, encoder: Encoder | None = None) -> nn.Module:
        """Return a new module with random weights, of the model's or another encoder."""
        from bdl.encoders.networks.ensemble import EnsembleEncoder
        from bdl.encoders.networks.module import capabilities

        inputs = self.features.width(len(self.channels))
        chosen = (encoder or self.settings.encoder).complete(self.features.statistics)
        module = chosen.build(inputs, len(self.outputs), bool(self.features.calendar))
        if self.settings.lag is not None and not capabilities(module).carries_state:
            raise ConfigError(
                f"lag: the module of the encoder {chosen.kind!r} cannot run bin by bin; give a "
                "recurrent encoder, causal trees, or a module with causal = True and the methods "
                "initial_state and step"
            )
        for part in module.modules():  # a member of an ensemble may be an ensemble, too
            if isinstance(part, EnsembleEncoder):
                part.link = self.objective.density
        return module


def with_second_stage(model: Model, arrays: Mapping[str, NDArray[Any]]) -> tuple[Model, Rescorer]:
    """Return a model and its second stage, given the arrays that a file keeps of it.

    Older files keep the calibration of scores among the arrays, or have none.
    """
    rescorer = Rescorer.from_arrays(arrays)
    if model.calibration is not None:
        return model, rescorer
    curves = arrays.get(OLDER_CALIBRATION, np.zeros((1, 2))).reshape(-1, 2).tolist()
    if len(curves) == 1:
        curves *= len(model.outputs)
    if len(curves) != len(model.outputs):
        raise ConfigError(f"{len(curves)} curves of scores for {len(model.outputs)} event types")
    extended = tuple((intercept, slope, 0.0) for intercept, slope in curves)
    calibration = ScoreCalibration(types=model.outputs, curves=extended)
    return model.replace(calibration=calibration), rescorer
