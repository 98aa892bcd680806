"""The timer that steps the sessions of a service."""

from __future__ import annotations

import asyncio

from bdl.live.client_session import ClientSession
from bdl.live.sessions import Sessions

GATHER = 0.02  # seconds in which samples of many streams are gathered for one step


class Stepping:
    """Steps sessions soon after samples arrive, at most once every `GATHER` seconds."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions
        self.planned: asyncio.TimerHandle | None = None
        self.last = 0.0

    def put(self, session: ClientSession, message: bytes) -> bool:
        """Store a message for the next step; whether there is room for more."""
        if self.planned is None:
            loop = asyncio.get_running_loop()
            self.planned = loop.call_at(self.last + GATHER, self._step)
        return self.sessions.put(session, message)

    def _step(self) -> None:
        self.planned = None
        self.sessions.step()
        self.last = asyncio.get_running_loop().time()
