"""Training of one model on recordings and their events, with complete settings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from bdl import stride as strides
from bdl.detector.application import validator
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.model import Model
from bdl.detector.provenance import Provenance
from bdl.encoders.vectors import vector_bits
from bdl.errors import ConfigError
from bdl.evaluation.matching import EventFree
from bdl.events import Events
from bdl.installation import version
from bdl.intervals import IntervalType
from bdl.labels import Labels, mean_spacing
from bdl.recording import Recordings
from bdl.rescoring import Rescorer
from bdl.sampling import bin_count
from bdl.training import preparation
from bdl.training.batches import TrainingRecording
from bdl.training.history import Epoch
from bdl.training.task import TrainingTask
from bdl.units import common_units
from bdl.windows import lag_bins, window_bins


@dataclass(frozen=True)
class FittedModel:
    """A trained model: configuration, module, second stage, history, and weights of kept epochs."""

    model: Model
    module: nn.Module
    rescorer: Rescorer | None = None
    history: Sequence[Epoch] = ()
    checkpoints: dict[int, dict[str, Tensor]] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainingData:
    """Recordings to learn from, with their events and what of them is learned."""

    recordings: Recordings
    events: Events
    types: tuple[str, ...]
    intervals: tuple[IntervalType, ...]
    event_free: EventFree

    def part(self, ids: Sequence[str]) -> TrainingData:
        """Return the part of some recordings."""
        return TrainingData(
            self.recordings.select(ids),
            self.events.select(recordings=ids),
            self.types,
            self.intervals,
            self.event_free,
        )


@dataclass(frozen=True)
class Reporting:
    """Where a training keeps its files, and what it shows."""

    directory: Path | None = None
    tensorboard: bool = False
    progress: bool = False

    def inside(self, name: str) -> Reporting:
        """Return the same for a subfolder, for a training that is a part of another."""
        folder = None if self.directory is None else self.directory / name
        return Reporting(folder, self.tensorboard, self.progress)


def train_model(
    settings: DetectorSettings,
    data: TrainingData,
    reporting: Reporting,
    validation: TrainingData | None = None,
) -> FittedModel:
    """Train one model.

    Parameters
    ----------
    settings
        Complete settings.
    data
        What to learn from.
    reporting
        Where files are kept, and what is shown.
    validation
        Recordings on which the kept epochs are scored; the model has the weights of the best.
    """
    model, prepared = untrained_model(settings, data)
    identity = {}
    if reporting.directory is not None:
        # Without validation recordings the decoder does not influence which weights are kept.
        free = {"settings", "tile", "provenance"} | (set() if validation else {"decoder"})
        digest = preparation.training_events_digest
        identity = {
            **settings.model_dump(mode="json", exclude={"decoder", "tile"}),
            **model.model_dump(mode="json", exclude=free),
            "data": model.provenance and model.provenance.digest,
            "validation": validation and digest(validation.recordings, validation.events),
        }
    with torch.random.fork_rng():
        torch.manual_seed(settings.training.seed)
        module = model.build()
    held = None if validation is None else (validation.recordings, validation.events)
    task = TrainingTask(
        model.objective,
        prepared,
        settings.training,
        model.features,
        model.window,
        len(model.outputs),
        validate=validator(model, held, data.event_free),
        directory=reporting.directory,
        identity=identity,
        tensorboard=reporting.tensorboard,
        progress=reporting.progress,
    )
    result = settings.encoder.train(module, task)
    assert result.best is not None
    module.load_state_dict(result.checkpoints[result.best])
    model = model.replace(epoch=result.best)
    return FittedModel(model, module.eval(), None, result.history, result.checkpoints)


def untrained_model(
    settings: DetectorSettings, data: TrainingData
) -> tuple[Model, list[TrainingRecording]]:
    """Return a model with all that it learns from the data before its training, and the data."""
    assert settings.decoder is not None
    channels, period = preparation.check_recordings(data.recordings)
    types, intervals = data.types, data.intervals
    settings.objective.outputs(types, intervals)  # an error if it cannot learn these
    window = choose_window(settings, data.recordings)
    features = settings.features.fit(data.recordings)
    stride = features.bin_samples
    prepared = preparation.prepare(
        data.recordings,
        data.events,
        features,
        types=types,
        intervals=intervals,
        lag=lag_bins(settings.lag, period=period, stride=stride),
    )
    labels = [recording.labels for recording in prepared]
    warn(preparation.check_labels(labels, types), labels, period, settings)
    model = Model(
        settings=settings,
        channels=channels,
        period=period,
        units=_units(data.recordings, channels),
        types=types,
        intervals=intervals,
        features=features,
        levels=preparation.levels(prepared, features),
        objective=settings.objective.resolve(labels, stride=stride),
        window=window,
        tile=settings.tile or settings.encoder.tile(window),
        decoder=settings.decoder,
        epoch=1,  # until it is known
        provenance=provenance_of(prepared),
        versions={
            "bdl": version(),
            "torch": torch.__version__,
            "vector_bits": str(vector_bits()),
        },
    )
    return model, prepared


def provenance_of(
    prepared: Sequence[TrainingRecording], *, before: Provenance | None = None
) -> Provenance:
    """Return what is trained on; ``before`` is that of the model that the training starts at."""
    labels = [recording.labels for recording in prepared]
    return Provenance(
        recordings=len(labels),
        hours=round(sum(label.samples * label.period for label in labels) / 3600, 3),
        events=sum(len(samples) for label in labels for samples in label.events),
        digest=preparation.data_digest(prepared),
        before=before,
    )


def _units(recordings: Recordings, channels: Sequence[str]) -> tuple[str, ...]:
    """Return the unit of each channel; none if none is known."""
    units = common_units(recordings)
    return tuple(units.get(channel, "") for channel in channels) if units else ()


def choose_window(settings: DetectorSettings, recordings: Recordings) -> int:
    """Return the bins of a training window; the encoder's own if its length is fixed."""
    window, stride = settings.window, settings.features.bin_samples
    period = recordings.infos[0].period
    longest = max(recordings.infos, key=lambda info: info.samples)
    bins = bin_count(longest.samples, stride)
    fixed = settings.encoder.fixed_bins
    if window is None:
        return fixed or bins
    chosen = window_bins(window, period=period, stride=stride)
    if fixed is not None and chosen != fixed:
        raise ConfigError(
            f"the encoder needs windows of exactly {fixed} bins ({fixed * stride * period:g} s at "
            f"stride {stride}), and the window of {window:g} s has {chosen}"
        )
    if chosen > bins:
        raise ConfigError(
            f"the window of {window:g} s is longer than every recording; the longest, "
            f"{longest.id!r}, has {longest.duration:g} s; give a shorter one (--window)"
        )
    return chosen


def warn(outside: int, labels: Sequence[Labels], period: float, settings: DetectorSettings) -> None:
    """Warn about unusual training data, and about a stride that does not suit them."""
    if outside:
        warnings.warn(
            f"{outside} events are outside their recordings and are left out", stacklevel=5
        )
    for sentence in strides.check(
        period=period,
        stride=settings.features.bin_samples,
        tolerances=settings.tolerances,
        spacing=mean_spacing(labels),
    ):
        warnings.warn(f"stride: {sentence}", stacklevel=5)
    empty = np.array([not any(map(len, recording.events)) for recording in labels])
    if empty.mean() > 0.9 and len(labels) > 10:
        warnings.warn(
            f"{int(empty.sum())} of {len(labels)} training recordings have no events",
            stacklevel=5,
        )
