"""A stream of the Lab Streaming Layer; detections are sent to a stream of markers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, ClassVar, Self
from urllib.parse import SplitResult

from bdl.errors import InputError, require
from bdl.live.line_formats import Sample
from bdl.live.session import LiveSession
from bdl.live.transports.transport import Transport
from bdl.sampling import nearest_sample
from bdl.training.preparation import same_period

SEARCH, WAIT = 10.0, 0.2  # seconds
BUFFER = 1e6  # samples that are buffered while a session is busy
SLACK = 0.5  # largest deviation of a time stamp from its sample in seconds


class LabStreamingLayer(Transport):
    """An inlet of one stream.

    Time zero is the time stamp of the first sample. Since time stamps jitter, samples are taken as
    consecutive unless a time stamp deviates by more than half a second: then samples are missing,
    or late. Channels are taken in their order; if the stream names them, the names must be those of
    the model. Detections are sent to the stream ``NAME-detections``.
    """

    form: ClassVar[str] = "lsl:NAME"

    @classmethod
    def from_url(cls, url: SplitResult) -> Self | None:
        return cls(url.path) if url.scheme == "lsl" and url.path else None

    def __init__(self, name: str) -> None:
        self.name = name
        self._inlet: Any = None
        self._outlet: Any = None
        self._next: int | None = None  # number of the next sample

    async def connect(self, session: LiveSession) -> None:
        lsl = require("pylsl", "live")
        streams = await asyncio.to_thread(lsl.resolve_byprop, "name", self.name, 1, SEARCH)
        if not streams:
            raise InputError(f"lsl:{self.name}: no stream of that name within {SEARCH:g} s")
        seconds = int(min(max(BUFFER * session.stream.model.period, 60), 3600))
        self._inlet = lsl.StreamInlet(
            streams[0], max_buflen=seconds, recover=False, processing_flags=lsl.proc_clocksync
        )
        info = await asyncio.to_thread(self._inlet.info, SEARCH)
        self._check(info, session)
        markers = lsl.StreamInfo(f"{self.name}-detections", "Markers", 1, 0, "string", self.name)
        self._outlet = lsl.StreamOutlet(markers)

    def _check(self, info: Any, session: LiveSession) -> None:
        channels, period = session.stream.model.channels, session.stream.model.period
        labels, channel = [], info.desc().child("channels").child("channel")
        for _ in range(info.channel_count()):
            labels.append(channel.child_value("label"))
            channel = channel.next_sibling()
        if info.channel_count() != len(channels) or (all(labels) and labels != [*channels]):
            present = ", ".join(filter(None, labels)) or f"{info.channel_count()} channels"
            raise InputError(
                f"lsl:{self.name}: it has {present}, and the model has {', '.join(channels)}"
            )
        rate = info.nominal_srate()
        if rate > 0 and not same_period(1 / rate, period):
            raise InputError(
                f"lsl:{self.name}: {rate:g} samples per second, and the model has {1 / period:g}"
            )

    async def close(self) -> None:
        if self._inlet is not None:
            await asyncio.to_thread(self._inlet.close_stream)

    async def batches(self, session: LiveSession) -> AsyncIterator[list[Sample]]:
        lost = require("pylsl", "live").util.LostError
        while True:
            try:
                values, stamps = await asyncio.to_thread(self._inlet.pull_chunk, WAIT)
            except lost:
                return
            yield [
                Sample(self._place(stamp, session) * session.stream.model.period, row)
                for stamp, row in zip(stamps, values, strict=True)
            ]

    def _place(self, stamp: float, session: LiveSession) -> int:
        """Number of a sample: the next one, unless its time stamp deviates by more than `SLACK`."""
        period = session.stream.model.period
        if session.origin is None:
            session.origin = stamp
        place = int(nearest_sample(stamp - session.origin, period))
        if self._next is not None and abs(place - self._next) * period <= max(SLACK, 2 * period):
            place = self._next
        self._next = max(place + 1, self._next or 0)
        return place

    async def send(self, lines: list[bytes]) -> None:
        for line in lines:
            self._outlet.push_sample([line.decode()])
