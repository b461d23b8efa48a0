"""Requests to the API server of a real cluster. All of them only read: there is no method that writes."""

import re
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final
from urllib.parse import unquote, urlencode, urlsplit, urlunsplit

import msgspec
import urllib3
from kubernetes.client.rest import RESTClientObject
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    InsecureRequestWarning,
    MaxRetryError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from schedviz.real_cluster.errors import ClusterError, Refused
from schedviz.real_cluster.kubeconfig import Connection
from simulator.kernel.prepared_types import prepared

ANSWER_AT_MOST: Final = 256 << 20
"""Maximum number of bytes of an answer, after decompression. A page of a list has some megabytes."""
PART: Final = 1 << 20
MESSAGE_AT_MOST: Final = 300
ERRNO: Final = re.compile(r"\[Errno -?\d+\] ")
NO_TLS: Final = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
"""How OpenSSL calls an answer that is no TLS, such as that of a port for plain HTTP."""
TOKENS: Final = threading.Lock()
RETRIES: Final = urllib3.Retry(
    total=4,
    connect=0,
    read=0,
    redirect=0,
    other=0,
    status=4,
    status_forcelist=(429, 502, 503, 504),
    allowed_methods=("GET",),
    backoff_factor=0.3,
    retry_after_max=10,
    raise_on_status=False,
)
"""An API server that has too much to do says so, and when to come back (429). A redirection is not followed:
it would be given the credentials."""
# Who says insecure-skip-tls-verify knows it. For all threads: a filter within one of them is not safe.
urllib3.disable_warnings(InsecureRequestWarning)


class _Status(msgspec.Struct):
    message: str = ""


class ClusterReader:
    """Reads from the API server of a connection. Not for several threads at once."""

    def __init__(self, connection: Connection, timeout: float, name: str = "kubectl-schedviz") -> None:
        """``timeout``: seconds for each answer. ``name``: as which the program names itself. Raises
        ClusterError."""
        self._connection = connection
        self.context = connection.context
        self.namespace = connection.namespace
        self.date = ""
        """The header ``Date`` of the last answer."""
        self._timeout = timeout
        self._name = name
        self._watching: Any = None
        self._interrupted = False
        self._configuration: Any = connection.configuration
        self.server, self._basic = _split_credentials(str(connection.configuration.host))
        try:
            self._pool = RESTClientObject(connection.configuration).pool_manager
        except (ValueError, OSError, HTTPError) as failure:
            raise ClusterError(f"{self.server}: {failure}") from None

    def another(self) -> "ClusterReader":
        """Return a reader of the same connection, for another thread: a plugin for credentials is not run
        again. Raises ClusterError."""
        return ClusterReader(self._connection, self._timeout, self._name)

    def get(
        self, path: str, query: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> bytes:
        """Return the answer to a GET. ``path`` begins with a slash. ``timeout``: another than the usual one,
        for what is asked once only.
        Raises Refused for an answer that is an error, ClusterError if there is none."""
        seconds = timeout or self._timeout
        until = time.monotonic() + seconds
        with self._failures(seconds):
            answer = self._request(path, query, seconds, RETRIES if timeout is None else False)
            body = self._read(answer, until)
        self.date = answer.headers.get("Date", "")
        if answer.status != 200:
            raise self._refusal(answer.status, path, body)
        return body

    def watch(self, path: str, query: Mapping[str, str], silence: float) -> Iterator[bytes]:
        """Yield the lines of the answer to a watch, until the server ends it or :meth:`interrupt` is called;
        first an empty one, when the server has begun to answer. ``silence``: seconds without a byte after
        which the watch counts as broken. Raises as :meth:`get`."""
        with self._failures(silence):
            answer = self._request(path, {**query, "watch": "1"}, silence, False)
            if answer.status != 200:
                raise self._refusal(answer.status, path, self._read(answer, time.monotonic() + self._timeout))
            self._watching = answer
            try:
                begun = b""
                yield begun
                for part in () if self._interrupted else answer.stream(PART, decode_content=True):
                    *lines, begun = (begun + part).split(b"\n")
                    yield from (line for line in lines if line)
                    if len(begun) > ANSWER_AT_MOST:
                        raise ClusterError(f"{self.server}: {path}: an endless line")
            finally:
                self._watching = None
                answer.close()

    def interrupt(self) -> None:
        """End the watch that another thread reads, and those that it begins later."""
        self._interrupted = True
        watching = self._watching
        if watching is not None:
            with suppress(OSError, ValueError, AttributeError):
                watching.shutdown()

    def _request(
        self, path: str, query: Mapping[str, str] | None, seconds: float, retries: urllib3.Retry | bool
    ) -> Any:
        address = f"{self.server}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": self._name}
        if authorization := self._authorization():
            headers["Authorization"] = authorization
        return self._pool.request(
            "GET",
            address,
            headers=headers,
            preload_content=False,
            redirect=False,
            retries=retries,
            timeout=urllib3.Timeout(connect=min(10, seconds), read=seconds),
        )

    @contextmanager
    def _failures(self, seconds: float) -> Iterator[None]:
        """Raise what ends a request as ClusterError."""
        try:
            yield
        except (HTTPError, OSError, ValueError) as failure:
            raise ClusterError(f"{self.server}: {_describe(failure, seconds)}") from None

    def _authorization(self) -> str:
        """Return the header. As of kubectl, what a kubeconfig says of its users is not sent over plain HTTP;
        what the address contains is."""
        if self._basic:
            return self._basic
        if not self.server.startswith("https:"):
            return ""
        with TOKENS:  # the connection is that of several readers, and a plugin may renew its token
            token = (self._configuration.get_api_key_with_prefix("BearerToken") or "").strip()
        if not (token.isascii() and token.isprintable()):
            raise ClusterError(
                f'the token of the context "{self.context}" has characters that no header may have'
            )
        return token

    def _read(self, answer: Any, until: float) -> bytes:
        parts, size = [], 0
        try:
            for part in answer.stream(PART, decode_content=True):
                size += len(part)
                if size > ANSWER_AT_MOST:
                    raise ClusterError(f"{self.server}: an answer has more than {ANSWER_AT_MOST >> 20} MiB")
                if time.monotonic() > until:
                    raise TimeoutError
                parts.append(part)
        except BaseException:
            answer.close()
            raise
        answer.release_conn()
        return b"".join(parts)

    def _refusal(self, code: int, path: str, body: bytes) -> Refused:
        try:
            message = msgspec.json.decode(body, type=prepared(_Status)).message
        except msgspec.MsgspecError:
            message = ""
        text = _one_line(message)
        if not text or code >= 500:
            text = f"{self.server}: {path}: HTTP {code}" + (f": {text}" if text else "")
        if code == 401:
            text = f'the server does not accept the credentials of the context "{self.context}" (401): {text}'
        return Refused(text, code)


def _split_credentials(address: str) -> tuple[str, str]:
    """Return the address without a name and a password, and these as a header; "" = it has none."""
    parts = urlsplit(address)
    credentials, at, host = parts.netloc.rpartition("@")
    if not at:
        return address, ""
    header = urllib3.make_headers(basic_auth=unquote(credentials))["authorization"]
    return urlunsplit(parts._replace(netloc=host)), header


def _describe(failure: Exception, seconds: float) -> str:
    """Return what is wrong with the connection, in one line."""
    cause: BaseException = failure
    if isinstance(failure, MaxRetryError) and failure.reason:
        cause = failure.reason
    by = ""
    if isinstance(cause, ProxyError):
        by, cause = " by the proxy", cause.original_error
    match cause:
        # NewConnectionError is a ConnectTimeoutError, too.
        case NewConnectionError():
            return f"no connection{by}: {ERRNO.sub('', str(cause)).rpartition(': ')[2]}"
        case ReadTimeoutError() | ConnectTimeoutError() | TimeoutError():
            return f"no answer{by} within {seconds:g} s"
        case ProtocolError():
            return f"the server closed the connection{by}"
        case SSLError() | ssl.SSLError():
            inner = cause.args[0] if cause.args and isinstance(cause.args[0], ssl.SSLError) else cause
            if getattr(inner, "reason", "") in NO_TLS:
                return f"what answers{by} does not speak TLS"
            text = (
                getattr(inner, "verify_message", "") or str(inner).rpartition("] ")[2].partition(" (_ssl")[0]
            )
            return f"TLS{by}: {_one_line(text)}"
    return _one_line(str(cause)) or type(cause).__name__


def _one_line(text: str) -> str:
    return " ".join(text.split())[:MESSAGE_AT_MOST]
