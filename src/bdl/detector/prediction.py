"""What a fitted detector does: densities, detections, calibration, and its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from sklearn.exceptions import NotFittedError
from torch import nn

from bdl import decoding
from bdl.decoding import Calibration, Decoder, Grid
from bdl.decoding.candidates import ByType, above, to_events
from bdl.density import Density
from bdl.detector.application import accept, check_units, density_of, describe
from bdl.detector.model import Model
from bdl.detector.modelfile import all_weights, write_model
from bdl.errors import ConfigError
from bdl.evaluation import Metric, Regions
from bdl.events import Events
from bdl.features import Binned, bin_features
from bdl.recording import Recording, Recordings
from bdl.rescoring import Rescorer
from bdl.training.preparation import check_events

Plain = Mapping[str, Any]


class DetectorNotFittedError(ConfigError, NotFittedError):  # type: ignore[misc]
    """A detector was used before it was fitted."""


class Prediction:
    """The methods of a detector that need it to be fitted."""

    model_: Model
    module_: nn.Module
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
        self._check_fitted()
        return self._prepare(recording, resample)[1]

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
        operating_point: bool = False,
    ) -> Events:
        """Detect events in one or many recordings; each has a score.

        Parameters
        ----------
        recordings
            One recording, or several.
        resample
            Whether to resample recordings of another period.
        operating_point
            Whether to give only detections above the threshold with the best F1 on held-out
            recordings, instead of a ranking of all that are possible.
        """
        many = [recordings] if isinstance(recordings, Recording) else recordings
        applied = self.apply(many, resample=resample, operating_point=operating_point)
        return to_events((density.recording, candidates) for density, candidates in applied)

    def apply(
        self,
        recordings: Recordings | Iterable[Recording],
        *,
        resample: bool = False,
        operating_point: bool = False,
    ) -> Iterator[tuple[Density, ByType]]:
        """Yield the density and the detections by type of each recording; see `detect`."""
        self._check_fitted()
        for recording in recordings:
            binned, density = self._prepare(recording, resample)
            yield density, self._detect(density, binned, operating_point)

    def _prepare(self, recording: Recording, resample: bool) -> tuple[Binned, Density]:
        recording = accept(recording, self.model_, resample=resample)
        binned = bin_features(recording, self.model_.features)
        check_units(recording, binned, self.model_)
        return binned, density_of(self.module_, self.model_, recording, binned)

    def _detect(self, density: Density, binned: Binned, operating_point: bool) -> ByType:
        """Detections of one recording by type: decoder, second stage, threshold."""
        model = self.model_
        decoder, rescored, threshold = model.decoder, True, 0.0
        if operating_point:
            point = model.operating_point
            if point is None:
                raise ConfigError(
                    "the detector has no operating point: nothing was held out when it was fitted"
                )
            decoder, rescored, threshold = point.decoder, point.rescored, point.threshold
        candidates = decoder.detect(density, model.intervals)
        if self.rescorer_ is not None and rescored:
            table = describe(density, candidates, binned, model)
            candidates = self.rescorer_.apply(candidates, table)
        return above(candidates, threshold)

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
            regions=Regions.annotated(recordings.infos),
        )
        self.set_decoder(calibration.decoder)
        return calibration

    def set_decoder(self, decoder: Decoder | Plain | str) -> Self:
        """Replace the decoder; the second stage and the operating point were those of the other."""
        self._check_fitted()
        chosen = Decoder.parse(decoder, "decoder").complete(self.model_.tolerances)
        self.model_.settings.replace(decoder=chosen)  # refuses one that reads another density
        self.model_ = self.model_.replace(decoder=chosen, operating_point=None)
        self.rescorer_ = None
        return self

    def save(self, path: str | Path) -> None:
        """Write the fitted detector to one file; see `bdl.detector.modelfile`."""
        self._check_fitted()
        write_model(path, self.model_, all_weights(self.module_, self.rescorer_))

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise DetectorNotFittedError(
                "the detector is not fitted yet: call fit, or load a saved one"
            )
