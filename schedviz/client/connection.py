"""HTTP requests to a server. The client needs nothing that Python does not bring: it sends a few small
requests, and a notebook installs nothing more."""

import http.cookiejar
import urllib.error
import urllib.request
from typing import Any, Final, TypeVar

import msgspec

from schedviz.sandbox_documents import Status
from simulator.apiserver.status import Cause, StatusError
from simulator.kernel.prepared_types import prepared

T = TypeVar("T")
SECONDS: Final = 60.0
"""The longest time of one request."""
JSON: Final = "application/json"


class RefusedByServer(StatusError):
    """The server refused a request; ``reason`` and ``code`` are those of its Status."""

    def __init__(self, code: int, body: bytes) -> None:
        try:
            status = msgspec.json.decode(body, type=prepared(Status))
        except msgspec.DecodeError:
            text = body[:200].decode(errors="replace")
            super().__init__(f"the server answered with {code}: {text}")
            self.code, self.reason = code, ""
            return
        details = status.details
        causes = [Cause(each.field, each.message, each.reason) for each in details.causes]
        super().__init__(
            status.message, kind=details.kind, group=details.group, name=details.name, causes=causes
        )
        self.code, self.reason = code, status.reason
        self.retry_after_seconds = details.retry_after_seconds


class Connection:
    """A connection to one server. It keeps the cookies, by which the program owns the sandboxes that it
    creates."""

    def __init__(self, url: str, token: str = "") -> None:
        """Raises ValueError for an address that is no HTTP URL."""
        self.url = url.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"{url!r} is not the address of a server: http://HOST:PORT")
        self._headers = {"Accept": JSON} | ({"Authorization": f"Bearer {token}"} if token else {})
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(cookies)

    def send(self, method: str, path: str, body: Any = None, *, content_type: str = JSON) -> bytes:
        """Send a request, and return the body of the response. Raises StatusError for what the server
        refuses; OSError if it does not answer."""
        data = None if body is None else msgspec.json.encode(body)
        headers = self._headers | ({"Content-Type": content_type} if data is not None else {})
        request = urllib.request.Request(self.url + path, data, headers, method=method)  # noqa: S310 (checked)
        try:
            with self._opener.open(request, timeout=SECONDS) as response:
                found: bytes = response.read()
        except urllib.error.HTTPError as error:
            with error:
                raise RefusedByServer(error.code, error.read()) from None
        return found

    def ask(self, kind: type[T], method: str, path: str, body: Any = None) -> T:
        """Send a request as :meth:`send` does, and decode the response as this type."""
        return msgspec.json.decode(self.send(method, path, body), type=prepared(kind))
