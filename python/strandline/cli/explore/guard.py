"""Who may ask the page: a browser on this machine that has its key, and no page of another site.

A name of another site that is made to lead here (DNS rebinding) is refused by its `Host`, by a middleware of
Starlette; a request that another site's page sends, by its `Origin`. Other users of this machine lack the key.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOSTS = ("127.0.0.1", "localhost")
"""How a browser may call this machine."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; frame-src 'self'; "
    "style-src 'self'; style-src-attr 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""What every answer tells the browser, unless it says otherwise itself."""


@dataclass
class Keys:
    """The key of a server, and keys that open it once."""

    key: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    _once: set[str] = field(default_factory=set)

    def once(self) -> str:
        """A key for one visit: other users of the machine see the arguments with which a browser is started."""
        made = secrets.token_urlsafe(24)
        self._once.add(made)
        return made

    def fits(self, given: str) -> bool:
        """Whether it is the key."""
        return secrets.compare_digest(given.encode(), self.key.encode())

    def opens(self, given: str) -> bool:
        """Whether it is the key, or one for one visit, which then is used up."""
        if given in self._once:
            self._once.remove(given)
            return True
        return self.fits(given)


class Guard:
    """Refuses requests, and adds `HEADERS` to all answers."""

    def __init__(self, app: ASGIApp, keys: Keys, port: int) -> None:
        self._app, self._keys, self._cookie = app, keys, f"strandline-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, or lets the application answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (self._answer(Request(scope)) or self._app)(scope, receive, with_headers)

    def _answer(self, request: Request) -> Response | None:
        """The answer of the guard; `None` if the request may pass."""
        origin = request.headers.get("origin")
        if origin is not None and origin != f"http://{request.headers.get('host')}":
            return _refused("a page of another site asks")
        given = request.query_params.get("key")
        if request.url.path == "/" and given is not None and self._keys.opens(given):
            # The browser keeps the fragment, and the key leaves its address bar.
            opened = RedirectResponse("/", HTTPStatus.SEE_OTHER)
            opened.set_cookie(self._cookie, self._keys.key, httponly=True, samesite="lax")
            return opened
        if self._keys.fits(request.cookies.get(self._cookie, "")):
            return None
        return _refused("open the address that `strandline explore` printed")


def _refused(why: str) -> Response:
    return PlainTextResponse(f"strandline explore: refused: {why}\n", HTTPStatus.FORBIDDEN)
