"""Serves one page to anyone who knows the key of the process.

A scan is a patient's: the server listens on 127.0.0.1 unless told otherwise, page and websocket
need a random key, and requests that another site's page makes are refused. The page fetches
nothing from other hosts; its content security policy forbids it.
"""

import asyncio  # noqa: TID251
import secrets
import sys
import webbrowser  # noqa: TID251
from argparse import Namespace
from collections.abc import Awaitable, Callable
from hmac import compare_digest
from typing import Any

from aiohttp import web  # noqa: TID251

from fuzzy_vessel import headless

from .files import Files
from .page import Page
from .session import Session

SOCKET = "/ws"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
GRACE = 3.0  # seconds after the last page was closed: it may have been loaded again
HEADERS = {
    # Vue compiles the page's templates in the browser, which takes 'unsafe-eval'.
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline' "
    "'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; frame-ancestors 'self'; form-action 'self'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Guard:
    """Lets requests through that know the key, and come from this server's own page.

    The key comes once, in the address that is opened; then a cookie has it, which no script reads
    and no other site's page sends.
    """

    def __init__(self, host: str) -> None:
        self.key = secrets.token_urlsafe(24)
        self._local = host in LOOPBACK
        self._page: Any = None  # the connection of the newest page
        self.pages = 0  # that are open
        self.closed: Callable[[], None] = lambda: None  # called when one was closed

    @web.middleware
    async def check(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[Any]]
    ) -> Any:
        """Refuse a request, or hand it on."""
        name = request.host.rsplit(":", 1)[0].strip("[]")
        if self._local and name not in LOOPBACK:
            raise web.HTTPForbidden(text="This server is for this computer only.")
        origin = request.headers.get("Origin")
        if origin is not None and origin.partition("://")[2] != request.host:
            raise web.HTTPForbidden(text="Requests of other sites are refused.")
        cookie = f"fuzzy-vessel-{request.url.port}"
        if self._is_key(request.query.get("key")):
            found = web.HTTPFound("/index.html")
            found.set_cookie(cookie, self.key, httponly=True, samesite="Strict")
            raise found
        if not self._is_key(request.cookies.get(cookie)):
            raise web.HTTPForbidden(
                text="The key is missing or wrong: open the whole address that fuzzy-vessel "
                "serve has printed."
            )
        if request.path != SOCKET:
            return await handler(request)
        if self._page is not None:
            self._page.close()  # the views have one size, that of the newest page
        self._page = request.transport
        self.pages += 1
        try:
            return await handler(request)
        finally:
            self.pages -= 1
            self.closed()

    def _is_key(self, given: str | None) -> bool:
        return given is not None and compare_digest(given.encode(), self.key.encode())


async def _add_headers(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


def serve(options: Namespace) -> None:
    """Serve a volume, or the phantom, until the process is ended or, if asked, the page is closed.

    Options are those of the command line.
    """
    from trame.app import get_server

    headless.start()
    server = get_server("fuzzy-vessel", client_type="vue3")
    guard = Guard(options.host)
    page = Page(server)
    session = Session(options.device, page.say, page.show)
    files = Files(session, options, page.download)
    page.build(session, files.save)

    def bind(bound: Any) -> None:
        bound.app.middlewares.append(guard.check)
        bound.app.on_response_prepare.append(_add_headers)
        bound.app.add_routes(files.routes())

    def ready(**_state: Any) -> None:
        host = "127.0.0.1" if options.host in (*LOOPBACK, "0.0.0.0", "::") else options.host
        address = f"http://{host}:{server.port}/?key={guard.key}"
        print(f"Open {address}\nCtrl+C ends it.", flush=True)
        if not options.no_open:
            webbrowser.open(address)
        session.begin(files.begin())

    def closed() -> None:
        if options.until_closed:
            asyncio.get_running_loop().call_later(GRACE, end_without_pages)

    def end_without_pages() -> None:
        if not guard.pages:
            session.begin(server.stop())

    server.controller.on_server_bind.add(bind)
    server.controller.on_server_ready.add(ready)
    guard.closed = closed
    arguments, sys.argv = sys.argv, sys.argv[:1]  # trame looks for its own options in them
    try:
        server.start(
            host=options.host, port=options.port, timeout=0, open_browser=False,
            show_connection_info=False, disable_logging=True,
        )  # fmt: skip
    finally:
        sys.argv = arguments
        session.cancel()
        files.remove()
