"""A detector on one stream of samples: the detections of the finished file, as they become final.

`Stream.push` is `Detector.detect` in incremental form: samples are gathered into bins, each whole
bin steps the encoder, and the decoder returns the detections that later samples cannot change. All
pushes together give the density and the detections of the finished recording, bit for bit, for any
division of the samples into pushes. The memory of a stream does not grow.

The states of all streams of a detector are rows of common arrays (`bdl.detector.stream_rows`), so
that many streams are pushed together by `push_many`.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bdl.decoding.candidates import ByType, Candidates
from bdl.decoding.incremental import FinalByType
from bdl.detector.model import Model
from bdl.detector.sample_intake import Samples, sample_rows, sample_times
from bdl.detector.stream_rows import (
    Advanced,
    StreamDetections,
    StreamRows,
    StreamSettings,
)
from bdl.detector.stream_state import STATE, pack, unpack
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.files import reading
from bdl.recording import RecordingInfo

Push = tuple["Stream", ArrayLike, ArrayLike | None]


class Stream:
    """One running recording; made by `Detector.stream`.

    Parameters
    ----------
    rows
        The streams of the detector, of which this becomes one.
    digest
        Digest of model and weights, which a saved state must have.
    settings
        Name, start, least score and longest gap.

    Attributes
    ----------
    density : ndarray
        (bins, outputs) the density that the last push, or the end, completed.
    late : int
        Samples that were left out, because their place was not after all others.
    samples : int
        Samples so far, missing ones included.
    finished : bool
        Whether `finish` was called.
    """

    def __init__(self, rows: StreamRows, digest: str, settings: StreamSettings) -> None:
        if not settings.longest_gap >= 0:
            raise ConfigError(
                f"longest_gap: 0 seconds or more expected, got {settings.longest_gap}"
            )
        self.rows, self.digest, self.settings = rows, digest, settings
        self.row = rows.open(settings)
        weakref.finalize(self, rows.release, self.row).atexit = False
        self.finished = False
        self.density: NDArray[np.float32] = np.zeros((0, rows.steps.outputs), np.float32)

    @property
    def model(self) -> Model:
        """The model of the detector."""
        return self.rows.model

    @property
    def info(self) -> RecordingInfo:
        """Name, channels, period and start."""
        return self.settings.info

    @property
    def late(self) -> int:
        """Samples that were left out: late, repeated or out of order."""
        return int(self.rows.intake.late[self.row])

    @property
    def samples(self) -> int:
        """Samples so far, missing ones included."""
        return int(self.rows.intake.samples[self.row])

    def push(self, values: ArrayLike, times: ArrayLike | None = None) -> Events:
        """Take the next samples; return the detections that are now final.

        Parameters
        ----------
        values
            Any number of samples, (samples, channels) or one sample (channels,); NaN is missing.
            For one channel, (samples,).
        times
            Seconds from the start of the stream of each sample; None if they follow each other.
            Places between them are missing samples. A sample that is late, repeated or out of
            order is left out and counted in ``late``.

        Returns
        -------
        Events
            With score and issued, the time of the last sample that the detection needed.
        """
        [events] = push_many([(self, values, times)])
        return events

    def finish(self) -> Events:
        """End the stream; return the detections that the end makes final."""
        ended = self.end()
        self.density = ended.density
        return self._events([ended.detections])

    def end(self) -> Advanced:
        """End the stream; what its last bins and the end give."""
        self._check_running()
        self.finished = True
        return self.rows.finish(self.row)

    def save(self) -> bytes:
        """The whole state, from which `Detector.resume` continues with the same detections."""
        start = self.info.start
        header = {
            "model": self.digest,
            "recording": self.info.id,
            "start": None if start is None else start.isoformat(),
            "threshold": self.settings.threshold,
            "longest_gap": self.settings.longest_gap,
            "finished": self.finished,
        }
        return pack(header, self.rows.save(self.row))

    def restore(self, saved: bytes, source: str = "saved stream") -> None:
        """Continue from what `save` of the same model and stream gave."""
        header, parts = unpack(saved, source)
        threshold = self.settings.threshold
        with reading(source, STATE):
            if header["model"] != self.digest:
                raise InputError(
                    f"{source}: saved by another model; it cannot be continued by this"
                )
            if header["recording"] != self.info.id or header["threshold"] != threshold:
                raise InputError(
                    f"{source}: the state of stream {header['recording']!r} with the least score "
                    f"{header['threshold']:g}, not of {self.info.id!r} with {threshold:g}"
                )
            self.rows.restore(self.row, parts)
            self.finished = bool(header["finished"])

    def _check_running(self) -> None:
        if self.finished:
            raise InputError(f"stream {self.info.id!r}: it is finished; start another")

    def _events(self, parts: Sequence[StreamDetections]) -> Events:
        """A table of detections."""
        detections = StreamDetections(*map(np.concatenate, zip(*parts, strict=True)))
        if not len(detections.time):
            return Events.empty(scored=True, issued=True)
        names = [self.rows.types[i] for i in detections.type.tolist()]
        return Events.of(self.info.id, names, detections.time, detections.score, detections.issued)


def push_many(pushes: Sequence[Push]) -> list[Events]:
    """Push samples to several streams of one detector, which are stepped together.

    Parameters
    ----------
    pushes
        Streams, each at most once, with the arguments of `Stream.push`. Everything is checked
        first: an error changes no stream.

    Returns
    -------
    list of Events
        The detections of each stream that are now final, as `Stream.push` gives them.
    """
    if not pushes:
        return []
    streams = [stream for stream, _, _ in pushes]
    if len({id(stream) for stream in streams}) < len(streams):
        raise InputError("a stream is pushed to twice at once; join its samples")
    if len({id(stream.rows) for stream in streams}) > 1:
        raise InputError("streams that are pushed to at once must be of one detector")
    values, seconds = [], []
    for stream, new_values, times in pushes:
        stream._check_running()
        values.append(sample_rows(new_values, stream.info))
        seconds.append(sample_times(times, len(values[-1]), stream.info))
    counts = np.array([len(part) for part in values])
    samples = Samples(counts, np.concatenate(values), np.concatenate(seconds))
    rows = streams[0].rows
    advanced = rows.push(np.array([stream.row for stream in streams]), samples)
    for stream in streams:
        stream.density = stream.density[:0]
    detections: dict[int, list[StreamDetections]] = {}
    for part in advanced:
        ends = np.cumsum(part.counts).tolist()
        for place, count, end in zip(part.places.tolist(), part.counts.tolist(), ends, strict=True):
            if count:
                density = part.density[end - count : end]
                parts = [streams[place].density, density]
                streams[place].density = np.concatenate(parts)
        for place in np.unique(part.detections.place).tolist():
            chosen = part.detections.place == place
            selected = StreamDetections(*(column[chosen] for column in part.detections))
            detections.setdefault(place, []).append(selected)
    empty = Events.empty(scored=True, issued=True)
    return [
        stream._events(detections[place]) if place in detections else empty
        for place, stream in enumerate(streams)
    ]


def final_candidates(final: FinalByType, model: Model, samples: int) -> ByType:
    """Final detections of a finished recording in order of time, each with its time of issue."""
    candidates = {}
    for event, part in final.items():
        order = np.lexsort((-part.score, part.time))
        issued = model.issue_times(part.known, samples)
        candidates[event] = Candidates(part.time, part.score, issued).select(order)
    return candidates
