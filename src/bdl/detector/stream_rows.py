"""The streams of one detector, stepped together: one row of every state per stream.

Samples of any streams are gathered into bins, all new bins are computed at once, the encoder is
stepped once for all streams that have equally many, and the decoder visits the rows in compiled
code. What a row gives does not depend on the rows beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from threading import RLock
from typing import NamedTuple

import numpy as np

from bdl.arrays import Floats, Longs, Singles
from bdl.binning import bin_features
from bdl.decoding import Decoder
from bdl.decoding.incremental import BinClock
from bdl.decoding.incremental_rows import FinalRows, grown, within
from bdl.detector.model import Model
from bdl.detector.sample_intake import SampleIntake, Samples, Values
from bdl.detector.stream_state import Parts, check_arrays
from bdl.detector.stream_steps import StateRows, Steps
from bdl.errors import InputError
from bdl.recording import Recording, RecordingInfo
from bdl.recording_info import hour_and_weekday
from bdl.rescoring import ScoreCalibration

FIRST = 8  # rows for which there is room at first


class StreamDetections(NamedTuple):
    """Final detections of several streams, by stream, each in the order in which it became so."""

    place: Longs  # which of the given streams each belongs to
    type: Longs  # its event type
    time: Floats  # seconds
    score: Floats
    issued: Floats  # time in seconds of the last sample that was needed


class Advanced(NamedTuple):
    """The densities and detections that some samples completed."""

    detections: StreamDetections
    places: Longs  # streams that had samples
    counts: Longs  # bins of each whose density is complete
    density: Singles  # (bins, outputs) of all, one stream after the other


@dataclass(frozen=True)
class StreamSettings:
    """Settings of one stream.

    Parameters
    ----------
    info
        Name, channels, period and start.
    threshold
        Least score of a detection.
    longest_gap
        Seconds without samples beyond which a time is considered wrong.
    """

    info: RecordingInfo
    threshold: float
    longest_gap: float


class StreamRows:
    """The streams of one model and decoder; see `stream_rows`.

    Parameters
    ----------
    model
        The model.
    steps
        Its encoder.
    decoder
        How densities become detections.
    calibration
        Calibration of their scores, if there is one.
    """

    def __init__(
        self, model: Model, steps: Steps, decoder: Decoder, calibration: ScoreCalibration | None
    ) -> None:
        self.model, self.steps = model, steps
        features = model.features
        self.stride, self.lag = features.bin_samples, model.lag
        channels = len(model.channels)
        self.intake = SampleIntake(stride=self.stride, channels=channels, period=model.period)
        self.states = StateRows(steps.initial_state())
        clock = BinClock(model.period, self.stride)
        self.decoder = decoder.incremental_rows(clock, model.outputs, model.intervals)
        self.types = self.decoder.types
        self.calibration = calibration and calibration.in_order_of(self.types)
        self.settings: list[StreamSettings | None] = []
        self.free: list[int] = []
        self.thresholds = np.zeros(0)
        self.origins = np.zeros((0, 2))  # seconds since 1970 of the start, and its UTC offset
        self.lock = RLock()

    def open(self, settings: StreamSettings) -> int:
        """Begin a stream; its row."""
        with self.lock:
            if not self.free:
                self._grow()
            row = self.free.pop()
            self.settings[row] = settings
            self.thresholds[row] = settings.threshold
            start = settings.info.start
            if start is not None:
                offset = start.utcoffset()
                assert offset is not None
                self.origins[row] = start.timestamp(), offset.total_seconds()
            for part in (self.intake, self.states, self.decoder):
                part.clear(row)
            return row

    def _grow(self) -> None:
        old = len(self.settings)
        rows = max(2 * old, FIRST)
        for part in (self.intake, self.states, self.decoder):
            part.grow(rows)
        self.thresholds = grown(self.thresholds, rows)
        self.origins = grown(self.origins, rows)
        self.settings += [None] * (rows - old)
        self.free += range(rows - 1, old - 1, -1)

    def release(self, row: int) -> None:
        """Make a row available to another stream."""
        self.settings[row] = None
        self.free.append(row)

    def push(self, rows: Longs, samples: Samples) -> list[Advanced]:
        """Take samples of streams, each at most once; return what they completed, in order.

        Everything is checked first: an error changes no stream.
        """
        with self.lock:
            self._check_finite(rows, samples)
            if self.intake.in_order(rows, samples):
                return [self._advance(np.arange(len(rows)), rows, samples.counts, samples.values)]
            cuts = np.cumsum(samples.counts)[:-1]
            placed = [
                self.intake.place(row, values, times, settings.longest_gap, settings.info.id)
                for row, settings, values, times in zip(
                    rows.tolist(),
                    self._settings(rows),
                    np.split(samples.values, cuts),
                    np.split(samples.times, cuts),
                    strict=True,
                )
            ]
            self.intake.late[rows] += [late for late, _, _ in placed]
            pieces = [self.intake.pieces(gaps, runs) for _, gaps, runs in placed]
            return [self._round(rows, parts) for parts in zip_longest(*pieces)]

    def _settings(self, rows: Longs) -> list[StreamSettings]:
        known = (self.settings[row] for row in rows.tolist())
        return [settings for settings in known if settings is not None]

    def _check_finite(self, rows: Longs, samples: Samples) -> None:
        infinite = np.isinf(samples.values)
        if not infinite.any():
            return
        sample, channel = np.argwhere(infinite)[0]
        ends = np.cumsum(samples.counts)
        place = int(np.searchsorted(ends, sample, side="right"))
        info = self._settings(rows[place : place + 1])[0].info
        raise InputError(
            f"stream {info.id!r}: infinite value in row "
            f"{sample - ends[place] + samples.counts[place]}, channel {info.channels[channel]!r}; "
            "a missing sample is NaN"
        )

    def _round(self, rows: Longs, parts: Sequence[Values | None]) -> Advanced:
        """Take the next piece of each stream that has one."""
        places = np.array([place for place, part in enumerate(parts) if part is not None])
        values = [part for part in parts if part is not None]
        counts = np.array([len(part) for part in values])
        return self._advance(places, rows[places], counts, np.concatenate(values))

    def _advance(self, places: Longs, rows: Longs, counts: Longs, values: Values) -> Advanced:
        """Take samples in order."""
        before = self.intake.samples[rows] // self.stride
        bins, complete = self.intake.gather(rows, counts, values)
        density = self._step(rows, before, bins, self._recording(complete), blank=0)
        # A density of bin b comes with the output of bin b + lag.
        skipped = np.minimum(np.maximum(self.lag - before, 0), bins)
        if skipped.any():
            bin_of = np.repeat(before, bins) + within(bins)
            density, bins = density[bin_of >= self.lag], bins - skipped
        final = self.decoder.push(rows, bins, density)
        return Advanced(self._detections(places, rows, final), places, bins, density)

    def finish(self, row: int) -> Advanced:
        """End a stream; return the densities and detections of its last bins."""
        with self.lock:
            rows = np.array([row])
            samples = int(self.intake.samples[row])
            before = self.intake.samples[rows] // self.stride
            partial = self._recording(self.intake.partial_bin(row))
            blank = self.lag if samples else 0
            bins = np.array([bool(partial.info.samples) + blank])
            density = self._step(rows, before, bins, partial, blank=blank)
            density = density[max(self.lag - int(before[0]), 0) :]
            final = self.decoder.finish(row, density, samples)
            place = np.zeros(1, np.int64)
            detections = self._detections(place, rows, final, samples)
            return Advanced(detections, place, np.array([len(density)]), density)

    def _recording(self, values: Values) -> Recording:
        info = RecordingInfo("stream", len(values), self.model.channels, self.model.period)
        return Recording(info, values)

    def _step(
        self, rows: Longs, before: Longs, bins: Longs, samples: Recording, *, blank: int
    ) -> Singles:
        """Step the encoder over the new bins of each row; their outputs, one row after the other.

        ``before`` is the number of bins before them.
        """
        features = self.model.features
        hour = weekday = None
        if features.calendar:
            at, of = np.repeat(before, bins) + within(bins), np.repeat(rows, bins)
            start, offset = self.origins[of].T
            hour, weekday = hour_and_weekday(start + at * self.stride * self.model.period + offset)
            features = features.replace(calendar=False)
        binned = bin_features(samples, features, blank=blank)
        density = np.empty((len(binned), self.steps.outputs), np.float32)
        ends = np.cumsum(bins)
        for size in np.unique(bins[bins > 0]).tolist():
            members = np.flatnonzero(bins == size)
            for group in self.states.groups(rows[members]):
                chosen = members[group]
                at = (ends[chosen] - size)[:, None] + np.arange(size)
                density[at], after = self.steps.step(
                    binned.values[at],
                    None if hour is None else hour[at],
                    None if weekday is None else weekday[at],
                    self.states.get(rows[chosen]),
                )
                self.states.put(rows[chosen], after)
        return density

    def _detections(
        self, places: Longs, rows: Longs, final: FinalRows, samples: int | None = None
    ) -> StreamDetections:
        """Detections that reach the threshold; ``samples`` is the length of a finished stream."""
        if self.calibration is not None:
            final = final._replace(score=self.calibration.scores(final.score, final.type))
        reported = final.score >= self.thresholds[rows[final.place]]
        order = np.lexsort((final.time, final.type, final.known, final.place))
        final = final.select(order[reported[order]])
        issued = self.model.issue_times(final.known, samples)
        return StreamDetections(places[final.place], final.type, final.time, final.score, issued)

    def save(self, row: int) -> Parts:
        """The state of a row as named arrays."""
        with self.lock:
            encoder = {str(i): part for i, part in enumerate(self.states.get(np.array([row])))}
            return {
                "intake": self.intake.save(row),
                "encoder": encoder,
                "decoder": self.decoder.save(row),
            }

    def restore(self, row: int, parts: Parts) -> None:
        """Continue a row from a saved state; one of another shape is an error."""
        with self.lock:
            check_arrays(parts, self.save(row))
            self.intake.restore(row, parts["intake"])
            self.decoder.restore(row, parts["decoder"])
            encoder, rows = parts["encoder"], np.array([row])
            state = [np.array(encoder[str(i)]) for i in range(len(encoder))]
            self.states.put(rows, state)
            blank = np.full((self.stride, len(self.model.channels)), np.nan, np.float32)
            bins = np.ones(1, np.int64)
            self._step(rows, bins, bins, self._recording(blank), blank=0)  # whether it fits
            self.states.put(rows, state)
