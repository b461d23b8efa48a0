"""Django's ASGI handler with a synchronous chain of middleware."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import IO, Any

from asgiref.sync import sync_to_async
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpResponseBadRequest
from django.http.response import HttpResponseBase

Message = Mapping[str, Any]
Scope = Mapping[str, Any]
CreatedRequest = tuple[ASGIRequest, None] | tuple[None, HttpResponseBase]
Header = tuple[bytes, bytes]

WARNING = re.compile(rb'299 - "(?:[^"\\]|\\.)*"')
"""One value of a Warning header (schedviz/api/body.py with_warnings)."""


class RequestHandler(ASGIHandler):
    """Runs the middleware and the view of a request in one call to a thread.

    All views and middleware are synchronous. The asynchronous chain of ASGIHandler goes to a thread for each
    method of each middleware, some twenty times for one request. The response of a watch is streamed by an
    asynchronous iterator, outside of this call."""

    _middleware_chain: Any

    def load_middleware(self, is_async: bool = False) -> None:
        """Build the synchronous chain, whatever ``is_async`` is."""
        super().load_middleware(is_async=False)
        self._middleware_chain = sync_to_async(self._middleware_chain, thread_sensitive=True)

    def create_request(self, scope: Scope, body_file: IO[bytes]) -> CreatedRequest:
        """As Django's, and 400 for more query parameters than Django reads. It reads them here if the type of
        the body has a charset, and no handler catches what it raises."""
        try:
            return super().create_request(scope, body_file)
        except SuspiciousOperation:
            return None, HttpResponseBadRequest()

    async def send_response(
        self, response: HttpResponseBase, send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Send each warning in a header of its own, as the API server does. A response of Django has one
        value of each header."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and response.has_header("Warning"):
                message = {**message, "headers": [*_with_single_warnings(message["headers"])]}
            await send(message)

        await super().send_response(response, sent)


def _with_single_warnings(headers: list[Header]) -> Iterator[Header]:
    for name, value in headers:
        if name.lower() == b"warning":
            yield from ((name, warning) for warning in WARNING.findall(value))
        else:
            yield name, value
