"""The bounds of connections: of their number, and of the time and size of a header."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from uvicorn.config import Config
from uvicorn.server import ServerState

from schedviz.limit_settings import LimitName
from schedviz.limits import connections
from schedviz.limits.connections import BODY_SECONDS, HEADER_BYTES, HEADER_SECONDS, Connection
from schedviz.limits.open_counts import OpenCounts
from tests.processes import ROOT

Limits = dict[LimitName, int]
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Timers(asyncio.AbstractEventLoop):
    """A loop with simulated time, and without tasks: requests are not answered."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[asyncio.TimerHandle] = []
        self.requests = 0

    def call_later(self, delay: float, callback: Any, *args: Any, **_: Any) -> asyncio.TimerHandle:
        self.timers.append(asyncio.TimerHandle(self.now + delay, callback, args, self))
        return self.timers[-1]

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        self.timers.remove(handle)

    def get_debug(self) -> bool:
        return False

    def create_task(self, coro: Any, **_: Any) -> Any:
        coro.close()
        self.requests += 1
        return Task()

    def wait(self, seconds: float) -> None:
        self.now += seconds
        for timer in [each for each in self.timers if each.when() <= self.now]:
            self.timers.remove(timer)
            timer._run()


class Task:
    def add_done_callback(self, callback: Callable[..., None]) -> None:
        pass


class Transport(asyncio.Transport):
    def __init__(self, peer: str) -> None:
        super().__init__({"peername": (peer, 50_000), "sockname": ("10.0.0.1", 8000)})
        self.sent = b""
        self.ended = ""
        self.protocol: asyncio.BaseProtocol | None = None

    def write(self, data: Any) -> None:
        self.sent += data

    def close(self) -> None:
        self.ended = self.ended or "closed"

    def abort(self) -> None:
        self.ended = "aborted"

    def is_closing(self) -> bool:
        return self.ended != ""

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol

    def pause_reading(self) -> None:
        pass


async def answer(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("no task runs")


class Websocket(asyncio.Protocol):
    def __init__(self, **_: Any) -> None:
        pass


CONFIG = Config(answer, http=Connection, ws=Websocket, log_config=None, lifespan="off")


class Client:
    """A client with one connection."""

    def __init__(self, loop: Timers, state: ServerState, peer: str = "203.0.113.7") -> None:
        self.loop, self.transport = loop, Transport(peer)
        self.connection = Connection(CONFIG, state, {}, loop)
        self.connection.connection_made(self.transport)

    def send(self, data: bytes) -> None:
        self.connection.data_received(data)

    def end(self) -> None:
        self.connection.connection_lost(None)

    def get_answered(self) -> None:
        """End the response of the last request, as uvicorn does."""
        self.connection.cycle.response_complete = True
        self.connection.on_response_complete()

    @property
    def ended(self) -> str:
        return self.transport.ended


@pytest.fixture(autouse=True)
def counts(monkeypatch: pytest.MonkeyPatch) -> OpenCounts:
    """The connections of one test."""
    counts = OpenCounts(HEADER_SECONDS)
    monkeypatch.setattr(connections, "CONNECTIONS", counts)
    return counts


@pytest.fixture
def loop() -> Timers:
    return Timers()


@pytest.fixture
def state() -> ServerState:
    return ServerState()


@pytest.fixture
def client(loop: Timers, state: ServerState) -> Client:
    return Client(loop, state)


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost", b"\r\n"])
def test_a_client_without_a_header_has_ten_seconds(client: Client, loop: Timers, sent: bytes) -> None:
    """Whether it sends nothing or a byte each second."""
    if sent:
        client.send(sent)
    for _ in range(HEADER_SECONDS - 1):
        loop.wait(1)
        if sent:
            client.send(b"\r\n" if sent == b"\r\n" else b"x")
    assert client.ended == ""
    loop.wait(1)
    assert client.ended == "aborted"


def test_a_request_may_take_any_time(client: Client, loop: Timers) -> None:
    client.send(REQUEST)
    loop.wait(3_600)
    assert (client.ended, loop.requests) == ("", 1)


@pytest.mark.parametrize("first", [b"GET / HTTP/1.1\r\n", b"\r\n"])
def test_each_later_header_has_ten_seconds_too(client: Client, loop: Timers, first: bytes) -> None:
    client.send(REQUEST)
    loop.wait(60)
    client.get_answered()
    loop.wait(4)
    client.send(first)
    loop.wait(HEADER_SECONDS - 1)
    client.send(REQUEST[-2:] if first != b"\r\n" else REQUEST)
    assert (client.ended, loop.requests) == ("", 2)
    loop.wait(60)
    client.get_answered()
    client.send(first)
    loop.wait(HEADER_SECONDS)
    assert client.ended == "aborted"


def test_a_header_behind_a_request_that_runs_is_bounded(client: Client, loop: Timers) -> None:
    client.send(REQUEST + b"GET / HTTP/1.1\r\nHost: ")
    loop.wait(HEADER_SECONDS)
    assert client.ended == "aborted"


def test_the_size_of_a_header_is_bounded(client: Client, loop: Timers, state: ServerState) -> None:
    client.send(b"GET / HTTP/1.1\r\na: ")
    for _ in range(HEADER_BYTES // 1_024 - 1):
        client.send(b"x" * 1_024)
    assert client.ended == ""
    client.send(b"x" * 1_024)
    assert client.ended == "closed"
    assert client.transport.sent.startswith(b"HTTP/1.1 431 ")
    behind = Client(loop, state)
    behind.send(REQUEST + b"GET / HTTP/1.1\r\na: ")
    behind.send(b"x" * HEADER_BYTES)
    assert behind.ended == "closed"


def test_a_body_may_take_any_time_while_it_comes(client: Client, loop: Timers) -> None:
    client.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
    for _ in range(10):
        loop.wait(BODY_SECONDS - 1)
        client.send(b"x")
    assert client.ended == ""
    loop.wait(BODY_SECONDS)
    assert client.ended == "aborted"
    whole = Client(loop, ServerState())
    whole.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nx")
    whole.send(b"x")
    loop.wait(3_600)
    assert whole.ended == ""


def test_a_websocket_is_not_ended_and_counts_no_more(
    client: Client, loop: Timers, counts: OpenCounts
) -> None:
    assert counts.total() == 1
    client.send(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert isinstance(client.transport.protocol, Websocket)
    loop.wait(3_600)
    assert (client.ended, counts.total()) == ("", 0)


def test_connections_are_limited_by_address_and_in_all(
    limits: Limits, loop: Timers, state: ServerState, counts: OpenCounts
) -> None:
    limits["MAX_CONNECTIONS_PER_ADDRESS"] = 2
    first, second, third = [Client(loop, state) for _ in range(3)]
    assert [each.ended for each in (first, second, third)] == ["", "", "closed"]
    head, _, text = third.transport.sent.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    assert b"\r\nretry-after: 10\r\n" in head
    assert b"MAX_CONNECTIONS_PER_ADDRESS is 2" in text
    third.end()
    assert Client(loop, state, "203.0.113.8").ended == "", "another address"
    assert [Client(loop, state, "127.0.0.1").ended for _ in range(3)] == [""] * 3, "this machine"
    first.end()
    assert [Client(loop, state).ended for _ in range(2)] == ["", "closed"]
    limits["MAX_CONNECTIONS"] = counts.total() + 1
    assert [Client(loop, state, f"203.0.113.{n}").ended for n in (10, 11)] == ["", "closed"]


def test_the_connections_of_a_proxy_are_not_those_of_one_client(
    limits: Limits, loop: Timers, state: ServerState, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits["MAX_CONNECTIONS_PER_ADDRESS"] = 1
    monkeypatch.setattr(settings, "PROXY_ADDRESS_HEADER", "HTTP_X_FORWARDED_FOR")
    assert [Client(loop, state).ended for _ in range(3)] == [""] * 3


def test_a_class_behind_one_address_is_not_refused(loop: Timers, state: ServerState) -> None:
    """A browser opens at most six connections to a server beside the websocket."""
    assert {Client(loop, state, "203.0.113.9").ended for _ in range(110 * 6)} == {""}


def test_each_program_that_starts_the_server_sets_its_connections() -> None:
    for path in (
        "schedviz/up/programs.py",
        "docker-compose.yml",
        "Dockerfile",
        "deploy/helm/schedviz/templates/web.yaml",
        "deploy/kubernetes/schedviz.yaml",
    ):
        text = (ROOT / path).read_text()
        assert text.count("--http=schedviz.asgi:Connection") == text.count("schedviz.asgi:application"), path
