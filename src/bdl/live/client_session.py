"""One stream of a service, and the messages that its client has not received yet."""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Protocol

from bdl.detector.stream import Stream
from bdl.errors import InputError


class RefusedError(InputError):
    """A request of a client is not allowed; ``code`` is that of the closed WebSocket."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Client(Protocol):
    """The other end of a session."""

    def deliver(self) -> None:
        """Send the messages of `ClientSession.outgoing`."""

    def refuse(self, reason: RefusedError) -> None:
        """End the connection."""

    def resume(self) -> None:
        """Resume reading, after the inbox was emptied."""


@dataclass(eq=False)
class ClientSession:
    """One stream, and the messages that its client has not received yet."""

    stream: Stream
    client: Client | None = None  # None while no client is connected
    inbox: list[bytes] = field(default_factory=list)  # messages
    size: int = 0  # bytes of the inbox
    ending: bool = False
    sent: int = 0  # number of the last detection that was sent to this client
    last: int = 0  # number of the last detection
    knows_end: bool = False  # whether this client knows that the stream has finished
    unconfirmed: deque[dict[str, Any]] = field(default_factory=deque)
    problems: list[str] = field(default_factory=list)
    left: float = 0.0  # time at which its client disconnected
    allowance: float = 0.0  # samples that it may send at once
    counted: float = field(default_factory=time.monotonic)  # time of the last allowance

    def confirm(self, number: int) -> None:
        """Remove detections up to a number."""
        while self.unconfirmed and self.unconfirmed[0]["number"] <= number:
            self.unconfirmed.popleft()

    def outgoing(self) -> list[str]:
        """Messages that this client has not received yet."""
        rows: list[dict[str, Any]] = [{"problem": problem} for problem in self.problems]
        rows += [row for row in self.unconfirmed if row["number"] > self.sent]
        self.problems, self.sent = [], self.last
        if self.stream.finished and not self.knows_end:
            rows.append({"finished": self.last})
            self.knows_end = True
        return [json.dumps(row) for row in rows]
