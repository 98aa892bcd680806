"""An MQTT topic: messages of one or more lines in, detections to the topic below it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, ClassVar, Self
from urllib.parse import SplitResult

from bdl.errors import InputError, require
from bdl.live.session import LiveSession
from bdl.live.transports.transport import Transport

DETECTIONS = "detections"  # last level of the topic that detections are published to


class Mqtt(Transport):
    """A client of an MQTT broker; detections are published to ``TOPIC/detections``."""

    form: ClassVar[str] = "mqtt://HOST:PORT/TOPIC"

    @classmethod
    def from_url(cls, url: SplitResult) -> Self | None:
        topic = url.path.strip("/")
        if url.scheme != "mqtt" or not url.hostname or not topic:
            return None
        return cls(url.hostname, url.port or 1883, topic)

    def __init__(self, host: str, port: int, topic: str) -> None:
        self.host, self.port, self.topic = host, port, topic
        self._client: Any = None

    async def connect(self, session: LiveSession) -> None:
        mqtt = require("aiomqtt", "live")
        client = mqtt.Client(self.host, self.port)
        try:
            await client.__aenter__()
            self._client = client
            await client.subscribe(self.topic, qos=1)
        except mqtt.MqttError as error:
            raise InputError(
                f"mqtt://{self.host}:{self.port}: no MQTT broker answers ({error})"
            ) from error

    async def close(self) -> None:
        if self._client is not None:
            await self._client.__aexit__(None, None, None)

    async def batches(self, session: LiveSession) -> AsyncIterator[list[bytes]]:
        mqtt = require("aiomqtt", "live")
        try:
            async for message in self._client.messages:
                yield bytes(message.payload).split(b"\n")
        except mqtt.MqttError as error:
            raise InputError(
                f"mqtt://{self.host}:{self.port}: the connection was lost ({error})"
            ) from error

    async def send(self, lines: list[bytes]) -> None:
        for line in lines:
            await self._client.publish(f"{self.topic}/{DETECTIONS}", line, qos=1)
