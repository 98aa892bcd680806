"""Start of the application: a port of the loopback interface, a token, a browser."""

from __future__ import annotations

import secrets
import webbrowser
from collections.abc import Callable

from bdl.errors import require
from bdl.explore.label_session import LabelSession
from bdl.listening import listening_socket


def serve(
    session: LabelSession,
    *,
    port: int = 0,
    browser: bool = True,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve a session to browsers of this machine until it is interrupted.

    Parameters
    ----------
    session
        What is shown and edited.
    port
        Port of the loopback interface; 0 takes a free one.
    browser
        Whether to open the page in the default browser.
    announce
        Called with the address, which contains the token.
    """
    require("starlette", "explore")
    uvicorn = require("uvicorn", "explore")
    from bdl.explore.server import application

    listener = listening_socket(
        "127.0.0.1", port, backlog=128, advice="give another one (--port), or 0 for any"
    )
    port = listener.getsockname()[1]
    token = secrets.token_urlsafe(32)
    address = f"http://127.0.0.1:{port}/?token={token}"
    config = uvicorn.Config(
        application(session, token=token, port=port),
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    announce(address)
    if browser:
        webbrowser.open(address)
    uvicorn.Server(config).run(sockets=[listener])
