"""The WebSocket of one stream: passes messages to its session without a task per client.

The handshake, closing, control frames and messages in several frames are handled by the library
`websockets`. A message in one frame, as nearly all are, is passed directly to the session.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
from datetime import datetime
from typing import Any, cast
from urllib.parse import parse_qs, unquote

from websockets.datastructures import Headers
from websockets.exceptions import InvalidState
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from bdl.errors import InputError
from bdl.live.client_session import ClientSession, RefusedError
from bdl.live.stepping import Stepping

try:
    from websockets.speedups import apply_mask
except ImportError:  # where the library has no compiled part
    from websockets.utils import apply_mask

PREFIX = "/stream/"
TEXT = 0x81  # first byte of a frame that is a whole message of text
MASKED = 0x80  # bit of its second byte
CLOSING = 10.0  # seconds that a client has to answer a close frame
CONTENT = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)  # frames that are part of a message
KEEPALIVE = 60  # seconds without data after which TCP probes a client

_BUFFER = memoryview(bytearray(1 << 16))  # shared by all sockets, which are read one at a time


class StreamSocket(asyncio.BufferedProtocol):
    """One connection, created by uvicorn when a client requests a WebSocket.

    Every client must send the token; the keyword arguments are those of uvicorn.
    """

    def __init__(
        self, stepping: Stepping, token: str, *, config: Any, server_state: Any, app_state: Any
    ) -> None:
        self.stepping, self.token = stepping, token
        self.sessions = stepping.sessions
        self.max_size = self.sessions.limits.message
        self.connections = server_state.connections
        self.protocol = ServerProtocol(max_size=self.max_size)
        self.session: ClientSession | None = None
        self.incomplete_frame = b""  # the part of a frame that was received
        self.fragments: list[bytes] = []  # frames of a message that is not complete
        self.writable = True

    # Called by the event loop and uvicorn

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.connections.add(self)
        connection = self.transport.get_extra_info("socket")
        if connection is not None:  # detects a client that disappears without closing
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            if hasattr(socket, "TCP_KEEPIDLE"):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE)

    def connection_lost(self, exc: Exception | None) -> None:
        self.connections.discard(self)
        self._detach()

    def shutdown(self) -> None:
        """End the connection because the service ends."""
        self._close(1012, "the service ends")
        self.transport.close()

    def pause_writing(self) -> None:
        self.writable = False

    def resume_writing(self) -> None:
        self.writable = True
        self.deliver()

    def get_buffer(self, sizehint: int) -> memoryview:
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        self.data_received(bytes(_BUFFER[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Take bytes from the client."""
        if self.incomplete_frame:
            data, self.incomplete_frame = self.incomplete_frame + data, b""
        place = 0
        while self.session is not None and place < len(data):
            content, stop = _frame(data, place, self.max_size)
            if stop < 0:  # not a frame that clients may send: the library reports the error
                break
            if stop > len(data):
                self.incomplete_frame = data[place:]
                return
            if data[place] == TEXT and not self.fragments:
                self._message(apply_mask(data[content:stop], data[content - 4 : content]))
            else:
                self._receive(data[place:stop])
            place = stop
        if place < len(data):
            self._receive(data[place:])

    # Called by the session

    def deliver(self) -> None:
        """Send messages that the client has not received, unless it has stopped reading."""
        if self.session is not None and self.writable:
            try:
                for text in self.session.outgoing():
                    self.protocol.send_text(text.encode())
            except InvalidState:
                return  # it is closing; the session stores what is not confirmed
            self._send()

    def refuse(self, reason: RefusedError) -> None:
        """End the connection."""
        self._close(reason.code, str(reason))

    def resume(self) -> None:
        """Resume reading."""
        self.transport.resume_reading()

    # Internal

    def _message(self, message: bytes) -> None:
        session = self.session
        assert session is not None
        if session.client is not self:
            self._close(1008, "another client continues this stream")
        elif not self.stepping.put(session, message):
            self.transport.pause_reading()

    def _receive(self, data: bytes) -> None:
        """Handle whole frames, or the request, by the library."""
        self.protocol.receive_data(data)
        for event in self.protocol.events_received():
            if isinstance(event, Request):
                self._connect(event)
            elif isinstance(event, Frame) and event.opcode in CONTENT:
                self.fragments.append(bytes(event.data))
                if event.fin:
                    message, self.fragments = b"".join(self.fragments), []
                    if self.session is not None:
                        self._message(message)
        self._send()

    def _connect(self, request: Request) -> None:
        if self.protocol.eof_sent:
            return  # the request was followed by an invalid frame, which ended the protocol
        path, _, parameters = request.path.partition("?")
        if not path.startswith(PREFIX):
            refused = self.protocol.reject(404, f"a stream is at {PREFIX}NAME\n")
            self.protocol.send_response(refused)
            return
        response = self.protocol.accept(request)
        self.protocol.send_response(response)
        if response.status_code != 101:
            return
        if not allowed(request.headers, self.token):
            self._close(1008, "the token is missing or wrong")
            return
        query = {key: values[-1] for key, values in parse_qs(parameters).items()}
        try:
            self.session = self.sessions.open(
                unquote(path[len(PREFIX) :]),
                self,
                start=datetime.fromisoformat(query["start"]) if "start" in query else None,
                confirmed=int(query.get("confirmed", 0)),
            )
        except (ValueError, InputError) as error:  # an InputError is a ValueError
            self._close(error.code if isinstance(error, RefusedError) else 1008, str(error))
            return
        counts = {"samples": self.session.stream.samples, "detections": self.session.last}
        self.protocol.send_text(json.dumps(counts).encode())
        self.deliver()

    def _send(self) -> None:
        chunks = self.protocol.data_to_send()
        if chunks and not self.transport.is_closing():
            self.transport.write(b"".join(chunks))
            if chunks[-1] == b"":  # marks the end
                self.transport.close()

    def _close(self, code: int, reason: str) -> None:
        """Ask the client to close; later data of the client is ignored."""
        self._detach()
        try:
            # A reason has at max_size 123 bytes.
            self.protocol.send_close(code, reason.encode()[:120].decode(errors="ignore"))
        except InvalidState:
            return  # it is closing already
        self._send()
        asyncio.get_running_loop().call_later(CLOSING, self.transport.abort)

    def _detach(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            self.sessions.leave(session, self)


def allowed(headers: Headers | Any, token: str) -> bool:
    """Whether a request has the token."""
    sent = headers.get("authorization", "").removeprefix("Bearer ")
    return hmac.compare_digest(sent.encode(), token.encode())


def _frame(data: bytes, place: int, max_size: int) -> tuple[int, int]:
    """Indices at which the content of the frame at ``place`` begins and ends.

    The end is beyond the data if the header of the frame is incomplete, and -1 if the frame has no
    mask or is too long.
    """
    unknown = len(data) + 1
    if place + 1 >= len(data):
        return unknown, unknown
    length, content = data[place + 1] - MASKED, place + 6
    if length < 0:
        return place, -1
    if length > 125:
        size = 2 if length == 126 else 8
        content += size
        length = int.from_bytes(data[place + 2 : place + 2 + size], "big")
    if content > len(data):
        return unknown, unknown
    return content, content + length if length <= max_size else -1
