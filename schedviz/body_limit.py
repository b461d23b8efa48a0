"""Limits the size of request bodies. This is ASGI middleware in front of Django, because Django's ASGI
handler writes the whole body to a temporary file before any of Django's middleware runs.

A body that exceeds its limit is cut off, and the request goes on with :data:`TOO_LARGE` in its scope;
Django's middleware :class:`schedviz.web.middleware.BodyTooLarge` then responds. The rest of the body is read
and discarded for at most DISCARD_SECONDS; then the connection is closed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Final

from django.urls import Resolver404, resolve

from schedviz.routes import PAGE_BYTES, find_route, routes

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

DISCARD_SECONDS: Final = 30.0
"""Seconds for which the rest of a body is discarded: enough for a gigabyte on a local network. Some clients
read no response before they have sent the whole body."""

TOO_LARGE: Final = "schedviz.too_large"
"""Key in the scope of a request whose body was cut off; its value is the limit in bytes."""


@cache
def smallest_limit() -> int:
    return min(route.body_bytes for route in routes().values())


def max_body_bytes(path: str) -> int:
    """Return the limit for requests to a path."""
    try:
        route = find_route(resolve(path))
    except Resolver404:
        route = None
    return route.body_bytes if route else PAGE_BYTES


class BodyLimit:
    """ASGI middleware."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit, received, cut_off = 0, 0, False

        def check(size: int) -> None:
            """Note a body that is too large. Django resolves the path, too: here it is done for large bodies
            only."""
            nonlocal limit
            if size > smallest_limit():
                limit = limit or max_body_bytes(scope["path"])
                if size > limit:
                    scope[TOO_LARGE] = limit

        length = dict(scope["headers"]).get(b"content-length", b"")
        if length.isdigit():
            check(int(length[:20]))

        async def counted() -> Message:
            nonlocal received, cut_off
            if cut_off:
                # Django waits here for a disconnect while it responds.
                await asyncio.get_running_loop().create_future()
            if TOO_LARGE not in scope:
                message = await receive()
                received += len(message.get("body", b""))
                check(received)
                if TOO_LARGE not in scope:
                    return message
            cut_off = True
            return {"type": "http.request", "body": b"", "more_body": False}

        async def answered(message: Message) -> None:
            """Delay the last part of the response until the client has sent its body: a client that is still
            sending gets an error, not the response, when the connection is closed."""
            if TOO_LARGE in scope and message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"Connection", b"close")]}
            elif TOO_LARGE in scope and not message.get("more_body", False):
                await send({**message, "more_body": True})
                await _discard(receive)
                message = {"type": "http.response.body"}
            await send(message)

        await self._app(scope, counted, answered)


async def _discard(receive: Receive) -> None:
    """Read the rest of a body, for at most DISCARD_SECONDS."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while (await receive()).get("more_body", False):
                pass
