"""The connections of the web server: uvicorn's, with bounds of their number, and of the time and size of a
header. uvicorn has none, so a client that sends nothing would keep its connection for ever."""

import asyncio
import resource
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from schedviz.limits import pools
from schedviz.limits.open_counts import OpenCounts
from schedviz.limits.requester import Requester, find_requester
from schedviz.store.exceeded import LimitExceeded

HEADER_SECONDS: Final = 10
"""The time from the start of a connection, or from the first byte of a later request, to the end of its
header."""
HEADER_BYTES: Final = 1 << 16
"""Maximum size of a header: 64 KiB, as with other servers. It includes what came with its first bytes."""
BODY_SECONDS: Final = 30
"""The longest pause within a body."""
OPEN_FILES: Final = 16_384
"""The number of files and sockets that the server allows itself, where the system permits it: all
connections, websockets and connections to Redis. On many systems a process may have 1,024 unless it asks."""

CONNECTIONS: Final = OpenCounts(HEADER_SECONDS)


class Connection(HttpToolsProtocol):
    """A connection until it ends or becomes a websocket, which has a pool of its own."""

    _leave: Callable[[], None] | None = None
    """Frees the place of the connection."""
    _timer: asyncio.TimerHandle | None = None
    """Ends the connection if the header is not complete, or the body has a pause, at that time."""
    _in_header = False
    _header_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        # The proxies of an operator stand for all, and bound what their clients do.
        peer = "" if settings.PROXY_ADDRESS_HEADER or not self.client else self.client[0]
        try:
            requester = find_requester({}, "", peer, "") if peer else Requester()
            self._leave = CONNECTIONS.enter(pools.CONNECTIONS.shares(requester))
        except LimitExceeded as exceeded:
            self._refuse(HTTPStatus.TOO_MANY_REQUESTS, str(exceeded), exceeded.retry_after_seconds)
        else:
            self._end_after(HEADER_SECONDS)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self not in self.connections or self.transport.is_closing():
            return  # it is a websocket now, or it ends
        cycle = self.cycle
        if self._in_header:
            self._header_bytes += len(data)
            if self._header_bytes > HEADER_BYTES:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the header is too large")
        if self._in_header or cycle is None or cycle.response_complete:
            if self._timer is None:
                self._end_after(HEADER_SECONDS)
        else:
            self._keep()
            if cycle.more_body:
                self._end_after(BODY_SECONDS)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_header, self._header_bytes = True, 0

    def on_headers_complete(self) -> None:
        self._in_header = False
        # The next header has its own time.
        self._keep()
        super().on_headers_complete()

    def handle_websocket_upgrade(self) -> None:
        self._free()
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        self._free()
        super().connection_lost(exc)

    def _refuse(self, status: HTTPStatus, text: str, retry_after_seconds: int = 0) -> None:
        """Answer without a request, and close the connection."""
        retry = f"retry-after: {retry_after_seconds}\r\n" if retry_after_seconds else ""
        body = text.encode()
        header = (
            f"content-type: text/plain; charset=utf-8\r\ncontent-length: {len(body)}\r\n{retry}"
            "connection: close\r\n\r\n"
        )
        self.transport.write(STATUS_LINE[status] + header.encode() + body)
        self.transport.close()

    def _end_after(self, seconds: float) -> None:
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _keep(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _free(self) -> None:
        self._keep()
        if self._leave:
            self._leave()
            self._leave = None


def allow_open_files() -> None:
    """Let this process open as many files and sockets as it may need and the system permits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    with suppress(ValueError, OSError):  # some systems permit less than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
