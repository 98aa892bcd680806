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
>>> few = {"epochs": 2, "seed": 1}
>>> detector = Detector(features={"stride": 5}, tolerances=(10.0,), training=few)
>>> detector.fit(recordings, events).detect(recordings).types
('spike',)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Literal, Never, Self

from torch import nn

from bdl import pretrained
from bdl.decoding import Decoder
from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.fine_tuning import fine_tune, shorter_training
from bdl.detector.fitting import fit_model, restore
from bdl.detector.misplaced_arguments import check_misplaced
from bdl.detector.model_training import FittedModel, Reporting
from bdl.detector.module_prediction import ModulePrediction
from bdl.detector.nested_parameters import NestedParameters
from bdl.detector.selection import Selection
from bdl.encoders import Encoder
from bdl.errors import ConfigError
from bdl.evaluation.matching import EventFree
from bdl.events import Events
from bdl.features import Features
from bdl.intervals import IntervalType
from bdl.objectives import Objective
from bdl.recording import Recordings
from bdl.training import Training, preparation

Plain = Mapping[str, Any]
DEFAULT = DetectorSettings()  # the preset ``fast``; values are immutable


class Detector(ModulePrediction, NestedParameters):
    """Learns the density of events and detects them, following scikit-learn's conventions.

    A value may be given as a mapping of its fields or, for variants, as a name. `fit` validates
    them; arguments that contradict each other or have no effect are errors.

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
        Seconds per training window; by default chosen from the data.
    decoder
        A value or a name of `bdl.decoding`; by default chosen on held-out recordings.
    tolerances
        Matching tolerances in seconds, for every choice and for kernels without a width of their
        own (the finest, unless times are coarser); by default chosen from the data.
    training
        Optimizer, budget and device; see `bdl.training.Training`.
    selection
        How recordings are held out, and what is chosen on them; see `bdl.detector.Selection`.
    lag
        Seconds by which densities may be late, for detectors that run on streams: the density of a
        bin is computed from the bins up to ``lag`` later, rounded down to whole bins. 0 uses
        nothing later than the bin itself. None reads whole recordings. With a lag, the default
        encoder, scaling and decoder are replaced by their forward forms, and others that look
        further ahead are errors.
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
    history_ : History
        One row per epoch: loss, learning rate, seconds, validation score; also a table.
    best_epoch_ : int
        The epoch whose weights the detector has.
    rescorer_ : Rescorer or None
        The second stage, if there is one.
    checkpoints_ : dict
        Weights of the kept epochs by epoch.
    """

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
        lag: float | None = None,
        tile: int | None = None,
        tilings: int = 1,
        directory: str | Path | None = None,
        tensorboard: bool = False,
        progress: bool = False,
        **misplaced: Never,
    ) -> None:
        check_misplaced(misplaced)
        self.objective = objective
        self.encoder = encoder
        self.features = features
        self.window = window
        self.decoder = decoder
        self.tolerances = tolerances
        self.training = training
        self.selection = selection
        self.lag = lag
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

    @property
    def _reporting(self) -> Reporting:
        folder = None if self.directory is None else Path(self.directory)
        return Reporting(folder, self.tensorboard, self.progress)

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
        names = [key for key in changes if key in DetectorSettings.model_fields]
        settings = DetectorSettings.preset(name, **{key: changes.pop(key) for key in names})
        return cls(**dict(settings), **changes)

    def fit(
        self,
        recordings: Recordings,
        events: Events,
        *,
        validation: tuple[Recordings, Events] | None = None,
        intervals: Sequence[IntervalType] | None = None,
        types: Sequence[str] | None = None,
        event_free: EventFree = "ignore",
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
            Recordings and events on which everything is chosen; the detector is then trained once,
            on all training recordings, and ``folds`` and the like are errors.
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
            reporting=self._reporting,
        )
        return self._set(trained)

    def fine_tune(
        self,
        recordings: Recordings,
        events: Events,
        *,
        unknown: Literal["error", "ignore"] = "error",
        **training: Any,
    ) -> Self:
        """Return a copy that was trained a little further, on other or on corrected labels.

        Features with their scaling, decoder and threshold stay; see `bdl.detector.fine_tuning`.

        Parameters
        ----------
        recordings
            Recordings with the channels and the period of the model.
        events
            Their annotations, of event types that the model knows.
        unknown
            Whether events of recordings that are not given are an error or ignored.
        **training
            Fields of `bdl.training.Training` that differ from a tenth of the first training's steps
            with a tenth of its learning rate.

        Examples
        --------
        >>> import numpy as np
        >>> from bdl import Recording
        >>> values = np.random.default_rng(0).normal(size=600)
        >>> recordings = Recordings.of([Recording.of(values, id="a", period=1.0)])
        >>> events = Events.of("a", "spike", [150.0, 450.0])
        >>> few = {"training": {"updates": 2}, "selection": {"folds": 0}, "tolerances": (10.0,)}
        >>> first = Detector(encoder="gru", features={"stride": 5}, **few).fit(recordings, events)
        >>> first.fine_tune(recordings, events, updates=1).history_[-1].steps
        1
        """
        self._check_fitted()
        checked = preparation.events_of(events, recordings, unknown=unknown)
        before = FittedModel(self.model_, self.module_, self.rescorer_)
        shorter = shorter_training(self.model_, **training)
        return copy(self)._set(fine_tune(before, recordings, checked, shorter, self._reporting))

    @classmethod
    def load(cls, path: str | Path, *, module: nn.Module | None = None) -> Self:
        """Read a fitted detector from its file; nothing in the file is run.

        Parameters
        ----------
        path
            The file.
        module
            The user's own module, if the model was trained with one: the file has its weights only.
        """
        trained = restore(path, module)
        return cls(**dict(trained.model.settings))._set(trained)

    @classmethod
    def pretrained(cls, name: str) -> Self:
        """Return a fitted detector that comes with the package; see `bdl.pretrained`.

        Parameters
        ----------
        name
            Its name, such as ``mitdb-beats`` or ``hapt-transitions``.

        Examples
        --------
        >>> Detector.pretrained("mitdb-beats").model_.types
        ('beat',)
        >>> Detector.pretrained("beats")
        Traceback (most recent call last):
        bdl.errors.ConfigError: no model 'beats' comes with the package; there are ...
        """
        if name not in pretrained.names():
            known = ", ".join(pretrained.names())
            raise ConfigError(f"no model {name!r} comes with the package; there are {known}")
        return cls.load(pretrained.FOLDER / f"{name}.safetensors")
