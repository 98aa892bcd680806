"""A WebSocket: text messages of one or more lines in, one message per detection back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, ClassVar, Self
from urllib.parse import SplitResult

from bdl.errors import InputError, require
from bdl.live.session import LiveSession
from bdl.live.transports.transport import Transport


class WebSocket(Transport):
    """A client of the WebSocket server at ``ws://HOST:PORT/PATH`` or ``wss://``."""

    form: ClassVar[str] = "ws://HOST:PORT/PATH"

    @classmethod
    def from_url(cls, url: SplitResult) -> Self | None:
        return cls(url.geturl()) if url.scheme in ("ws", "wss") else None

    def __init__(self, url: str) -> None:
        self.url = url
        self._socket: Any = None

    async def connect(self, session: LiveSession) -> None:
        client = require("websockets.asyncio.client", "live")
        exceptions = require("websockets.exceptions", "live")
        try:
            self._socket = await client.connect(self.url)
        except (OSError, exceptions.WebSocketException, TimeoutError) as error:
            raise InputError(f"{self.url}: no WebSocket server answers ({error})") from error

    async def close(self) -> None:
        if self._socket is not None:
            await self._socket.close()

    async def batches(self, session: LiveSession) -> AsyncIterator[list[bytes]]:
        closed = require("websockets.exceptions", "live").ConnectionClosedError
        try:
            async for message in self._socket:
                text = message.encode() if isinstance(message, str) else message
                yield text.split(b"\n")
        except closed as error:
            raise InputError(f"{self.url}: the connection was lost ({error})") from error

    async def send(self, lines: list[bytes]) -> None:
        for line in lines:
            await self._socket.send(line.decode())
