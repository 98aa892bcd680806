"""Streams of many clients, stepped together in one batch.

A session is a stream with a client, or one that waits for its client to reconnect. The messages of
all clients since the last step are read and pushed together (`bdl.live.line_scan`,
`bdl.detector.stream_rows`), so that a message costs little more than its socket. Detections of a
session are numbered from 1; those that a client has not confirmed are stored, up to a limit, and
sent again after a reconnect.
"""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.detector.sample_intake import Samples
from bdl.detector.stream_rows import StreamDetections
from bdl.detector.streaming import Streaming
from bdl.errors import InputError
from bdl.live.client_limits import Limits
from bdl.live.client_session import Client, ClientSession, RefusedError
from bdl.live.line_formats import LineReader, short
from bdl.live.line_scan import Scanned, scan

PROBLEMS = 100  # most problems that are sent to a client at once; all are counted


class Sessions:
    """All sessions of a service that runs a detector with a lag.

    With ``operating_point``, only detections above the threshold of the model are sent.
    """

    def __init__(
        self, detector: Streaming, limits: Limits | None = None, *, operating_point: bool = False
    ) -> None:
        self.detector, self.limits = detector, limits or Limits()
        self.operating_point = operating_point
        self.known: dict[str, ClientSession] = {}
        self.busy: list[ClientSession] = []  # sessions whose inbox is not empty
        self.with_messages: set[ClientSession] = set()  # sessions with messages for their client
        self.swept = 0.0  # time at which `forget` was last called
        self.counts = dict.fromkeys(("samples", "detections", "refused", "steps"), 0)
        self.seconds = 0.0  # total duration of all steps
        self.reader = LineReader(detector.model_.channels, "ndjson")
        # Refuses a detector without streams, and compiles all functions before the first client.
        start = datetime.fromisoformat("2000-01-01T00:00:00+00:00")
        stream = detector.stream("check", start=start)
        stream.push(np.zeros((stream.rows.stride, len(detector.model_.channels))))
        scan([b""], len(detector.model_.channels))

    def open(
        self, name: str, client: Client, *, start: datetime | None, confirmed: int
    ) -> ClientSession:
        """Start a session, or continue one, which is then detached from its earlier client.

        ``start`` is the time of the first sample, for models that read the hour and weekday;
        ``confirmed`` is the number of the last detection that the client has received before.
        """
        session = self.known.get(name)
        if session is None:
            if time.monotonic() - self.swept > 1.0 or len(self.known) >= self.limits.sessions:
                self.forget()
            if len(self.known) >= self.limits.sessions:
                raise RefusedError(1013, f"{self.limits.sessions} sessions are running; try later")
            stream = self.detector.stream(name, start=start, operating_point=self.operating_point)
            session = self.known[name] = ClientSession(stream, allowance=10 * self.limits.rate)
        elif session.inbox:
            self.step()
        session.client, session.knows_end = client, False
        session.confirm(confirmed)
        session.sent = confirmed
        return session

    def leave(self, session: ClientSession, client: Client) -> None:
        """Let a session wait for its client, or end it if its stream has ended.

        Nothing happens if another client continues it.
        """
        if session.client is not client:
            return
        session.client, session.left = None, time.monotonic()
        if session.stream.finished and not session.unconfirmed:
            self.known.pop(session.stream.info.id, None)

    def forget(self) -> None:
        """End the sessions whose clients have been away for too long."""
        self.swept = time.monotonic()
        before = self.swept - self.limits.waiting
        for name, session in [*self.known.items()]:
            if session.client is None and session.left < before:
                del self.known[name]

    def put(self, session: ClientSession, message: bytes) -> bool:
        """Store a message for the next step; whether there is room for more."""
        if not session.inbox:
            self.busy.append(session)
        session.inbox.append(message)
        session.size += 1 + len(message)
        return session.size <= self.limits.message

    def step(self) -> None:
        """Read all stored messages, and push their samples to all streams together."""
        busy, self.busy = self.busy, []
        if not busy:
            return
        begin = time.perf_counter()
        texts = [b"\n".join(session.inbox) for session in busy]
        lines, scanned = scan(texts, len(self.reader.channels))
        allowed = [
            self._take(session, count) for session, count in zip(busy, lines.tolist(), strict=True)
        ]
        starts = np.cumsum(lines) - lines
        scanned.read[~np.repeat(allowed, lines)] = False
        if not scanned.read.all() or any(session.ending for session in busy):
            for i in np.flatnonzero(allowed).tolist():
                part = scanned.part(starts[i], starts[i] + lines[i])
                if busy[i].ending or not part.read.all():
                    self._read(busy[i], texts[i], part)
        counts = np.add.reduceat(scanned.read, starts, dtype=np.int64)
        self._push_lines(busy, counts, scanned)
        with_messages, self.with_messages = self.with_messages, set()
        for session in with_messages:
            if session.ending and not session.stream.finished:
                self._keep([session], session.stream.end().detections)
            if session.client is not None:
                session.client.deliver()
        self.counts["samples"] += int(counts.sum())
        self.counts["steps"] += 1
        self.seconds += time.perf_counter() - begin

    def _read(self, session: ClientSession, text: bytes, scanned: Scanned) -> None:
        """Read the lines that are not plain samples; none may follow the end."""
        for place, line in enumerate(text.split(b"\n")):
            if not scanned.read[place]:
                self._read_line(session, line, scanned.part(place, place + 1))
            if scanned.read[place] and session.ending:
                self._refuse(session, "the stream has ended")
                scanned.read[place:] = False
                return

    def _read_line(self, session: ClientSession, line: bytes, scanned: Scanned) -> None:
        """Read a line that is not a plain sample: a request, a sample, or a problem."""
        try:
            text = line.decode()
            sample = None if self._control(session, text) else self.reader.sample(text)
        except (InputError, UnicodeDecodeError) as error:
            kind = "not UTF-8: " if isinstance(error, UnicodeDecodeError) else ""
            self._problem(session, 1, f"left out: {kind}{error}")
            return
        if sample is not None:
            scanned.values[0], scanned.read[0] = sample.values, True
            scanned.times[0] = np.nan if sample.time is None else sample.time

    def _control(self, session: ClientSession, line: str) -> bool:
        """Whether a line was a request instead of a sample."""
        if '"values"' in line:
            return False
        try:
            content: Any = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if content == {"finish": True}:
            session.ending = True
            self.with_messages.add(session)
            return True
        single = isinstance(content, dict) and len(content) == 1
        number = content.get("confirm") if single else None
        if type(number) is int:
            session.confirm(number)
            return True
        return False

    def _take(self, session: ClientSession, lines: int) -> bool:
        """Empty an inbox; whether its session may have sent so many lines, else it is refused."""
        full, session.inbox, session.size = session.size > self.limits.message, [], 0
        if full and session.client is not None:
            session.client.resume()
        if lines > session.allowance:
            now, rate = time.monotonic(), self.limits.rate
            gained = (now - session.counted) * rate
            session.allowance = min(10 * rate, session.allowance + gained)
            session.counted = now
            if lines > session.allowance:
                self._refuse(session, f"more than {rate:g} samples per second")
                return False
        session.allowance -= lines
        return True

    def _refuse(self, session: ClientSession, reason: str) -> None:
        self.counts["refused"] += 1
        if session.client is not None:
            session.client.refuse(RefusedError(1008, reason))

    def _push_lines(
        self, busy: list[ClientSession], counts: NDArray[np.int64], scanned: Scanned
    ) -> None:
        """Push the lines that are samples."""
        _, values, times = scanned
        if not scanned.read.all():
            values, times = values[scanned.read], times[scanned.read]
        if not counts.all():
            busy = [session for session, count in zip(busy, counts, strict=True) if count]
            counts = counts[counts > 0]
        self._push(busy, Samples(counts, values, times))

    def _push(self, sessions: list[ClientSession], samples: Samples) -> None:
        """Push to all streams at once; one by one where a sample is refused."""
        if not sessions:
            return
        rows = sessions[0].stream.rows
        try:
            _check_times(samples)
            advanced = rows.push(np.array([session.stream.row for session in sessions]), samples)
        except InputError as error:
            if len(sessions) == 1:
                self._problem(sessions[0], len(samples.values), str(error))
                return
            first = 0
            for session, count in zip(sessions, samples.counts.tolist(), strict=True):
                span = slice(first, first + count)
                single = Samples(np.array([count]), samples.values[span], samples.times[span])
                self._push([session], single)
                first += count
            return
        for part in advanced:
            self._keep(sessions, part.detections)

    def _problem(self, session: ClientSession, samples: int, reason: str) -> None:
        self.counts["refused"] += samples
        self.with_messages.add(session)
        if len(session.problems) < PROBLEMS:
            session.problems.append(short(reason))

    def _keep(self, sessions: list[ClientSession], detections: StreamDetections) -> None:
        """Store detections for the clients."""
        for place, type, *numbers in zip(*(column.tolist() for column in detections), strict=True):
            session = sessions[place]
            self.with_messages.add(session)
            session.last += 1
            row = {
                "number": session.last,
                "recording": session.stream.info.id,
                "event": session.stream.rows.types[type],
                **dict(zip(("time", "score", "issued"), numbers, strict=True)),
            }
            session.unconfirmed.append(row)
            if len(session.unconfirmed) > self.limits.unconfirmed:
                session.unconfirmed.popleft()
        self.counts["detections"] += len(detections.time)


def _check_times(samples: Samples) -> None:
    """Raise an error if only some samples of a session have a time."""
    starts = np.cumsum(samples.counts) - samples.counts
    timed = np.add.reduceat(~np.isnan(samples.times), starts, dtype=np.int64)
    if ((timed > 0) & (timed < samples.counts)).any():
        raise InputError("some samples have a time and some have none")
