"""Start of the service of streams: an address, a token, limits."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from bdl.detector.streaming import Streaming
from bdl.errors import require
from bdl.listening import listening_socket
from bdl.live.client_limits import Limits
from bdl.live.sessions import Sessions
from bdl.live.stepping import Stepping


def serve(
    detector: Streaming,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    limits: Limits | None = None,
    operating_point: bool = False,
    announce: Callable[[str, str], None] = print,
) -> None:
    """Serve streams of a detector until the process is interrupted or terminated.

    Parameters
    ----------
    detector
        A fitted or exported detector with a lag.
    host, port
        Address to listen at, by default the loopback only; port 0 takes a free one.
    token
        Token that every client must send; None creates a random one.
    limits
        Limits of the clients.
    operating_point
        Whether to send only detections above the threshold of the model's operating point.
    announce
        Called with the address and the token.
    """
    require("starlette", "serve")
    require("websockets", "serve")
    uvicorn = require("uvicorn", "serve")
    from bdl.live.service import application
    from bdl.live.stream_socket import StreamSocket

    limits = limits or Limits()
    sessions = Sessions(detector, limits, operating_point=operating_point)
    token = token or secrets.token_urlsafe(32)
    listener = listening_socket(
        host, port, backlog=1024, advice="give another one (--host, --port)"
    )
    config = uvicorn.Config(
        application(sessions, token=token),
        ws=cast(Any, partial(StreamSocket, Stepping(sessions), token)),
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    name = f"[{host}]" if ":" in host else host
    announce(f"ws://{name}:{listener.getsockname()[1]}", token)
    uvicorn.Server(config).run(sockets=[listener])
