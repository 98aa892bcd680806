"""Access to the application: for programs of this machine that know the token, and our own page.

- ``Host`` must be the address we listen at, so that no outside name can be pointed at it (DNS
  rebinding).
- A request with an ``Origin`` of another page is refused, and one that the browser marks as coming
  from another site (``Sec-Fetch-Site``).
- The token comes as ``?token=`` of the first address, which exchanges it for a cookie and a clean
  address, or as ``Authorization: Bearer``. The cookie is not visible to scripts, is never sent by
  other sites, and has the port in its name, since cookies do not tell ports apart.
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
    """Lets requests through to ``app`` that come from this machine and know the token."""

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
        response = self._refusal(request) or self._welcome(request)
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
        given = (
            request.query_params.get("token"),
            request.cookies.get(self._cookie),
            request.headers.get("authorization", "").removeprefix("Bearer "),
        )
        if not any(
            text and hmac.compare_digest(text.encode(), self._token.encode()) for text in given
        ):
            return PlainTextResponse(
                "refused: the token is missing; open the address that bdl explore has printed", 401
            )
        return None

    def _welcome(self, request: Request) -> Response | None:
        """Exchange the token in the first address for a cookie."""
        if request.url.path != "/" or "token" not in request.query_params:
            return None
        response = RedirectResponse("/", 303)
        response.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
        return response
