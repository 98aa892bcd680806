"""The detector: the object that most users work with.

>>> import numpy as np
>>> from bdl import Events, Recording, Recordings
>>> rng = np.random.default_rng(0)
>>> def night(id):
...     values = rng.normal(size=600).astype(np.float32)
...     values[[150, 450]] += 20
...     return Recording.of(values, id=id, period=1.0)
>>> recordings = Recordings.of([night(id) for id in "abcd"])
>>> events = Events.of([*"aabbccdd"], "spike", [150.0, 450.0] * 4)
>>> detector = Detector(
...     features={"stride": 5}, tolerances=(10.0,), training={"epochs": 2, "seed": 1}
... )
>>> detector.fit(recordings, events).detect(recordings).types
('spike',)
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from torch import Tensor, nn

from bdl import decoding
from bdl.config import Value
from bdl.decoding import Calibration, Decoder, Grid
from bdl.density import Density
from bdl.detector.application import accept, check_units, density_of
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.fitting import FittedModel, fit_model, restore
from bdl.detector.model import Model
from bdl.detector.modelfile import write_model
from bdl.encoders import Encoder
from bdl.errors import ConfigError
from bdl.evaluation import Metric
from bdl.events import Events
from bdl.features import Features, bin_features
from bdl.intervals import IntervalType
from bdl.objectives import Objective
from bdl.recording import Recording, Recordings
from bdl.training import Training
from bdl.training.history import Epoch
from bdl.training.preparation import check_events

Plain = Mapping[str, Any]
FEATURES, TRAINING = Features(), Training()  # the defaults; values are immutable


class DetectorNotFittedError(ConfigError, NotFittedError):  # type: ignore[misc]
    """A detector was used before it was fitted."""


class Detector(BaseEstimator):  # type: ignore[misc]
    """Learns the density of events and detects them, following scikit-learn's conventions.

    Wherever a value is expected, a mapping of its fields or, for variants, a name does as well.
    `fit` validates them; arguments that contradict each other or have no effect are errors.

    Parameters
    ----------
    objective
        What is learned: a value or a name of `bdl.objectives`, such as ``bdl-hard``.
    encoder
        Sequence model: a value or a name of `bdl.encoders`, such as ``gru``, or your own
        ``torch.nn.Module``, which is called as ``module(values, hour, weekday, mask)`` and returns
        logits (batch, bins, outputs).
    features
        Input features per bin; see `bdl.features.Features`.
    window
        Seconds per training window; None for the longest recording.
    decoder
        A value or a name of `bdl.decoding`; None for the recommended decoder.
    tolerances
        Matching tolerances in seconds, for validation, the default decoder, kernels without a width
        of their own (the finest tolerance), and the check of the stride.
    training
        Optimizer, budget and device; see `bdl.training.Training`.
    tile
        Largest number of bins for inference at once; None for the encoder's own.
    directory
        Folder for logs and checkpoints. An interrupted fit in it is resumed.
    tensorboard
        Also log for TensorBoard, to the directory.
    progress
        Show a progress bar while fitting.

    Attributes
    ----------
    model_ : Model
        Configuration of the fitted detector, with everything learned but the weights.
    module_ : torch.nn.Module
        The trained module.
    history_ : list of Epoch
        One row per epoch: loss, learning rate, seconds, validation score.
    best_epoch_ : int
        The epoch whose weights the detector has.
    checkpoints_ : dict
        Weights of the kept epochs by epoch.
    """

    model_: Model
    module_: nn.Module
    history_: list[Epoch]
    best_epoch_: int
    checkpoints_: dict[int, dict[str, Tensor]]

    def __init__(
        self,
        *,
        objective: Objective | Plain | str = "bdl-hard",
        encoder: Encoder | nn.Module | Plain | str = "gru",
        features: Features | Plain = FEATURES,
        window: float | None = None,
        decoder: Decoder | Plain | str | None = None,
        tolerances: Sequence[float] = (),
        training: Training | Plain = TRAINING,
        tile: int | None = None,
        directory: str | Path | None = None,
        tensorboard: bool = False,
        progress: bool = False,
    ) -> None:
        self.objective = objective
        self.encoder = encoder
        self.features = features
        self.window = window
        self.decoder = decoder
        self.tolerances = tolerances
        self.training = training
        self.tile = tile
        self.directory = directory
        self.tensorboard = tensorboard
        self.progress = progress

    @property
    def settings(self) -> DetectorSettings:
        """The parameters as one validated value."""
        return DetectorSettings(**{name: getattr(self, name) for name in _SETTINGS})

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also fields of values: ``set_params(training__epochs=5)``."""
        nested = {name: value for name, value in params.items() if "__" in name}
        super().set_params(**{name: params[name] for name in params if name not in nested})
        for name, value in nested.items():
            parameter, _, path = name.partition("__")
            if parameter not in _SETTINGS or not isinstance(
                current := getattr(self.settings, parameter), Value
            ):
                raise ValueError(f"parameter {parameter!r} has no fields, so {name!r} is not known")
            setattr(self, parameter, _with_field(current, path, value))
        return self

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
    ) -> Self:
        """Train on recordings and their events.

        Parameters
        ----------
        recordings
            Recordings with the same channels and period.
        events
            Annotations of these recordings.
        validation
            Recordings and events on which the kept epochs are scored (event mAP with the decoder);
            the detector has the weights of the best epoch. Without it, those of the last epoch.
        intervals
            Interval types: which event types are onset and offset of what.
        types
            Event types to learn; None for all that occur.
        event_free
            Whether validation recordings without events count.
        unknown
            Whether events of recordings that are not given are an error or ignored.
        """
        trained = fit_model(
            self.settings,
            recordings,
            events,
            validation=validation,
            intervals=tuple(intervals),
            types=types,
            event_free=event_free,
            unknown=unknown,
            directory=None if self.directory is None else Path(self.directory),
            tensorboard=self.tensorboard,
            progress=self.progress,
        )
        return self._set(trained)

    def checkpoint(self, epoch: int) -> Detector:
        """Return the detector with the weights of one of the kept epochs."""
        self._check_fitted()
        if epoch not in self.checkpoints_:
            kept = ", ".join(map(str, self.checkpoints_)) or "none"
            raise ConfigError(f"no weights of epoch {epoch} were kept; kept are {kept}")
        module = copy.deepcopy(self.module_)
        module.load_state_dict(self.checkpoints_[epoch])
        detector = type(self)(**self.get_params(deep=False))
        model = self.model_.replace(epoch=epoch)
        return detector._set(FittedModel(model, module, self.history_, self.checkpoints_))

    def density(self, recording: Recording, *, resample: bool = False) -> Density:
        """Compute the density of one recording.

        Parameters
        ----------
        recording
            Recording with the channels and the period of the training recordings.
        resample
            Whether to resample a recording of another period.
        """
        self._check_fitted()
        recording = accept(recording, self.model_, resample=resample)
        binned = bin_features(recording, self.model_.features)
        check_units(recording, binned, self.model_)
        return density_of(self.module_, self.model_, recording, binned)

    def densities(
        self, recordings: Recordings | Iterable[Recording], *, resample: bool = False
    ) -> Iterator[Density]:
        """Compute densities of many recordings, one at a time."""
        self._check_fitted()
        return (self.density(recording, resample=resample) for recording in recordings)

    def detect(
        self,
        recordings: Recordings | Recording | Iterable[Recording],
        *,
        resample: bool = False,
    ) -> Events:
        """Detect events in one or many recordings; each has a score.

        Parameters
        ----------
        recordings
            One recording, or several.
        resample
            Whether to resample recordings of another period.
        """
        many = [recordings] if isinstance(recordings, Recording) else recordings
        densities = self.densities(many, resample=resample)
        return decoding.decode(densities, self.model_.decoder, self.model_.intervals)

    def calibrate(
        self,
        recordings: Recordings,
        events: Events,
        *,
        grid: Grid | Plain | str | None = None,
        tolerances: Sequence[float] | None = None,
        metric: str | Metric = "mAP",
        event_free: Literal["ignore", "count"] = "ignore",
    ) -> Calibration:
        """Choose the decoder on recordings that were not trained on, and keep it.

        Parameters
        ----------
        recordings, events
            Calibration recordings and their annotations.
        grid
            Decoders to try: a value or a name of `bdl.decoding.Grid`. None for the default grid of
            the density's kind (`bdl.decoding.default_grid`): settings of expected AP for events, of
            transitions for states, with and without alternation if there are interval types.
        tolerances
            Matching tolerances in seconds; None for the detector's own.
        metric
            Score by which the decoder is chosen.
        event_free
            Whether recordings without events count.

        Returns
        -------
        Calibration
            The chosen decoder, its score, and everything that was tried.
        """
        self._check_fitted()
        model = self.model_
        chosen = tuple(model.tolerances if tolerances is None else tolerances)
        if not chosen:
            raise ConfigError("calibrate needs tolerances in seconds")
        if grid is None:
            grid = decoding.default_grid(
                model.objective.density_kind,
                tolerances=chosen,
                separation=dict(model.decoder).get("separation", 0.0),
                alternations=(False, True) if model.intervals else (False,),
            )
        calibration = decoding.calibrate(
            self.densities(recordings),
            check_events(events, recordings, unknown="ignore"),
            grid,
            tolerances=chosen,
            metric=metric,
            intervals=model.intervals,
            event_free=event_free,
        )
        self.set_decoder(calibration.decoder)
        return calibration

    def set_decoder(self, decoder: Decoder | Plain | str) -> Self:
        """Replace the decoder of the fitted detector."""
        self._check_fitted()
        chosen = Decoder.parse(decoder, "decoder").complete(self.model_.tolerances)
        self.model_.settings.replace(decoder=chosen)  # refuses one that reads another density
        self.model_ = self.model_.replace(decoder=chosen)
        return self

    def save(self, path: str | Path) -> None:
        """Write the fitted detector to one file; see `bdl.detector.modelfile`."""
        self._check_fitted()
        write_model(path, self.model_, self.module_.state_dict())

    @classmethod
    def load(cls, path: str | Path, *, module: nn.Module | None = None) -> Self:
        """Read a fitted detector from its file; nothing in the file is run.

        Parameters
        ----------
        path
            The file.
        module
            The module itself if the model was trained with a user's own one: the file contains its
            weights, but not its code.
        """
        trained = restore(path, module)
        return cls(**dict(trained.model.settings))._set(trained)

    def _set(self, trained: FittedModel) -> Self:
        self.model_ = trained.model
        self.module_ = trained.module
        self.history_ = trained.history
        self.best_epoch_ = trained.model.epoch
        self.checkpoints_ = trained.checkpoints
        return self

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise DetectorNotFittedError(
                "the detector is not fitted yet: call fit, or load a saved one"
            )


_SETTINGS = tuple(DetectorSettings.model_fields)


def _with_field(value: Value, path: str, new: object) -> Value:
    """Return a value with one field changed, given by names joined with ``__``.

    >>> _with_field(Features(), "stride", 5).stride
    5
    """
    name, _, rest = path.partition("__")
    if name not in type(value).model_fields:
        known = ", ".join(type(value).model_fields)
        raise ValueError(f"{type(value).__name__} has no field {name!r}; it has {known}")
    inner = getattr(value, name)
    return value.replace(**{name: _with_field(inner, rest, new) if rest else new})
