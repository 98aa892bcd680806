"""One live session: a stream of a detector with its output and its state file.

With a state file, a session that is killed at any moment can be continued. The state is written,
whole or not at all, before new detections are written to the output, and contains them. A session
that is restarted writes those that are not in the output yet. In a file, every detection is written
exactly once; in a pipe, whose end is not known, the last ones may be written twice.

Samples after the last state must be sent again by the source, otherwise they are missing. Earlier
samples may be sent again, too: they are recognised by their times and skipped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from bdl.detector.stream import Stream
from bdl.detector.stream_state import pack, unpack
from bdl.detector.streaming import Streaming
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.atomic_files import atomic
from bdl.formats.files import existing, reading
from bdl.live.line_formats import Sample
from bdl.live.output_file import Output, unwritten


class LiveSession:
    """A stream with its output and its state file.

    Parameters
    ----------
    detector
        A fitted detector with a lag.
    recording
        Name of the stream.
    output
        Where detections go.
    state
        State file; an existing one is continued. None keeps no state.
    start
        Time of the first sample, for models that read the hour and weekday.
    operating_point
        Whether to write only detections above the threshold of the model's operating point.
    longest_gap
        Longest gap between samples in seconds; a later time is refused.
    save_every
        Seconds between two writes of the state while nothing is detected.
    """

    def __init__(
        self,
        detector: Streaming,
        recording: str,
        output: Output,
        *,
        state: Path | None = None,
        start: datetime | None = None,
        operating_point: bool = False,
        longest_gap: float = 86400.0,
        save_every: float = 5.0,
    ) -> None:
        self.output, self.state, self.save_every = output, state, save_every
        self.stream: Stream = detector.stream(
            recording, start=start, operating_point=operating_point, longest_gap=longest_gap
        )
        self.detections = 0  # written by this process
        self.replayed = 0  # samples that the state had already
        self._known = 0  # samples of the state, until a later one comes
        self.origin: float | None = None  # time of the first sample on the clock of its source
        if state is not None and state.exists():
            self._continue(state)
        self._saved = time.monotonic()

    def push(self, samples: Sequence[Sample]) -> None:
        """Take samples, and write the detections that are now final."""
        received = len(samples)
        samples = self._new(samples)
        if not samples:
            self.replayed += received
            return
        values = np.array([sample.values for sample in samples], np.float64)
        times = [sample.time for sample in samples if sample.time is not None]
        if times and len(times) < len(samples):
            raise InputError("some samples have a time and some have none")
        if self.state is not None and not times:
            raise InputError("with a state file samples need a time, to know which ones are new")
        detections = self.stream.push(values, times or None)
        self.replayed += received - len(samples)
        self._known = 0
        if len(detections) or time.monotonic() - self._saved >= self.save_every:
            self._write(detections)

    def finish(self) -> None:
        """End the stream, and write the detections that its end makes final."""
        self._write(self.stream.finish())

    def stop(self) -> None:
        """Stop without ending the stream, if there is a state to continue from; else end it."""
        if self.state is None:
            self.finish()
        else:
            self._write(Events.empty(scored=True, issued=True))

    def _new(self, samples: Sequence[Sample]) -> Sequence[Sample]:
        """The samples that are not part of the state already."""
        if not self._known:
            return samples
        end = (self._known - 0.5) * self.stream.info.period
        new = (i for i, sample in enumerate(samples) if sample.time is None or sample.time >= end)
        return samples[next(new, len(samples)) :]

    def _write(self, detections: Events) -> None:
        lines = b"".join(_line(detections, row) for row in range(len(detections)))
        if self.state is not None:
            header = {"place": self.output.place(), "origin": self.origin}
            saved = np.frombuffer(self.stream.save(), np.uint8)
            parts = {"live": {"stream": saved, "lines": np.frombuffer(lines, np.uint8)}}
            with atomic(self.state) as temporary:
                temporary.write_bytes(pack(header, parts))
            self._saved = time.monotonic()
        self.output.write(lines)
        self.detections += len(detections)

    def _continue(self, state: Path) -> None:
        with reading(state, "the state file of a live session"):
            header, parts = unpack(existing(state).read_bytes(), str(state))
            saved, lines = parts["live"]["stream"].tobytes(), parts["live"]["lines"].tobytes()
            origin = None if header["origin"] is None else float(header["origin"])
            self.stream.restore(saved, str(state))
            missing = unwritten(lines, header["place"], self.output.place())
        self.output.write(missing)
        if self.stream.finished:
            raise ConfigError(
                f"{state}: the stream {self.stream.info.id!r} is finished; give another state file "
                "to start a new one, or remove it"
            )
        self._known, self.origin = self.stream.samples, origin

    def summary(self) -> dict[str, Any]:
        """Numbers of samples and detections of the session."""
        return {
            "recording": self.stream.info.id,
            "samples": self.stream.samples,
            "detections": self.detections,
            "late": self.stream.late,
            "replayed": self.replayed,
        }


def _line(events: Events, row: int) -> bytes:
    """One detection as a line of JSON."""
    assert events.score is not None
    assert events.issued is not None
    fields = {
        "recording": events.recordings[events.recording_code[row]],
        "event": events.types[events.type_code[row]],
        "time": float(events.time[row]),
        "score": float(events.score[row]),
        "issued": float(events.issued[row]),
    }
    return json.dumps(fields).encode() + b"\n"
