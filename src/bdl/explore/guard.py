"""Access control of the application: requests of this machine that have the token.

- ``Host`` must be the address of the server, which prevents DNS rebinding.
- A request is refused if its ``Origin`` is another page, or if the browser marks it as coming from
  another site (``Sec-Fetch-Site``).
- The token is sent as ``?token=`` of the first address, which is exchanged for a cookie and an
  address without it, or as ``Authorization: Bearer``. The cookie is not visible to scripts, is
  never sent by other sites, and has the port in its name, since cookies are shared between ports.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Guard:
    """Passes requests to ``app`` if they come from this machine and have the token."""

    def __init__(self, app: Application, *, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._cookie = f"bdl-{port}"
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        request = Request(scope)
        response = self._refusal(request) or self._token_exchange(request)
        if response is not None:
            response.headers.update(HEADERS)
            await response(scope, receive, send)
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("host", "") not in self._hosts:
            return PlainTextResponse("refused: unknown Host header", 403)
        if not request.scope["query_string"].isascii():
            return PlainTextResponse("refused: an address has ASCII characters only", 400)
        origin = request.headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in self._hosts:
            return PlainTextResponse("refused: request of another page", 403)
        site = request.headers.get("sec-fetch-site")
        foreign = site not in (None, "same-origin", "none")
        if foreign and (request.method != "GET" or request.url.path != "/"):
            return PlainTextResponse("refused: request of another site", 403)
        tokens = (
            request.query_params.get("token"),
            request.cookies.get(self._cookie),
            request.headers.get("authorization", "").removeprefix("Bearer "),
        )
        if not any(
            text and hmac.compare_digest(text.encode(), self._token.encode()) for text in tokens
        ):
            return PlainTextResponse(
                "refused: the token is missing; open the address that bdl explore has printed", 401
            )
        return None

    def _token_exchange(self, request: Request) -> Response | None:
        """Exchange the token in the first address for a cookie."""
        if request.url.path != "/" or "token" not in request.query_params:
            return None
        response = RedirectResponse("/", 303)
        response.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
        return response
