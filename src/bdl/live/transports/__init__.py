"""Transports: sources of the samples of a live session other than standard input.

A source is named by a URL: ``ws://HOST:PORT/PATH`` (a WebSocket), ``mqtt://HOST:PORT/TOPIC`` or
``lsl:NAME`` (a Lab Streaming Layer stream). Each transport is one file of this package.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from bdl.errors import ConfigError
from bdl.live.transports.transport import Transport


def open_transport(url: str) -> Transport:
    """The transport that a URL names; nothing is connected yet.

    Examples
    --------
    >>> open_transport("mqtt://localhost/ward/3").topic
    'ward/3'
    >>> open_transport("ftp://localhost")
    Traceback (most recent call last):
    bdl.errors.ConfigError: --source ftp://localhost: - (standard input), ws://HOST:PORT/PATH, ...
    """
    parts = urlsplit(url)
    if parts.scheme in ("ws", "wss"):
        from bdl.live.transports.websocket import WebSocket

        return WebSocket(url)
    if parts.scheme == "mqtt" and parts.hostname and parts.path.strip("/"):
        from bdl.live.transports.mqtt import Mqtt

        return Mqtt(parts.hostname, parts.port or 1883, parts.path.strip("/"))
    if parts.scheme == "lsl" and parts.path:
        from bdl.live.transports.lsl import LabStreamingLayer

        return LabStreamingLayer(parts.path)
    raise ConfigError(
        f"--source {url}: - (standard input), ws://HOST:PORT/PATH, mqtt://HOST:PORT/TOPIC or "
        "lsl:NAME expected"
    )
