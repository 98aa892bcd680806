"""The detector: the one object that most users meet.

>>> import numpy as np
>>> from bdl import Events, Recording, Recordings
>>> rng = np.random.default_rng(0)
>>> def night(id):
...     values = rng.normal(size=600).astype(np.float32)
...     values[[150, 450]] += 20
...     return Recording.of(values, id=id, period=1.0)
>>> recordings = Recordings.of([night(id) for id in "abcd"])
>>> events = Events.of([*"aabbccdd"], "spike", [150.0, 450.0] * 4)
>>> detector = Detector(stride=5, epochs=2, tolerances=(10.0,), seed=1)
>>> found = detector.fit(recordings, events).detect(recordings)
>>> found.types
('spike',)
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from sklearn.base import BaseEstimator
from torch import nn

from bdl import decoding
from bdl.config import Value
from bdl.density import Density
from bdl.detector.application import accept, check_units, density_of
from bdl.detector.fitting import Fitted, fit_model, restore
from bdl.detector.modelfile import Model, write_model
from bdl.detector.plan import default_grid
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.features import STATISTICS, bin_features
from bdl.intervals import IntervalType
from bdl.recording import Recording, Recordings
from bdl.training import Epoch
from bdl.training.preparation import check_events


class Detector(BaseEstimator):  # type: ignore[misc]
    """Learns the density of events and detects them, in the manner of scikit-learn.

    Parameters
    ----------
    objective : a value of `bdl.objectives`, or a name such as ``bdl-hard``.
    encoder : a value of `bdl.encoders`, a name such as ``gru``, or your own ``torch.nn.Module``
        that is called as ``module(values, hour, weekday, mask)`` and gives (batch, bins, outputs).
    stride : samples an output bin.
    window : seconds of a training window; None for the longest recording.
    statistics, calendar, scaling : features of a bin; see `bdl.features`. A scaling is a value,
        ``robust``, a number to divide by, or None.
    decoder : a value of `bdl.decoding`; None for the recommended one.
    tolerances : matching tolerances in seconds, for validation, the default decoder and the
        stride's check.
    separation : least seconds between detections of one type, for the default decoder.
    sigma, reference_spacing : seconds, for an objective given by name.
    epochs, batch, learning_rate, clip, jitter, seed, checkpoint_epochs, stop_after, accelerator,
    devices, precision : see `bdl.training.Training`.
    tile : most bins that inference takes at once; None for the default.
    directory : where logs and checkpoints go, and where an interrupted fit goes on.
    tensorboard : log for TensorBoard too.
    progress : show a progress bar while fitting.
    """

    def __init__(
        self,
        *,
        objective: Value | str = "bdl-hard",
        encoder: Value | nn.Module | str = "gru",
        stride: int = 1,
        window: float | None = None,
        statistics: Sequence[str] = STATISTICS,
        calendar: bool = False,
        scaling: Value | str | float | None = None,
        decoder: Value | None = None,
        tolerances: Sequence[float] = (),
        separation: float = 0.0,
        sigma: float | None = None,
        reference_spacing: float | None = None,
        epochs: int = 20,
        batch: int = 32,
        learning_rate: float = 3e-3,
        clip: float | None = 0.1,
        jitter: int = 0,
        seed: int = 0,
        checkpoint_epochs: Sequence[int] = (),
        stop_after: int | None = None,
        accelerator: str = "auto",
        devices: Any = 1,
        precision: str = "32-true",
        tile: int | None = None,
        directory: str | Path | None = None,
        tensorboard: bool = False,
        progress: bool = False,
    ) -> None:
        self.objective = objective
        self.encoder = encoder
        self.stride = stride
        self.window = window
        self.statistics = statistics
        self.calendar = calendar
        self.scaling = scaling
        self.decoder = decoder
        self.tolerances = tolerances
        self.separation = separation
        self.sigma = sigma
        self.reference_spacing = reference_spacing
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.clip = clip
        self.jitter = jitter
        self.seed = seed
        self.checkpoint_epochs = checkpoint_epochs
        self.stop_after = stop_after
        self.accelerator = accelerator
        self.devices = devices
        self.precision = precision
        self.tile = tile
        self.directory = directory
        self.tensorboard = tensorboard
        self.progress = progress

    def fit(
        self,
        recordings: Recordings,
        events: Events,
        *,
        validation: tuple[Recordings, Events] | None = None,
        intervals: Sequence[IntervalType] = (),
        types: Sequence[str] | None = None,
        event_free: Literal["ignore", "count"] = "ignore",
        unknown: Literal["error", "ignore"] = "error",
    ) -> Detector:
        """Train on recordings and their events.

        Parameters
        ----------
        recordings : all with the same channels and period.
        events : annotations of these recordings.
        validation : recordings and events on which the epochs of ``checkpoint_epochs`` are scored
            (event mAP with the decoder); the best epoch's weights are then the detector's.
            Without it, the last epoch's are.
        intervals : which event types are onset and offset of what.
        types : event types to learn; all that occur if None.
        event_free : whether validation recordings without events count.
        unknown : events of recordings that are not given are an error, or left out.
        """
        self._fitted = fit_model(
            self.get_params(deep=False),
            recordings,
            events,
            validation=validation,
            intervals=tuple(intervals),
            types=types,
            event_free=event_free,
            unknown=unknown,
        )
        return self

    @property
    def model(self) -> Model:
        """The whole configuration of the fitted detector."""
        return self._state.model

    @property
    def history(self) -> list[Epoch]:
        """One row an epoch: loss, learning rate, seconds, validation score."""
        return self._state.history

    @property
    def best_epoch(self) -> int:
        """The epoch whose weights the detector has."""
        return self._state.model.epoch

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """Epochs whose weights were kept."""
        return tuple(self._state.checkpoints)

    def checkpoint(self, epoch: int) -> Detector:
        """The detector as it was after one of the kept epochs."""
        state = self._state
        if epoch not in state.checkpoints:
            there = ", ".join(map(str, state.checkpoints)) or "none"
            raise ConfigError(f"no weights were kept of epoch {epoch}; there are {there}")
        module = copy.deepcopy(state.module)
        module.load_state_dict(state.checkpoints[epoch])
        made = type(self)(**self.get_params(deep=False))
        made._fitted = replace(state, model=state.model.replace(epoch=epoch), module=module)
        return made

    def density(self, recording: Recording, *, resample: bool = False) -> Density:
        """What the model says of every bin of one recording.

        Parameters
        ----------
        recording : with the channels and period that the model was trained on.
        resample : bring a recording of another period onto the model's clock first.
        """
        state = self._state
        recording = accept(recording, state.model, resample=resample)
        binned = bin_features(recording, state.model.features)
        check_units(recording, binned, state.model)
        return density_of(state.module, state.model, recording, binned)

    def densities(
        self, recordings: Recordings | Iterable[Recording], *, resample: bool = False
    ) -> Iterator[Density]:
        """Densities of many recordings, one at a time."""
        return (self.density(recording, resample=resample) for recording in recordings)

    def detect(
        self,
        recordings: Recordings | Recording | Iterable[Recording],
        *,
        resample: bool = False,
    ) -> Events:
        """Scored events of one or many recordings."""
        model = self._state.model
        many = [recordings] if isinstance(recordings, Recording) else recordings
        found = self.densities(many, resample=resample)
        return decoding.decode(found, model.decoder, model.intervals)

    def calibrate(
        self,
        recordings: Recordings,
        events: Events,
        *,
        grid: Any = None,
        tolerances: Sequence[float] | None = None,
        metric: str = "mAP",
        event_free: Literal["ignore", "count"] = "ignore",
    ) -> Any:
        """Choose the decoder on recordings that were not trained on, and freeze it.

        Parameters
        ----------
        recordings, events : the calibration part.
        grid : decoders to try; None for the paper's grid of the objective's kind.
        tolerances : in seconds; None for the detector's own.
        metric : what the choice is made by.
        event_free : whether recordings without events count.

        Returns what `bdl.decoding.calibrate` says: the decoder, its score, and all that was tried.
        """
        state = self._state
        chosen = tuple(state.model.tolerances if tolerances is None else tolerances)
        if not chosen:
            raise ConfigError("calibrate needs tolerances in seconds")
        calibration = decoding.calibrate(
            [*self.densities(recordings)],
            check_events(events, recordings, unknown="ignore"),
            grid if grid is not None else default_grid(state.model, chosen, self.separation),
            tolerances=chosen,
            metric=metric,
            intervals=state.model.intervals,
            event_free=event_free,
        )
        self.set_decoder(calibration.decoder)
        return calibration

    def set_decoder(self, decoder: Value) -> Detector:
        """Freeze another decoder into the fitted detector."""
        self._fitted = replace(self._state, model=self._state.model.replace(decoder=decoder))
        return self

    def save(self, path: str | Path) -> None:
        """Write the fitted detector to one file; see `bdl.detector.modelfile`."""
        state = self._state
        write_model(path, state.model, state.module.state_dict())

    @classmethod
    def load(cls, path: str | Path, *, module: nn.Module | None = None) -> Detector:
        """A fitted detector from its file; nothing in the file is run.

        Parameters
        ----------
        path : the file.
        module : the module itself, where the model was trained with a user's own one: the file
            holds its weights, not its code.
        """
        fitted, parameters = restore(path, module)
        made = cls(**parameters)
        made._fitted = fitted
        return made

    @property
    def _state(self) -> Fitted:
        if not hasattr(self, "_fitted"):
            raise ConfigError("the detector is not fitted yet: call fit, or load a saved one")
        return self._fitted

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")
