"""A service of streams over WebSocket, with health and metrics.

``/stream/NAME`` is the WebSocket of one stream (`bdl.live.stream_socket`). A client sends samples
as lines of NDJSON (see `bdl.live.line_formats`), one or several per message,
``{"confirm": NUMBER}`` for the last detection that it has stored, and ``{"finish": true}``. It
receives one JSON object per message: first the number of ``samples`` and ``detections`` of the
stream, then each detection with its ``number``, ``{"problem": TEXT}`` for samples that were left
out, and ``{"finished": NUMBER}`` with the number of the last detection. After a reconnect it
continues after the last sample of the stream, and ``?confirmed=NUMBER`` requests the detections
after that number again. A second client of a stream replaces the first. ``/health`` shows whether
the service runs, ``/metrics`` has the text format of Prometheus. All requests except ``/health``
need the token, as ``Authorization: Bearer TOKEN``.
"""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bdl.live.sessions import Sessions
from bdl.live.stream_socket import allowed


def application(sessions: Sessions, *, token: str) -> Starlette:
    """Return the pages of the service; every client must send the token."""

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "sessions": len(sessions.known)})

    async def metrics(request: Request) -> Response:
        if not allowed(request.headers, token):
            return PlainTextResponse("the token is missing or wrong", 401)
        clients = [session.client for session in sessions.known.values()]
        numbers = {
            "sessions": ("gauge", len(clients)),
            "clients": ("gauge", sum(client is not None for client in clients)),
            **{f"{name}_total": ("counter", count) for name, count in sessions.counts.items()},
            "step_seconds_total": ("counter", sessions.seconds),
        }
        lines = [
            f"# TYPE bdl_{name} {kind}\nbdl_{name} {number}"
            for name, (kind, number) in numbers.items()
        ]
        return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")

    return Starlette(routes=[Route("/health", health), Route("/metrics", metrics)])
