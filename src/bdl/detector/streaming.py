"""Streams of a fitted detector with a lag."""

from __future__ import annotations

from abc import abstractmethod
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from bdl.decoding import Decoder
from bdl.detector.model import Model
from bdl.detector.operating_point import OperatingPoint
from bdl.detector.prediction import Prediction
from bdl.detector.stream import Stream
from bdl.detector.stream_rows import StreamRows, StreamSettings
from bdl.detector.stream_state import STATE, unpack
from bdl.detector.stream_steps import Steps
from bdl.errors import ConfigError, InputError
from bdl.formats.files import reading
from bdl.recording import RecordingInfo
from bdl.rescoring import ScoreCalibration
from bdl.training.preparation import same_period

LONGEST_GAP = 86400.0  # seconds: a longer jump of the clock is an error by default


class Streaming(Prediction):
    """The methods of a detector that start and continue streams."""

    #: Suffix by which `bdl.load` knows a file of this kind of detector.
    suffix: ClassVar[str]

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write the detector to one file."""

    def stream(
        self,
        recording: str,
        *,
        period: float | None = None,
        start: datetime | None = None,
        operating_point: OperatingPoint | bool = False,
        longest_gap: float = LONGEST_GAP,
    ) -> Stream:
        """Start detecting on a stream of samples; the detector needs a lag.

        Parameters
        ----------
        recording
            Name of the stream.
        period
            Seconds from one sample to the next, which must be those of the training recordings.
            None does not check it.
        start
            Time-zone aware time of the first sample, for models that read the hour and weekday.
            The UTC offset stays that of the start.
        operating_point
            As in `detect`.
        longest_gap
            Seconds without samples beyond which a time is refused as wrong.

        Examples
        --------
        >>> import numpy as np
        >>> from bdl import Detector, Events, Recording, Recordings
        >>> values = np.random.default_rng(0).normal(size=600).astype(np.float32)
        >>> values[[150, 450]] += 20
        >>> night = Recording.of(values, id="a", period=1.0)
        >>> detector = Detector(
        ...     lag=20.0, encoder="forward-gru", features={"stride": 5}, tolerances=(10.0,),
        ...     training={"epochs": 1}, selection={"folds": 0},
        ... ).fit(Recordings.of([night]), Events.of("a", "spike", [150.0, 450.0]))
        >>> stream = detector.stream("a", period=1.0)
        >>> parts = [stream.push(values[first : first + 7]) for first in range(0, 600, 7)]
        >>> parts.append(stream.finish())
        >>> whole = detector.detect(night)
        >>> sorted(Events.concat(parts).time) == whole.time.tolist()
        True
        """
        self._check_fitted()
        model = self.model_
        if model.settings.lag is None:
            raise ConfigError(
                "the detector reads whole recordings, and cannot be used on a stream: fit one with "
                "a lag, such as Detector(lag=60.0) or bdl fit --lag 60"
            )
        if not model.settings.encoder.has_flat_state:
            raise ConfigError(
                f"the encoder {model.settings.encoder.kind!r} keeps every bin that it has read, so "
                "that the memory of a stream would grow without limit; give it a context in bins, "
                "a recurrent encoder or causal trees"
            )
        if period is not None and not same_period(period, model.period):
            raise InputError(
                f"stream {recording!r} has a sample every {period:g} s, and the model every "
                f"{model.period:g} s; resample it, or train on recordings of that rate"
            )
        point = self.operating_point() if operating_point is True else operating_point or None
        decoder, calibration, threshold = model.decoder, model.calibration, 0.0
        if point is not None:
            decoder, calibration, threshold = point.decoder, point.calibration, point.threshold
        info = RecordingInfo(recording, 0, model.channels, model.period, start)
        if model.features.calendar:
            info.local_time(np.zeros(1, np.int64))  # an error if there is no start
        rows = stream_rows(model, self._steps(), decoder, calibration)
        return Stream(rows, self._digest(), StreamSettings(info, threshold, longest_gap))

    def resume(
        self, saved: bytes, *, operating_point: OperatingPoint | bool = False, source: str = ""
    ) -> Stream:
        """Continue a stream from the bytes that its `save` returned.

        Parameters
        ----------
        saved
            What `Stream.save` returned.
        operating_point
            The same value as when the stream was started.
        source
            Where the bytes come from, for errors.
        """
        where = source or "saved stream"
        header, _ = unpack(saved, where)
        with reading(where, STATE):
            start = None if header["start"] is None else datetime.fromisoformat(header["start"])
            stream = self.stream(
                header["recording"],
                start=start,
                operating_point=operating_point,
                longest_gap=header["longest_gap"],
            )
        stream.restore(saved, where)
        return stream

    @abstractmethod
    def _steps(self) -> Steps:
        """The encoder of streams; the same for all streams of this model, so that they can step
        together.
        """

    @abstractmethod
    def _digest(self) -> str:
        """Digest of the model and its weights."""


_ROWS: WeakValueDictionary[tuple[Any, ...], StreamRows] = WeakValueDictionary()


def stream_rows(
    model: Model, steps: Steps, decoder: Decoder, calibration: ScoreCalibration | None
) -> StreamRows:
    """Return the rows that all streams of one model and decoder share while there are any."""
    # Rows hold a reference to their steps, so that no other object has this id.
    key = (id(steps), decoder, calibration)
    rows = _ROWS.get(key)
    if rows is None or rows.model is not model:
        rows = _ROWS[key] = StreamRows(model, steps, decoder, calibration)
    return rows
