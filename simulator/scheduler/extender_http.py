"""Extenders over HTTP: the only file in the simulator that opens a connection.

A configuration alone is not enough for that: the program that runs the scheduler makes the transport, with
the hosts that it may call. Redirects and proxies are not followed."""

import argparse
import http.client
import time
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from simulator.framework.extender import ExtenderError

MAX_ANSWER_BYTES = 32 << 20
"""The maximum size of an answer: some 10,000 node objects. A longer answer is refused."""
CHUNK_BYTES = 64 << 10


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option for the hosts on which a command may call extenders."""
    parser.add_argument(
        "--allow-extender-host",
        metavar="HOST[:PORT]",
        action="append",
        default=[],
        help="call extenders of the configuration on this host; without it a configuration with extenders is "
        "refused",
    )


class HttpTransport:
    """Calls extenders on ``allowed_hosts``, each as ``host`` (any port) or ``host:port``."""

    def __init__(self, allowed_hosts: Iterable[str]) -> None:
        self._allowed = frozenset(host.strip().lower() for host in allowed_hosts if host.strip())

    def allows(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", _port(parts)
        except ValueError:  # not a URL
            return False
        return parts.scheme in ("http", "https") and (
            host in self._allowed or f"{host}:{port}" in self._allowed
        )

    def post(self, url: str, body: bytes, timeout_seconds: float) -> tuple[int, bytes]:
        """Return the status code and the body of the answer. Raises ExtenderError, also if the whole call
        takes longer than the timeout."""
        if not self.allows(url):
            raise ExtenderError(f"extender at URL {url} is not on a host that may be called")
        deadline = time.monotonic() + timeout_seconds
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", _port(parts), timeout=timeout_seconds)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        try:
            connection.request("POST", path or "/", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, _read_response(answer, deadline)
        except (OSError, http.client.HTTPException) as failure:
            raise ExtenderError(f"Post {url}: {failure or type(failure).__name__}") from None
        finally:
            connection.close()


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _read_response(answer: http.client.HTTPResponse, deadline: float) -> bytes:
    """Return the answer's body. The deadline is checked here because a socket's timeout holds for each packet
    only. Raises OSError."""
    read = bytearray()
    while chunk := answer.read1(CHUNK_BYTES):
        read += chunk
        if len(read) > MAX_ANSWER_BYTES:
            raise OSError(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
    return bytes(read)
