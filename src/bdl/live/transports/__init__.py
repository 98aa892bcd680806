"""Transports: sources of the samples of a live session other than standard input.

A source is named by a URL: ``ws://HOST:PORT/PATH`` (a WebSocket), ``mqtt://HOST:PORT/TOPIC`` or
``lsl:NAME`` (a Lab Streaming Layer stream). Each transport is one file of this package.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
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
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    kinds = sorted(Transport.__subclasses__(), key=lambda kind: kind.form, reverse=True)
    for kind in kinds:
        transport = kind.from_url(urlsplit(url))
        if transport is not None:
            return transport
    *forms, last = ["- (standard input)", *(kind.form for kind in kinds)]
    raise ConfigError(f"--source {url}: {', '.join(forms)} or {last} expected")
