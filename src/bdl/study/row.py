"""Rows of a study: what is compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from bdl.config import Value
from bdl.datasets import Settings
from bdl.decoding import Decoder
from bdl.detector.detector_settings import DetectorSettings, check_reads, given_fields, merge
from bdl.detector.presets import PresetName
from bdl.encoders import Encoder
from bdl.objectives import Objective
from bdl.training import Training

LearningRates = Annotated[tuple[PositiveFloat, ...], Field(min_length=1)]
Seeds = Annotated[tuple[int, ...], Field(min_length=1)]
NO_BUDGET = "gives other models on another machine, and the models of a study are the same on all"
DEVICE = ("accelerator", "devices", "precision")  # fields of `Training` that every row uses


class Row(Value):
    """One row of the comparison: an objective on an encoder, or a preset of the detector.

    The learning rate, epoch and decoder of an objective are selected by the study. A row with a
    preset is a `bdl.Detector`, which makes its own choices on groups that it holds out of the
    training part (`bdl.detector.Selection`).

    Parameters
    ----------
    name
        Name in tables.
    objective, encoder
        What is trained; a value, a mapping or a name. A preset has its own.
    stride
        Samples per output bin; None for that of the data set.
    lag
        Seconds by which detections may be late, with a forward encoder; None reads whole
        recordings, or with a preset takes it from ``detector``.
    method
        Name that rows share which differ only in their lag, for figures over the lag; empty for
        that of the objective.
    batch, learning_rates, seeds
        As in the protocol; None takes them from it.
    decoder
        A fixed decoder instead of the grid.
    preset
        Preset of the detector: fast, best or paper; see `bdl.detector.presets`.
    detector
        Fields of `bdl.detector.DetectorSettings` in which the row differs from its preset, without
        those that the row has itself.

    Examples
    --------
    >>> Row(name="BDL-Hard", objective="bdl-hard").encoder.kind
    'recurrent'
    >>> Row(name="Best", preset="best", detector={"training": {"updates": 100}}).encoder.kind
    'ensemble'
    """

    name: str = Field(min_length=1)
    objective: Objective
    encoder: Encoder = Field("gru", validate_default=True)
    stride: PositiveInt | None = None
    lag: NonNegativeFloat | None = None
    method: str = ""
    batch: PositiveInt | None = None
    learning_rates: LearningRates | None = None
    seeds: Seeds | None = None
    decoder: Decoder | None = None
    preset: PresetName | None = None
    detector: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of_preset(cls, name: str, preset: str, detector: Mapping[str, Any]) -> Self:
        """A row that is a preset of the detector, with the fields in which it differs."""
        fields: dict[str, Any] = {"name": name, "preset": preset, "detector": dict(detector)}
        return cls(**fields)

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, fields: Any) -> Any:
        """Set the encoder and the objective of a row without one by its preset or its lag.

        A copy and a row of a stored protocol have all fields, and are taken as they are.
        """
        if not isinstance(fields, dict) or cls.model_fields.keys() <= fields.keys():
            return fields
        if fields.get("preset") is None:
            if fields.get("lag") is not None and "encoder" not in fields:
                fields = {**fields, "encoder": "forward-gru"}
            return fields
        detector = fields.get("detector") or {}
        own = {key: fields[key] for key in ("objective", "encoder", "lag") if key in fields}
        if twice := [key for key in own if key in detector]:
            raise ValueError(
                f"{' and '.join(twice)}: given on the row and in its detector; keep one"
            )
        settings = DetectorSettings.preset(fields["preset"], **detector, **own)
        return {**fields, "objective": settings.objective, "encoder": settings.encoder}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.preset is None and self.detector:
            raise ValueError("detector has no effect without preset")
        for key in ("stride", "batch", "learning_rates", "decoder"):
            if self.preset is not None and getattr(self, key) is not None:
                raise ValueError(f"{key} has no effect beside preset; give it in detector")
        self._check_training()
        if self.preset is None:
            check_reads(self.decoder, self.objective)
        if self.lag is not None and self.decoder is not None and self.decoder.looks_ahead:
            raise ValueError(
                f"a row with a lag needs a decoder with a bounded look-ahead, and {self.decoder!r} "
                f"has none: {self.decoder.looks_ahead}"
            )
        return self

    def _check_training(self) -> None:
        """Refuse what the training of the row does not use, if it was given."""
        for key, name in (("learning_rates", "learning_rate"), ("batch", "batch")):
            if key in self.given and getattr(self, key) and not self.encoder.uses(name):
                raise ValueError(
                    f"{key} has no effect with the encoder {self.encoder.kind!r}, which is not "
                    "trained by gradient descent; leave it out"
                )
        training = self.detector.get("training", {}) if "detector" in self.given else {}
        for name, reason in (
            ("seed", "has no effect, because a study has its own; give seeds"),
            ("budget", f"{NO_BUDGET}; give epochs or updates"),
        ):
            if name in given_fields(training) and dict(training)[name] is not None:
                raise ValueError(f"detector: training: {name}: {reason}")

    def detector_settings(self, data: Settings, training: Training) -> DetectorSettings:
        """Settings of the detector of a row with a preset, on data with these settings.

        The device is that of ``training``, the training of the protocol.
        """
        assert self.preset is not None
        parts: dict[str, Any] = {"objective": self.objective, "encoder": self.encoder}
        if self.lag is not None:
            parts["lag"] = self.lag
        device = {name: getattr(training, name) for name in DEVICE if self.encoder.uses(name)}
        fields = merge({"training": device}, {**self.detector, **parts})
        settings = DetectorSettings.of(data, self.preset, **fields)
        return settings if self.detector.get("decoder") else settings.replace(decoder=None)
