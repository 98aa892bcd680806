"""The detector: the object that most users work with.

Examples
--------
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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from torch import Tensor, nn

from bdl.decoding import Decoder
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.fitting import fit_model, restore
from bdl.detector.model_training import FittedModel, Reporting
from bdl.detector.nested_parameters import NestedParameters
from bdl.detector.prediction import Prediction
from bdl.detector.selection import Selection
from bdl.encoders import Encoder
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.features import Features
from bdl.intervals import IntervalType
from bdl.objectives import Objective
from bdl.recording import Recordings
from bdl.training import Training
from bdl.training.history import Epoch

Plain = Mapping[str, Any]
DEFAULT = DetectorSettings()  # the preset ``fast``; values are immutable


class Detector(Prediction, NestedParameters):
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
        Seconds per training window; None is chosen for the data.
    decoder
        A value or a name of `bdl.decoding`; None is chosen on held-out recordings.
    tolerances
        Matching tolerances in seconds, for every choice and for kernels without a width of their
        own (the finest tolerance); none are chosen for the data.
    training
        Optimizer, budget and device; see `bdl.training.Training`.
    selection
        How recordings are held out, and what is chosen on them; see `bdl.detector.Selection`.
    tile
        Largest number of bins for inference at once; None for the encoder's own.
    tilings
        Number of ways in which long recordings are cut into tiles; densities are averaged.
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
    rescorer_ : Rescorer or None
        The second stage, if there is one.
    checkpoints_ : dict
        Weights of the kept epochs by epoch.
    """

    history_: list[Epoch]
    best_epoch_: int
    checkpoints_: dict[int, dict[str, Tensor]]

    def __init__(
        self,
        *,
        objective: Objective | Plain | str = DEFAULT.objective,
        encoder: Encoder | nn.Module | Plain | str = DEFAULT.encoder,
        features: Features | Plain = DEFAULT.features,
        window: float | None = None,
        decoder: Decoder | Plain | str | None = None,
        tolerances: Sequence[float] = (),
        training: Training | Plain = DEFAULT.training,
        selection: Selection | Plain = DEFAULT.selection,
        tile: int | None = None,
        tilings: int = 1,
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
        self.selection = selection
        self.tile = tile
        self.tilings = tilings
        self.directory = directory
        self.tensorboard = tensorboard
        self.progress = progress

    @property
    def settings(self) -> DetectorSettings:
        """The parameters as one validated value."""
        names = DetectorSettings.model_fields
        return DetectorSettings(**{name: getattr(self, name) for name in names})

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Self:
        """Return a detector with the settings of a preset, with changes.

        Parameters
        ----------
        name
            ``fast`` (the default), ``best`` or ``paper``; see `bdl.detector.presets`.
        **changes
            Parameters that differ; of features, training and selection only the given fields do.

        Examples
        --------
        >>> Detector.preset("best", training={"seed": 1}).selection.folds
        3
        """
        names = DetectorSettings.model_fields
        settings = {key: value for key, value in changes.items() if key in names}
        others = {key: value for key, value in changes.items() if key not in names}
        return cls(**dict(DetectorSettings.preset(name, **settings)), **others)

    def fit(
        self,
        recordings: Recordings,
        events: Events,
        *,
        validation: tuple[Recordings, Events] | None = None,
        intervals: Sequence[IntervalType] | None = None,
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
            Recordings and events on which everything is chosen, instead of parts of the training
            recordings; the detector is then trained once, on all training recordings.
        intervals
            Interval types: which event types are onset and offset of what. None takes pairs of
            types whose names say so, such as sleep:onset and sleep:offset.
        types
            Event types to learn; None for all that occur.
        event_free
            Whether held-out recordings without events count.
        unknown
            Whether events of recordings that are not given are an error or ignored.
        """
        trained = fit_model(
            self.settings,
            recordings,
            events,
            validation=validation,
            intervals=None if intervals is None else tuple(intervals),
            types=types,
            event_free=event_free,
            unknown=unknown,
            reporting=Reporting(
                None if self.directory is None else Path(self.directory),
                self.tensorboard,
                self.progress,
            ),
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
        return detector._set(
            FittedModel(model, module, self.rescorer_, self.history_, self.checkpoints_)
        )

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
        self.rescorer_ = trained.rescorer
        self.history_ = trained.history
        self.best_epoch_ = trained.model.epoch
        self.checkpoints_ = trained.checkpoints
        return self
