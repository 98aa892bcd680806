"""A live session on a transport: samples arrive as messages until the source ends or a signal."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from bdl.errors import InputError
from bdl.live.line_formats import LineReader, Sample
from bdl.live.session import LiveSession
from bdl.live.standard_streams import LineErrors, push_lines, push_samples
from bdl.live.transports.transport import Transport


class Reply:
    """Output that is sent back by a transport; lines are queued here until they are sent."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []

    def place(self) -> dict[str, Any] | None:
        """None: it is not known how much the other side has received."""
        return None

    def write(self, lines: bytes) -> None:
        """Queue lines to be sent."""
        self.waiting += lines.splitlines()

    async def send(self, transport: Transport) -> None:
        """Send all queued lines."""
        lines, self.waiting = self.waiting, []
        await transport.send(lines)


async def run_messages(
    session: LiveSession, transport: Transport, reader: LineReader, errors: LineErrors
) -> bool:
    """Run a session until its source ends or a signal is received; whether the source ended.

    Like `bdl.live.standard_streams.run`, for a transport; the output may be a `Reply`.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with transport:
        await transport.connect(session)
        ended = await _receive(session, transport, reader, errors, stop)
        if ended:
            session.finish()
        else:
            session.stop()
        if isinstance(session.output, Reply) and session.output.waiting:
            await session.output.send(transport)
    return ended


async def _receive(
    session: LiveSession,
    transport: Transport,
    reader: LineReader,
    errors: LineErrors,
    stop: asyncio.Event,
) -> bool:
    source, number = transport.batches(session), 1
    stopping = asyncio.ensure_future(stop.wait())
    while True:
        if isinstance(session.output, Reply):
            await session.output.send(transport)
        coming = asyncio.ensure_future(anext(source))
        await asyncio.wait({coming, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if stopping.done():
            coming.cancel()
            return False
        try:
            batch: list[bytes] | list[Sample] = coming.result()
        except StopAsyncIteration:
            return True
        except InputError:
            session.stop()
            raise
        if batch and isinstance(batch[0], Sample):
            push_samples(session, errors, [*enumerate(batch, start=number)])
        else:
            push_lines(session, reader, errors, batch, number)  # type: ignore[arg-type]
        number += len(batch)
