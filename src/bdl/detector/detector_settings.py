"""The settings of a detector as one validated value; conflicts between them are errors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, NonNegativeFloat, PositiveFloat, model_validator

from bdl.config import Value
from bdl.decoding import Decoder, default_decoder
from bdl.detector.lag import check_forward
from bdl.detector.presets import preset as preset_fields
from bdl.detector.selection import Selection
from bdl.detector.suitable_encoders import check_tree_loss, with_suitable_defaults
from bdl.encoders import Encoder
from bdl.encoders.ensemble import Ensemble
from bdl.encoders.recurrent import Recurrent
from bdl.encoders.trees import Trees
from bdl.errors import ConfigError
from bdl.features import Features
from bdl.kernels.automatic_kernel import AutomaticKernel
from bdl.objectives import Objective
from bdl.objectives.bdl import BDL
from bdl.training import Training

if TYPE_CHECKING:
    from bdl.datasets import Settings


class DetectorSettings(Value):
    """All settings of a detector.

    Parameters
    ----------
    objective
        What is learned: a value or a name of `bdl.objectives`, such as bdl-hard or seg-ce.
    encoder
        Sequence model: a value or a name of `bdl.encoders`, such as gru-and-trees or unet.
    features
        Input features per bin; see `bdl.features.Features`.
    window
        Seconds per training window; by default chosen from the data.
    decoder
        How a density becomes detections: a value or a name of `bdl.decoding`; by default chosen on
        held-out recordings.
    tolerances
        Matching tolerances in seconds, for every choice and for kernels without a width of their
        own; by default chosen from the data.
    training
        Optimizer, budget and device; see `bdl.training.Training`.
    selection
        What is chosen on held-out recordings; see `bdl.detector.Selection`.
    lag
        Seconds by which detections may be late, on streams; by default whole recordings are read,
        0 uses nothing later than the bin itself; see `bdl.detector.lag`.
    tile
        Largest number of bins for inference at once; by default that of the encoder.
    tilings
        Number of ways in which long recordings are cut into tiles; densities are averaged.

    Examples
    --------
    >>> settings = DetectorSettings(objective="bdl-gaussian", tolerances=(2.0, 5.0)).complete()
    >>> settings.objective.kernel, settings.decoder.kind
    (Gaussian(kind='gaussian', sigma=2.0), 'expected-ap')
    """

    objective: Objective = BDL(kernel=AutomaticKernel())
    encoder: Encoder = Ensemble(members=(Recurrent(), Trees()))
    features: Features = Features()
    window: PositiveFloat | None = None
    decoder: Decoder | None = None
    tolerances: tuple[PositiveFloat, ...] = ()
    training: Training = Training()
    selection: Selection = Selection()
    lag: NonNegativeFloat | None = None
    tile: Annotated[int, Field(ge=2)] | None = None
    tilings: Annotated[int, Field(ge=1, le=1000)] = 1

    @model_validator(mode="before")
    @classmethod
    def _suitable_defaults(cls, fields: Any) -> Any:
        if not isinstance(fields, Mapping):
            return fields
        return with_suitable_defaults(fields, cls.model_fields["encoder"].default)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.lag is not None:
            check_forward(self.encoder, self.features, self.selection, self.decoder)
        check_reads(self.decoder, self.objective)
        check_tree_loss(self.encoder, self.objective)
        for name, is_set, without_effect in (
            ("tile", self.tile is not None, self.encoder.causal or self.encoder.fixed_bins),
            ("tilings", self.tilings > 1, self.encoder.causal),
        ):
            if is_set and without_effect:
                why = "is causal" if self.encoder.causal else "has a fixed length"
                raise ValueError(
                    f"{name} has no effect: the encoder {self.encoder.kind!r} {why}; leave it out"
                )
        return self

    def check_given(self, fields: Mapping[str, Any] | None = None) -> None:
        """Raise an error for settings that have no effect, of those that the user has given.

        Parameters
        ----------
        fields
            Fields that were given; by default those of this value.
        """
        if fields is None:
            fields = {"training": self.training, "selection": self.selection}
        training = given_fields(fields.get("training", {}))
        for name in self._unused_training():
            if name in training:
                raise ConfigError(
                    f"training: {name}: has no effect with the encoder {self.encoder.kind!r}, "
                    "which is not trained by gradient descent; leave it out"
                )
        selection = given_fields(fields.get("selection", {}))
        for name in ("weights", "calibrated"):
            if name in selection and getattr(self.selection, name) and not self.selection.folds:
                raise ConfigError(
                    f"selection: {name}: has no effect without folds, which hold recordings out "
                    "to choose on; leave it out"
                )
        kinds = {member.kind for member in self.encoder.parts}
        unequal = isinstance(self.encoder, Ensemble) and self.encoder.weights is not None
        if "weights" in selection and self.selection.weights and len(kinds) == 1 and not unequal:
            raise ConfigError(
                f"selection: weights: has no effect with the encoder {self.encoder.kind!r}, which "
                "has no members of several kinds to weight; leave it out"
            )

    def _unused_training(self) -> dict[str, Any]:
        """Fields of the training without effect that differ from their defaults, with these."""
        defaults = {name: info.default for name, info in Training.model_fields.items()}
        return {
            name: default
            for name, default in defaults.items()
            if getattr(self.training, name) != default and not self.encoder.uses(name)
        }

    def _checked(self, fields: Mapping[str, Any]) -> Self:
        """Return a copy without what a preset has set and the encoder does not use."""
        self.check_given(fields)
        unused = self._unused_training()
        if not unused or isinstance(fields.get("training"), Training):
            return self
        return self.replace(training=self.training.replace(**unused))

    @property
    def is_complete(self) -> bool:
        """Whether all settings that are chosen for the data before training are given."""
        numbers = (self.features.stride, self.features.calendar, self.tolerances or None)
        window = self.window or self.encoder.fixed_bins
        return None not in (*numbers, window)

    @property
    def chooses_epoch(self) -> bool:
        """Whether weights of several epochs are kept, of which held-out recordings choose one."""
        return bool(self.training.checkpoint_epochs) or (self.training.checkpoints or 1) > 1

    def stopping_at(self, epoch: int) -> Self:
        """Return a copy whose training ends after an epoch that was chosen among the kept ones."""
        if not self.chooses_epoch:
            return self
        training = self.training.replace(
            checkpoints=None, checkpoint_epochs=(epoch,), stop_after=epoch
        )
        return self.replace(training=training)

    @classmethod
    def preset(cls, name: str, **fields: Any) -> Self:
        """Return the settings of a preset, with changes.

        Parameters
        ----------
        name
            ``fast``, ``best`` or ``paper``; see `bdl.detector.presets`.
        **fields
            Fields that differ; of features, training and selection only the given ones do.

        Examples
        --------
        >>> DetectorSettings.preset("best", selection={"folds": 5}).selection.rescoring.trees
        60
        """
        return cls(**merge(preset_fields(name, fields), fields))._checked(fields)

    @classmethod
    def of(cls, data: Settings, preset: str = "paper", **fields: Any) -> Self:
        """Return settings for a benchmark.

        Parameters
        ----------
        data
            Settings of the benchmark: stride, window, tolerances, kernel width and so on.
        preset
            With ``paper`` the settings have all numbers of the benchmark but scaling and jitter,
            which no preset takes; ``fast`` and ``best`` take its tolerances and choose the rest.
        **fields
            Fields that differ; of features and training only the given ones do.

        Examples
        --------
        >>> from bdl.datasets import Settings
        >>> data = Settings(types=("beat",), tolerances=(0.1,), stride=6, window=20.0,
        ...                 reference_spacing=0.8, sigma=0.05, separation=0.3)
        >>> settings = DetectorSettings.of(data, objective="bdl-gaussian", training={"seed": 5})
        >>> settings.objective.kernel.sigma, settings.features.stride, settings.training.seed
        (0.05, 6, 5)
        """
        numbers: dict[str, Any] = {"tolerances": data.tolerances}
        if preset == "paper":
            numbers["features"] = {"stride": data.stride, "calendar": data.calendar}
            numbers["window"] = data.window
        base = merge(preset_fields(preset, fields), numbers)
        settings = cls(**merge(base, fields))._checked(fields)
        if preset != "paper":
            return settings
        return settings.complete(
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
        """Return a copy in which settings that were not given and are not learned are filled in.

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
        if self.lag is not None:
            decoder = decoder.forward()
        return self.replace(objective=objective, decoder=decoder)


def check_reads(decoder: Decoder | None, objective: Objective) -> None:
    """Raise an error if a decoder reads densities of another kind than the objective gives."""
    kind = objective.density_kind
    if decoder is not None and decoder.reads != kind:
        fitting = [name for name, variant in Decoder.kinds().items() if variant.reads == kind]
        raise ValueError(
            f"decoder {decoder.kind!r} reads densities of kind {decoder.reads!r}, but objective "
            f"{objective.kind!r} gives kind {kind!r}; use {' or '.join(fitting)} (--decoder)"
        )


def given_fields(value: Value | Mapping[str, Any]) -> Collection[str]:
    """Names of the fields that were given of a value, or of a mapping."""
    return value.given if isinstance(value, Value) else value.keys()


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with changes; of features, training and selection only the given ones change.

    Examples
    --------
    >>> merge({"features": {"stride": 5}, "tile": 9}, {"features": {"calendar": True}})
    {'features': {'stride': 5, 'calendar': True}, 'tile': 9}
    """
    merged = {**base, **changes}
    for name in ("features", "training", "selection"):
        if isinstance(base.get(name), Mapping) and isinstance(changes.get(name), Mapping):
            merged[name] = {**base[name], **changes[name]}
    return merged
