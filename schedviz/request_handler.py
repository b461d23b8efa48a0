"""Django's ASGI handler with a synchronous chain of middleware."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, Final

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpRequest, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch

from simulator.kernel.work import Waiting

Message = Mapping[str, Any]
Scope = Mapping[str, Any]
CreatedRequest = tuple[ASGIRequest, None] | tuple[None, HttpResponseBase]
Header = tuple[bytes, bytes]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

WARNING = re.compile(rb'299 - "(?:[^"\\]|\\.)*"')
"""One value of a Warning header (schedviz/api/warning_header.py)."""

WAITING: Final = "schedviz.waiting"
"""Key in the scope of a request; its value is a Waiting, which ends when the client has disconnected."""

ARRIVALS_AT_ONCE: Final = 3
"""Whole pages and files that are answered at the same time: a class that arrives all at once does not share
the processor, thread by thread, with the acts of those inside."""
ARRIVAL_SECONDS: Final = 1.0
"""The longest time for which a page waits for this, so that no page that takes long keeps others away."""
IDLE_THREADS: Final = 32
"""Threads that are kept for later requests: as many as a server of one core answers at the same time."""


class RequestHandler(ASGIHandler):
    """Runs the middleware and the view of a request in one call to a thread.

    All views and middleware are synchronous. The asynchronous chain of ASGIHandler goes to a thread for each
    method of each middleware, some twenty times for one request. The response of a watch is streamed by an
    asynchronous iterator, outside of this call.

    A request has a thread of its own, as with ASGIHandler, but the thread is used again for a later one: to
    start one thread for each request, and another one that waits for its end, takes 0.15 ms of CPU time."""

    _middleware_chain: Any

    def __init__(self) -> None:
        super().__init__()
        self._idle: list[ThreadPoolExecutor] = []
        self._arrivals = asyncio.Semaphore(ARRIVALS_AT_ONCE)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        waiting = scope[WAITING] = Waiting()
        thread = self._idle.pop() if self._idle else ThreadPoolExecutor(1, thread_name_prefix="request")
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self.handle(scope, receive, send)
        finally:
            waiting.has_ended = True
            # Of a request that was cut off the view may still run: it is idle after that.
            thread.submit(self._keep, thread)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a request; an arrival when there is a place for it, at the latest after ARRIVAL_SECONDS."""
        if not _is_arrival(request):
            return await super().get_response_async(request)
        has_place = False
        with suppress(TimeoutError):
            async with asyncio.timeout(ARRIVAL_SECONDS):
                has_place = await self._arrivals.acquire()
        try:
            return await super().get_response_async(request)
        finally:
            if has_place:
                self._arrivals.release()

    def _keep(self, thread: ThreadPoolExecutor) -> None:
        """Keep the thread for a later request, or shut it down if enough are idle. Called in the thread."""
        if len(self._idle) < IDLE_THREADS:
            self._idle.append(thread)
        else:
            thread.shutdown(wait=False)

    def load_middleware(self, is_async: bool = False) -> None:
        """Build the synchronous chain, for any value of ``is_async``."""
        super().load_middleware(is_async=False)
        self._middleware_chain = sync_to_async(self._middleware_chain, thread_sensitive=True)

    def create_request(self, scope: Scope, body_file: IO[bytes]) -> CreatedRequest:
        """Create the request as Django does, and answer 400 to more query parameters than Django reads. It
        reads them here if the type of the body has a charset, and no handler catches what it raises."""
        try:
            return super().create_request(scope, body_file)
        except SuspiciousOperation:
            return None, HttpResponseBadRequest()

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        """Resolve the path, unless middleware has done it (:func:`schedviz.routes.route_of`)."""
        return request.resolver_match or super().resolve_request(request)

    async def send_response(self, response: HttpResponseBase, send: Send) -> None:
        """Send each warning in a header of its own, as the API server does. A response of Django has one
        value of each header."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and response.has_header("Warning"):
                message = {**message, "headers": [*_with_single_warnings(message["headers"])]}
            await send(message)

        await super().send_response(response, sent)


def _is_arrival(request: HttpRequest) -> bool:
    """Whether a browser opens a whole page, or loads a file of it."""
    headers = request.headers
    opens = "text/html" in headers.get("Accept", "") and "HX-Request" not in headers
    return request.method == "GET" and (opens or request.path_info.startswith(settings.STATIC_URL))


def _with_single_warnings(headers: list[Header]) -> Iterator[Header]:
    for name, value in headers:
        if name.lower() == b"warning":
            yield from ((name, warning) for warning in WARNING.findall(value))
        else:
            yield name, value
