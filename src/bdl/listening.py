"""A socket that listens on an address, or an error that names the address and the flags."""

from __future__ import annotations

import socket

from bdl.errors import OutputError


def listening_socket(host: str, port: int, *, backlog: int, advice: str) -> socket.socket:
    """Return a socket that listens on an interface of IPv4 or IPv6; port 0 takes a free one.

    ``backlog`` connections may wait. The error of a port that cannot be used ends in ``advice``.

    Examples
    --------
    >>> with listening_socket("127.0.0.1", 0, backlog=1, advice="") as listener:
    ...     listener.getsockname()[1] > 0
    True
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends small answers at once (TCP_NODELAY).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise OutputError(f"{host}, port {port} cannot be used: {error}; {advice}") from error
    listener.listen(backlog)
    return listener
