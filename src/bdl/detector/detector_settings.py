"""The settings of a detector as one validated value; conflicts between them are errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, PositiveFloat, model_validator

from bdl.config import Value
from bdl.decoding import Decoder, default_decoder
from bdl.encoders import Encoder
from bdl.encoders.recurrent import Recurrent
from bdl.features import Features
from bdl.objectives import Objective
from bdl.objectives.bdl import BDL
from bdl.training import Training

if TYPE_CHECKING:
    from bdl.datasets import Settings


class DetectorSettings(Value):
    """All that a detector learns from besides its data.

    Parameters
    ----------
    objective
        What is learned: a value or a name of `bdl.objectives`, such as bdl-hard or seg-ce.
    encoder
        Sequence model: a value or a name of `bdl.encoders`, such as gru, unet or transformer.
    features
        Input features per bin; see `bdl.features.Features`.
    window
        Seconds per training window; none for the longest recording.
    decoder
        How a density becomes detections: a value or a name of `bdl.decoding`; none for the
        recommended decoder.
    tolerances
        Matching tolerances in seconds, for validation, the default decoder, kernels without a width
        of their own, and the check of the stride.
    training
        Optimizer, budget and device; see `bdl.training.Training`.
    tile
        Largest number of bins for inference at once; none for the encoder's own.

    Examples
    --------
    >>> settings = DetectorSettings(objective="bdl-gaussian", tolerances=(2.0, 5.0)).complete()
    >>> settings.objective.kernel, settings.decoder.kind
    (Gaussian(kind='gaussian', sigma=2.0), 'expected-ap')
    """

    objective: Objective = BDL()
    encoder: Encoder = Recurrent()
    features: Features = Features()
    window: PositiveFloat | None = None
    decoder: Decoder | None = None
    tolerances: tuple[PositiveFloat, ...] = ()
    training: Training = Training()
    tile: Annotated[int, Field(ge=2)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        kind = self.objective.density_kind
        if self.decoder is not None and self.decoder.reads != kind:
            fitting = [name for name, each in Decoder.kinds().items() if each.reads == kind]
            raise ValueError(
                f"decoder {self.decoder.kind!r} reads densities of kind {self.decoder.reads!r}, "
                f"but objective {self.objective.kind!r} gives kind {kind!r}; "
                f"use {' or '.join(fitting)}"
            )
        if self.tile is not None and (self.encoder.causal or self.encoder.fixed_bins):
            why = "is causal" if self.encoder.causal else "has a fixed length"
            raise ValueError(
                f"tile has no effect: the encoder {self.encoder.kind!r} {why}; leave it out"
            )
        return self

    @classmethod
    def of(cls, data: Settings, **fields: Any) -> Self:
        """Return settings for a benchmark, complete with its numbers.

        Parameters
        ----------
        data
            Settings of the benchmark: stride, window, tolerances, kernel width and so on.
        **fields
            Fields that differ; of features and training only the given ones do.

        Examples
        --------
        >>> from bdl.datasets import Settings
        >>> data = Settings(types=("beat",), tolerances=(0.1,), stride=6, window=20.0,
        ...                 reference_spacing=0.8, sigma=0.05, separation=0.3)
        >>> settings = DetectorSettings.of(data, objective="bdl-gaussian", training={"epochs": 5})
        >>> settings.objective.kernel.sigma, settings.features.stride, settings.training.epochs
        (0.05, 6, 5)
        """
        features: dict[str, Any] = {"stride": data.stride, "calendar": data.calendar}
        if data.divisor is not None:
            features["scaling"] = {"kind": "divisor", "by": data.divisor}
        base = {
            "features": features,
            "window": data.window,
            "tolerances": data.tolerances,
            "training": {"jitter": data.jitter},
        }
        return cls(**merge(base, fields)).complete(
            sigma=data.sigma,
            reference_spacing=data.reference_spacing,
            separation=data.separation,
        )

    def complete(
        self,
        *,
        sigma: float | None = None,
        reference_spacing: float | None = None,
        separation: float = 0.0,
    ) -> Self:
        """Return a copy in which everything that was left open, but not learned, is filled in.

        Parameters
        ----------
        sigma
            Width in seconds of kernels without one; by default the finest tolerance.
        reference_spacing
            Mean seconds between events of one type; by default estimated from training labels.
        separation
            Least time between two detections of one type in seconds, for default decoders that
            need it.

        Raises
        ------
        ConfigError
            If a kernel or decoder lacks a number that it needs.
        """
        objective = self.objective.complete(
            sigma=min(self.tolerances, default=None) if sigma is None else sigma,
            tolerances=self.tolerances,
            reference_spacing=reference_spacing,
        )
        decoder = (
            self.decoder.complete(self.tolerances)
            if self.decoder is not None
            else default_decoder(
                objective.density_kind, tolerances=self.tolerances, separation=separation
            )
        )
        return self.replace(objective=objective, decoder=decoder)


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with changes; of features and training only the given fields change.

    Examples
    --------
    >>> merge({"features": {"stride": 5}, "tile": 9}, {"features": {"calendar": True}})
    {'features': {'stride': 5, 'calendar': True}, 'tile': 9}
    """
    merged = {**base, **changes}
    for name in ("features", "training"):
        if isinstance(base.get(name), Mapping) and isinstance(changes.get(name), Mapping):
            merged[name] = {**base[name], **changes[name]}
    return merged
