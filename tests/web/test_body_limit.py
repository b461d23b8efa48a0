"""The size of a request's body is checked before any of it is kept: by Content-Length if there is one, else
while it arrives."""

import asyncio
import http.client
import json
import socket
from collections.abc import Iterator
from select import select
from urllib.parse import urlsplit

import pytest

from schedviz.body_limit import (
    BodyLimit,
    Message,
    Receive,
    Scope,
    Send,
    max_body_bytes,
)
from schedviz.routes import PAGE_BYTES
from schedviz.store import Sandbox
from schedviz.web.imports.take import UPLOAD_BYTES
from simulator.apiserver.bounds import MAX_BODY_BYTES, MAX_BYTES
from tests.waiting import PATIENCE

CHUNK = b"x" * 65_536
ENDLESS = 512 << 20


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/", PAGE_BYTES),
        ("/s/demo/new/yaml/", PAGE_BYTES),
        ("/s/demo/apis-and-more/", PAGE_BYTES),
        ("/bring/", UPLOAD_BYTES),
        ("/s/demo/api/v1/namespaces/default/pods", MAX_BODY_BYTES),
        ("/s/demo/apis/apps/v1/deployments", MAX_BODY_BYTES),
        ("/s/demo/apis", MAX_BODY_BYTES),
        ("/api/sandboxes", MAX_BYTES),
        ("/s/demo/version", MAX_BYTES),
        ("/healthz", MAX_BYTES),
    ],
)
def test_each_path_has_its_limit(path: str, limit: int) -> None:
    assert max_body_bytes(path) == limit


class Django:
    """Keeps the body, and then waits for the client to disconnect, as Django's handler does."""

    def __init__(self) -> None:
        self.kept = 0
        self.left = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.left = True
                return
            self.kept += len(message.get("body", b""))
            more = message.get("more_body", False)


@pytest.mark.parametrize("length", [None, MAX_BODY_BYTES + 1, 10**15])
async def test_nothing_beyond_the_limit_reaches_django(length: int | None) -> None:
    django, asked = Django(), 0

    async def receive() -> Message:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": CHUNK, "more_body": True}

    async def send(_: Message) -> None:
        raise AssertionError("it only counts")

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    scope = {"type": "http", "path": "/s/demo/api/v1/pods", "headers": headers}
    await BodyLimit(django)(scope, receive, send)
    assert django.kept <= MAX_BODY_BYTES
    assert django.scope["schedviz.too_large"] == MAX_BODY_BYTES
    assert asked == (0 if length else MAX_BODY_BYTES // len(CHUNK) + 1)


async def test_a_body_within_the_limit_and_a_disconnect_reach_django() -> None:
    messages = iter(
        [
            {"type": "http.request", "body": b"x" * MAX_BODY_BYTES, "more_body": True},
            {"type": "http.request", "body": b"", "more_body": False},
            {"type": "http.disconnect"},
        ]
    )

    async def receive() -> Message:
        return next(messages)

    async def send(_: Message) -> None:
        raise AssertionError("it only counts")

    django = Django()
    scope = {"type": "http", "path": "/s/demo/api/v1/pods", "headers": []}
    await BodyLimit(django)(scope, receive, send)
    assert (django.kept, "schedviz.too_large" in django.scope) == (MAX_BODY_BYTES, False)
    await BodyLimit(django)(dict(scope), receive, send)
    assert django.left


@pytest.fixture
def connection(server: str) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(urlsplit(server).netloc, timeout=PATIENCE)
    yield connection
    connection.close()


PATHS = {"page": "/compare/", "upload": "/bring/", "api": "/s/{}/api/v1/nodes"}


@pytest.mark.parametrize("kind", PATHS)
def test_a_length_that_is_too_large_is_refused_before_a_byte_is_sent(
    connection: http.client.HTTPConnection, sandbox: Sandbox, kind: str
) -> None:
    connection.putrequest("POST", PATHS[kind].format(sandbox.name))
    connection.putheader("Content-Length", str(UPLOAD_BYTES + 1))
    connection.putheader("Content-Type", "application/json")
    connection.endheaders()
    refused(connection, kind)


@pytest.mark.parametrize("kind", ["page", "api"])
def test_a_body_without_a_length_is_refused_as_soon_as_it_is_too_large(
    connection: http.client.HTTPConnection, sandbox: Sandbox, kind: str
) -> None:
    """The body is sent without end until the response arrives."""
    path = PATHS[kind].format(sandbox.name)
    connection.putrequest("POST", path)
    connection.putheader("Transfer-Encoding", "chunked")
    connection.putheader("Content-Type", "application/json")
    connection.endheaders()
    for _ in range(ENDLESS // len(CHUNK)):
        connection.send(b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK))
        if select([connection.sock], [], [], 0)[0]:
            break
    else:
        pytest.fail("all of it was taken")
    refused(connection, kind)


@pytest.mark.parametrize("header", [{}, {"Connection": "close"}])
def test_a_client_that_sends_the_whole_body_first_gets_the_response(
    connection: http.client.HTTPConnection, header: dict[str, str]
) -> None:
    for _ in range(2):
        connection.request("POST", "/compare/", CHUNK * 400, {"Content-Type": "application/json", **header})
        refused(connection, "page")
    connection.request("GET", "/healthz")
    assert connection.getresponse().read() == b"ok\n"


async def test_a_client_that_sends_without_end_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedviz.body_limit.DISCARD_SECONDS", 0.05)
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": CHUNK, "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    async def refusing(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 413, "headers": []})
        await send({"type": "http.response.body", "body": b"too large"})

    await BodyLimit(refusing)({"type": "http", "path": "/", "headers": []}, receive, send)
    assert sent == [
        {"type": "http.response.start", "status": 413, "headers": [(b"Connection", b"close")]},
        {"type": "http.response.body", "body": b"too large", "more_body": True},
        {"type": "http.response.body"},
    ]


def test_a_header_has_a_limit_too(server: str) -> None:
    """schedviz.limits.connections has it, which the command of the server names."""
    address = urlsplit(server)
    with socket.create_connection((address.hostname, address.port), PATIENCE) as connected:
        connected.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\na: " + CHUNK)
        assert connected.recv(100).startswith(b"HTTP/1.1 431 ")


def test_htmx_shows_the_refusal_in_the_place_of_the_response(connection: http.client.HTTPConnection) -> None:
    headers = {"HX-Request": "true", "Content-Length": str(UPLOAD_BYTES + 1)}
    connection.putrequest("POST", "/bring/")
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    page = answer.read().decode()
    assert answer.status == 413
    assert page.startswith('<p class="error whole" role="alert">')
    assert "512 MiB" in page


def refused(connection: http.client.HTTPConnection, kind: str) -> None:
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 413
    if kind == "api":
        status = json.loads(body)
        assert (status["kind"], status["reason"]) == ("Status", "RequestEntityTooLarge")
        assert status["message"] == f"Request entity too large: limit is {MAX_BODY_BYTES}"
    else:
        assert ("512 MiB" if kind == "upload" else "4 MiB") in body.decode()
        assert "<html" in body.decode()
