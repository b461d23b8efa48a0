"""Sends requests, and returns their outcomes."""

import http.client
import json
import time
from contextlib import suppress

import msgspec
import yaml
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import connect

from schedviz.api.accept import PROTOBUF, YAML
from simulator.apiserver.protobuf import decode_protobuf
from tests.programs.fuzz.request import Request

PATIENCE = 60.0
"""Seconds for a response. The slowest is the import of a cluster, which starts a process: ten seconds on a
busy machine."""

IDLE_AT_MOST = 2.0
"""Seconds that a connection is kept without a request: the server closes it after five."""

GLANCE = 0.3
"""Seconds for the first bytes of a watch, or a socket's first frame; there may be none."""

READ_AT_ONCE = 1_000_000
SHOWN = 2_000

FAULT = 500
"""Statuses from here on are those of faults."""

CLOSED_BY_FAULT = (1006, 1011)
"""Close codes of a websocket that failed."""


class Outcome(msgspec.Struct, frozen=True):
    """``trouble``: the error, where there is no status."""

    status: int
    text: str = ""
    trouble: str = ""
    seconds: float = 0.0


def text_of(response: http.client.HTTPResponse) -> str:
    """The beginning of the body; all of a fault, with a Status in YAML or Protocol Buffers as JSON."""
    if response.status < FAULT:
        return response.read(SHOWN).decode(errors="replace")
    return fault_text(response.read(), response.headers["Content-Type"] or "")


def fault_text(body: bytes, content_type: str) -> str:
    if content_type == YAML:
        return json.dumps(yaml.safe_load(body))
    if content_type == PROTOBUF:
        return json.dumps(decode_protobuf(body))
    return body.decode(errors="replace")


class Client:
    """One connection at a time, kept as browsers and kubectl keep it. Used by one thread."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._connection: http.client.HTTPConnection | None = None
        self._used = 0.0

    def send(self, request: Request) -> Outcome:
        start = time.monotonic()
        try:
            status, text, trouble = (
                self._socket(request) if request.answer == "socket" else self._http(request)
            )
        except TimeoutError:
            self.close()
            status, text, trouble = 0, "", f"no answer in {PATIENCE:g} s"
        except (http.client.HTTPException, OSError) as error:
            self.close()
            status, text, trouble = 0, "", f"connection cut: {type(error).__name__}"
        return Outcome(status, text, trouble, time.monotonic() - start)

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None

    def _http(self, request: Request) -> tuple[int, str, str]:
        if time.monotonic() - self._used > IDLE_AT_MOST:
            self.close()
        connection = self._connection = self._connection or http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=PATIENCE
        )
        named = {name for name, _ in request.headers}
        connection.putrequest(
            request.method, request.path, skip_host="Host" in named, skip_accept_encoding=True
        )
        for name, value in request.headers:
            connection.putheader(name, value)
        if request.body or request.method in ("POST", "PUT", "PATCH"):
            connection.putheader("Content-Length", str(len(request.body)))
        if request.answer == "none":
            connection.endheaders(request.body[: len(request.body) // 2])
            self.close()
            return 0, "", ""
        connection.endheaders(request.body)
        response = connection.getresponse()
        if request.answer == "whole":
            text = text_of(response)
            while response.read(READ_AT_ONCE):
                pass
            self._used = time.monotonic()
            return response.status, text, ""
        text = ""
        with suppress(TimeoutError):
            if connection.sock:
                connection.sock.settimeout(GLANCE)
            text = (
                text_of(response)
                if response.status >= FAULT
                else response.read1(SHOWN).decode(errors="replace")
            )
        response.close()
        self.close()
        return response.status, text, ""

    def _socket(self, request: Request) -> tuple[int, str, str]:
        origin = f"http://127.0.0.1:{self.port}"
        url = f"ws://127.0.0.1:{self.port}{request.path}"
        try:
            with connect(
                url, origin=origin, open_timeout=PATIENCE, close_timeout=PATIENCE, proxy=None
            ) as socket:  # type: ignore[arg-type]
                for message in request.messages:
                    socket.send(message)
                with suppress(TimeoutError):
                    socket.recv(timeout=GLANCE)
        except InvalidStatus as refused:
            return refused.response.status_code, "", ""
        except ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd else 1006
            return 101, "", f"websocket closed with {code}" if code in CLOSED_BY_FAULT else ""
        except InvalidHandshake as error:
            return 0, "", f"no handshake: {type(error).__name__}"
        return 101, "", ""
