"""A trained detector as one value, without its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, PositiveFloat, PositiveInt

from bdl.config import Value
from bdl.decoding import Decoder
from bdl.detector.choices import Choices, OperatingPoint
from bdl.detector.detector_settings import DetectorSettings
from bdl.encoders import Encoder
from bdl.features import Features
from bdl.intervals import IntervalType
from bdl.objectives import Objective

if TYPE_CHECKING:
    from torch import nn


class Model(Value):
    """A trained detector without its weights.

    Parameters
    ----------
    settings
        Settings that it was trained with: those of the detector, and what was chosen where they
        were open.
    channels, period
        Channels that a recording must have, and its seconds per sample.
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
    operating_point
        How detections are selected where a yes or no is needed; None if nothing was held out.
    choices
        What was chosen on held-out recordings, with the scores that decided.
    epoch
        Epoch of these weights.
    versions
        Versions of this package and of torch that wrote it, and the width of the vectors in use.
    """

    settings: DetectorSettings
    channels: tuple[str, ...] = Field(min_length=1)
    period: PositiveFloat
    types: tuple[str, ...] = Field(min_length=1)
    intervals: tuple[IntervalType, ...] = ()
    features: Features
    levels: tuple[float, ...] = ()
    objective: Objective
    window: PositiveInt
    tile: PositiveInt
    decoder: Decoder
    operating_point: OperatingPoint | None = None
    choices: Choices | None = None
    epoch: PositiveInt
    versions: dict[str, str] = Field(default_factory=dict)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Name of each output column."""
        return self.objective.outputs(self.types, self.intervals)

    @property
    def tolerances(self) -> tuple[float, ...]:
        """Matching tolerances in seconds."""
        return self.settings.tolerances

    def build(self, encoder: Encoder | None = None) -> nn.Module:
        """Return a new module with random weights, of the model's or another encoder."""
        inputs = self.features.width(len(self.channels))
        chosen = (encoder or self.settings.encoder).complete(self.features.statistics)
        module = chosen.build(inputs, len(self.outputs), bool(self.features.calendar))
        if hasattr(module, "link"):
            module.link = self.objective.density  # type: ignore[assignment]
        return module
