"""Limits the size of request bodies. This is ASGI middleware in front of Django, because Django's ASGI
handler writes the whole body to a temporary file before any of Django's middleware runs.

A body that exceeds its limit is cut off, and the request goes on with :data:`TOO_LARGE` in its scope;
Django's middleware :class:`schedviz.web.middleware.BodyTooLarge` then responds. The rest of the body is read
and discarded for at most DISCARD_SECONDS; then the connection is closed.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from django.conf import settings

from simulator.apiserver.bounds import MAX_BODY_BYTES, MAX_BYTES
from simulator.dumps.dump_files import MAX_DUMP_BYTES

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

API: Final = re.compile(
    r"/s/[^/]+/(apis?|version|openapi|trace|recording)(/.*)?|/s/[^/]+/scheduler|/(api|openapi)/.*"
    r"|/healthz|/readyz|/metrics"
)
"""Paths of :mod:`schedviz.api.urls` and :mod:`schedviz.sandbox_api.urls`, whose errors are a Status."""

KUBERNETES: Final = re.compile(r"/s/[^/]+/apis?(/.*)?")
"""The paths among them that are Kubernetes' own."""

UPLOAD: Final = "/bring/"

PAGE_BYTES: Final = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
"""Maximum body of a form."""
UPLOAD_BYTES: Final = MAX_DUMP_BYTES + (1 << 16)
"""Maximum body of a form with a file: the file, the other fields and the multipart headers."""

DISCARD_SECONDS: Final = 30.0
"""Seconds for which the rest of a body is discarded: enough for a gigabyte on a local network. Some clients
read no response before they have sent the whole body."""

TOO_LARGE: Final = "schedviz.too_large"
"""Key in the scope of a request whose body was cut off; its value is the limit in bytes."""


def max_body_bytes(path: str) -> int:
    """Return the limit for requests to a path."""
    if KUBERNETES.fullmatch(path):
        return MAX_BODY_BYTES
    if API.fullmatch(path):
        return MAX_BYTES
    return UPLOAD_BYTES if path == UPLOAD else PAGE_BYTES


class BodyLimit:
    """ASGI middleware."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = max_body_bytes(scope["path"])
        length = dict(scope["headers"]).get(b"content-length", b"")
        if length.isdigit() and int(length[:20]) > limit:
            scope[TOO_LARGE] = limit
        received, cut_off = 0, False

        async def counted() -> Message:
            nonlocal received, cut_off
            if cut_off:
                # Django waits here for a disconnect while it responds.
                await asyncio.get_running_loop().create_future()
            if TOO_LARGE not in scope:
                message = await receive()
                received += len(message.get("body", b""))
                if received <= limit:
                    return message
                scope[TOO_LARGE] = limit
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
