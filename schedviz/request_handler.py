"""Django's ASGI handler with a synchronous chain of middleware."""

from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler


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
