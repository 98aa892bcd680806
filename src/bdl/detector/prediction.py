"""Densities and detections of a fitted detector, for any implementation of its encoder."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from bdl import decoding
from bdl.binning import Binned
from bdl.decoding import Calibration, Decoder, Grid
from bdl.decoding.candidates import ByType, above, to_events
from bdl.decoding.incremental import BinClock
from bdl.density import Density
from bdl.detector.application import (
    Featured,
    accept,
    check_units,
    describe,
    features_of,
)
from bdl.detector.model import Model
from bdl.detector.operating_point import OperatingPoint
from bdl.detector.stream import final_candidates
from bdl.errors import ConfigError, InputError
from bdl.evaluation import Metric, Regions
from bdl.evaluation.matching import EventFree
from bdl.events import Events
from bdl.recording import Recording, Recordings
from bdl.rescoring import Rescorer
from bdl.training.preparation import events_of

Plain = Mapping[str, Any]


class Prediction(ABC):
    """The methods of a detector that need it to be fitted."""

    model_: Model
    rescorer_: Rescorer | None

    def density(self, recording: Recording, *, resample: bool = False) -> Density:
        """Compute the density of one recording.

        Parameters
        ----------
        recording
            Recording with the channels and the period of the training recordings.
        resample
            Whether to resample a recording of another period.
        """
        return next(self.densities([recording], resample=resample))

    def densities(
        self, recordings: Recordings | Iterable[Recording], *, resample: bool = False
    ) -> Iterator[Density]:
        """Compute densities of many recordings; short ones pass through the encoder together."""
        self._check_fitted()
        return (density for _, density in self._densities(recordings, resample))

    def detect(
        self,
        recordings: Recordings | Recording | Iterable[Recording],
        *,
        resample: bool = False,
        operating_point: bool | OperatingPoint = False,
    ) -> Events:
        """Detect events in one or many recordings; each has a score.

        Parameters
        ----------
        recordings
            One recording, or several.
        resample
            Whether to resample recordings of another period.
        operating_point
            Whether to return only detections above the threshold with the best F1 on held-out
            recordings, instead of a ranking of all candidates; or another operating point.
        """
        listed = [recordings] if isinstance(recordings, Recording) else recordings
        point = self.operating_point() if operating_point is True else operating_point or None
        applied = self.apply(listed, resample=resample, points=(point,))
        return to_events((density.recording, candidates) for density, [candidates] in applied)

    def operating_point(self) -> OperatingPoint:
        """Return the operating point with the best F1 on held-out recordings."""
        self._check_fitted()
        if self.model_.operating_point is None:
            raise ConfigError(
                "the detector has no operating point: nothing was held out when it was fitted"
            )
        return self.model_.operating_point

    def apply(
        self,
        recordings: Recordings | Iterable[Recording],
        *,
        resample: bool = False,
        points: Sequence[OperatingPoint | None] = (None,),
        refused: dict[str, InputError] | None = None,
    ) -> Iterator[tuple[Density, list[ByType]]]:
        """Yield the density of each recording, and its detections by type at each operating point.

        Parameters
        ----------
        recordings
            Recordings with the channels and the period of the training recordings.
        resample
            Whether to resample recordings of another period.
        points
            Operating points; None gives the ranking of all candidates.
        refused
            Collects the errors of recordings that cannot be read or used, by id, while the others
            are processed; by default an error is raised.
        """
        self._check_fitted()
        for binned, density in self._densities(recordings, resample, refused):
            yield density, [self._detect(density, binned, point) for point in points]

    def _densities(
        self,
        recordings: Recordings | Iterable[Recording],
        resample: bool,
        refused: dict[str, InputError] | None = None,
    ) -> Iterator[tuple[Binned, Density]]:
        features: Iterator[Featured]
        if refused is not None and isinstance(recordings, Recordings):
            features = self._usable(recordings, resample, refused)
        else:
            features = (self._features(recording, resample) for recording in recordings)
        return self._encode(features)

    @abstractmethod
    def _encode(self, features: Iterable[Featured]) -> Iterator[tuple[Binned, Density]]:
        """Yield the features and the density of each recording."""

    def _usable(
        self, recordings: Recordings, resample: bool, refused: dict[str, InputError]
    ) -> Iterator[Featured]:
        for id in recordings.ids:
            try:
                features = self._features(recordings[id], resample)
            except InputError as error:
                refused[id] = error
            else:
                yield features

    def _features(self, recording: Recording, resample: bool) -> Featured:
        recording = accept(recording, self.model_, resample=resample)
        binned = features_of(recording, self.model_)
        check_units(recording, binned, self.model_)
        return recording.info, binned

    def _detect(self, density: Density, binned: Binned, point: OperatingPoint | None) -> ByType:
        """Detections of one recording by type: decoder, scores, threshold."""
        model = self.model_
        if binned.missing.all() and model.settings.lag is None:
            warnings.warn(
                f"recording {density.recording!r}: all its values are missing, so that nothing "
                "can be detected",
                stacklevel=2,
            )
            return {}
        decoder, calibration = model.decoder, model.calibration
        rescorer, threshold = self.rescorer_, 0.0
        if point is not None:
            decoder, threshold = point.decoder, point.threshold
            if not point.rescored:
                calibration, rescorer = point.calibration, None
        if model.settings.lag is not None:
            # As on a stream, where it is unknown whether all later samples are missing.
            clock = BinClock(density.period, density.stride)
            incremental = decoder.incremental(clock, density.types, model.intervals)
            final = incremental.finish(density.values, density.samples)
            candidates = final_candidates(final, model, density.samples)
        else:
            candidates = decoder.detect(density, model.intervals)
        if rescorer is not None:
            assert calibration is not None
            table = describe(density, candidates, binned, model)
            candidates = rescorer.apply(candidates, table, calibration)
        elif calibration is not None:
            candidates = calibration.apply(candidates)
        return above(candidates, threshold)

    def calibrate(
        self,
        recordings: Recordings,
        events: Events,
        *,
        grid: Grid | Plain | str | None = None,
        tolerances: Sequence[float] | None = None,
        metric: str | Metric = "mAP",
        event_free: EventFree = "ignore",
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
            The chosen decoder, its score, and all decoders that were tried.
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
            grid = grid if model.settings.lag is None else grid.forward()
        calibration = decoding.calibrate(
            self.densities(recordings),
            events_of(events, recordings, unknown="ignore"),
            grid,
            tolerances=chosen,
            metric=metric,
            intervals=model.intervals,
            event_free=event_free,
            regions=Regions.annotated(recordings.infos),
        )
        self.set_decoder(calibration.decoder)
        return calibration

    def set_decoder(self, decoder: Decoder | Plain | str) -> Self:
        """Replace the decoder; calibration, second stage and operating point are removed."""
        self._check_fitted()
        chosen = Decoder.parse(decoder, "decoder").complete(self.model_.tolerances)
        self.model_.settings.replace(decoder=chosen)  # an error if it reads another density
        self.model_ = self.model_.replace(decoder=chosen, calibration=None, operating_point=None)
        self.rescorer_ = None
        return self

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            from bdl.detector.not_fitted import DetectorNotFittedError

            raise DetectorNotFittedError(
                "the detector is not fitted yet: call fit, or load a saved one"
            )
