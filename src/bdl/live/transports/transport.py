"""The interface of a transport: it delivers samples and sends detections back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, Self
from urllib.parse import SplitResult

from bdl.live.line_formats import Sample
from bdl.live.session import LiveSession


class Transport(AbstractAsyncContextManager[Any]):
    """A source of samples, which is closed at the end of its ``async with`` block."""

    form: ClassVar[str]
    """Form of the URLs that name such a source, for messages."""

    @classmethod
    @abstractmethod
    def from_url(cls, url: SplitResult) -> Self | None:
        """The transport that a URL names, or None if it is not one of this transport."""

    @abstractmethod
    async def connect(self, session: LiveSession) -> None:
        """Connect to the source, and check that it has the channels and rate of the model."""

    @abstractmethod
    async def close(self) -> None:
        """Disconnect."""

    @abstractmethod
    def batches(self, session: LiveSession) -> AsyncIterator[list[bytes] | list[Sample]]:
        """Yield lines of text, or samples, as they arrive; ends with the source."""

    @abstractmethod
    async def send(self, lines: list[bytes]) -> None:
        """Send detections back, one line of JSON each."""

    async def __aexit__(self, *_: object) -> None:
        await self.close()
