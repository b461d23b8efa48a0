"""Viewers of a web server that is killed, viewers that do not read, and viewers that were not connected for
long."""

import base64
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

import psutil
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from schedviz.live.consumers import BEAT
from schedviz.store import Commit, Sandbox
from schedviz.store.bounds import LOG_LENGTH
from schedviz.up.embedded_redis import free_port
from schedviz.up.programs import SERVER
from schedviz.web.nodes.cards import BLOCKS_AT_MOST
from simulator.api import Change
from tests.faults.conftest import FaultArena, note
from tests.faults.invariants import CHECKED, assert_invariants
from tests.faults.proxy import Proxy
from tests.loop.conftest import node, pod
from tests.processes import Process, answers
from tests.waiting import PATIENCE, eventually

NUMBERS = re.compile(r'<div id="frame"[^>]*data-after="(\d+)" data-seq="(\d+)"[^>]*></div>')
DEAF = 60
"""Viewers that do not read."""
BURSTS = 40


class Web:
    """A web server, on the Redis of a FaultArena. proxy: through which it reaches Redis, if any."""

    def __init__(self, fault_arena: FaultArena, directory: Path, proxy: Proxy | None = None) -> None:
        self.fault_arena = fault_arena
        self.proxy = proxy
        self._directory = directory
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.starts = count()
        self.start()

    def start(self) -> None:
        log = self._directory / f"web-{next(self.starts)}"
        command = ["-m", SERVER, f"--port={self._port}"]
        self.process = Process(command, log, {"REDIS_URL": (self.proxy or self.fault_arena.redis).url})
        eventually(lambda: self.process.alive() and answers(f"{self.url}/healthz"), "the server answers")

    def create(self, sandbox: Sandbox, name: str) -> None:
        """Create a pod by the API. The client records the acknowledged write."""
        request = urllib.request.Request(
            f"{self.url}/s/{sandbox.name}/api/v1/namespaces/default/pods",
            data=json.dumps(pod(name, cpu="1m")).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            self.fault_arena.acknowledged[sandbox.name].append(json.load(response))

    @contextmanager
    def viewer(self, sandbox: Sandbox, language: str = "en") -> "Iterator[Viewer]":
        address = f"{self.url.replace('http:', 'ws:')}/s/{sandbox.name}/live/?lang={language}"
        with connect(address, origin=self.url, max_size=2**24, ping_interval=None) as connection:
            yield Viewer(connection)

    def whole(self, sandbox: Sandbox, language: str = "en") -> str:
        """The page that a new viewer gets."""
        with self.viewer(sandbox, language) as viewer:
            return viewer.next()


class Viewer:
    """An open page. It receives frames, whose numbers have no gap."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._last = 0
        self.bytes = 0

    def next(self) -> str:
        """The next frame, without its numbers."""
        while (frame := str(self._connection.recv(timeout=PATIENCE))) == BEAT:
            pass
        self.bytes += len(frame)
        head = NUMBERS.match(frame)
        assert head
        after, seq = map(int, head.groups())
        assert after in (0, self._last), "there is no gap"
        self._last = seq
        return frame[head.end() :]

    def until(self, text: str) -> str:
        while text not in (frame := self.next()):
            pass
        return frame

    def is_cut(self) -> bool:
        with suppress(ConnectionClosed):
            while True:
                self._connection.recv(timeout=PATIENCE)
        return True


@pytest.fixture(scope="module")
def web(fault_arena: FaultArena, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    fault_arena.start_worker()
    web = Web(fault_arena, tmp_path_factory.mktemp("web"))
    yield web
    web.process.kill()


@pytest.fixture
def sandbox(web: Web, sandbox_name: str) -> Sandbox:
    sandbox = web.fault_arena.make(sandbox_name, [node("n", cpu="64", pods="1000")])
    eventually(sandbox.lease, "the sandbox has a leader")
    return sandbox


class ClientAtWork(threading.Thread):
    """A client that creates pods, one after the other, also while the server is stopped. It waits when it has
    created ``at_most`` of them: so their number does not depend on the speed of the machine."""

    def __init__(self, web: Web, sandbox: Sandbox, at_most: int) -> None:
        super().__init__(daemon=True)
        self._web = web
        self._sandbox = sandbox
        self._asked_to_stop = threading.Event()
        self.at_most = at_most
        self.created = 0

    def run(self) -> None:
        numbers = count()
        while not self._asked_to_stop.wait(0.05):
            with suppress(OSError):
                if self.created < self.at_most:
                    self._web.create(self._sandbox, f"p{next(numbers)}")
                    self.created += 1

    def __enter__(self) -> "ClientAtWork":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._asked_to_stop.set()
        self.join()


@pytest.mark.long
def test_after_the_web_server_was_killed_all_viewers_get_the_current_page(web: Web, sandbox: Sandbox) -> None:
    fault_arena = web.fault_arena
    languages = ["en", "en", "zh-hans"]
    with ExitStack() as ends:
        viewers = [ends.enter_context(web.viewer(sandbox, language)) for language in languages]
        client = ends.enter_context(ClientAtWork(web, sandbox, BLOCKS_AT_MOST // 2))
        for viewer in viewers:
            viewer.until(">p5<")
        # A pod may be stored and its response lost, and "last" comes later. The page has a block for each.
        client.at_most = BLOCKS_AT_MOST - 2
        began = time.monotonic()
        web.process.kill()
        assert all(viewer.is_cut() for viewer in viewers)
        web.start()
        viewers = [ends.enter_context(web.viewer(sandbox, language)) for language in languages]
        for viewer in viewers:
            viewer.next()
        seconds = time.monotonic() - began
        eventually(lambda: client.created == client.at_most, "pods are created again")
        fault_arena.bind(sandbox, "last")
        for viewer in viewers:
            viewer.until(">last<")
    fault_arena.rest(sandbox)
    pages = [web.whole(sandbox, language) for language in languages]
    assert pages[0] == pages[1]
    assert all(
        f">{manifest['metadata']['name']}<" in page
        for page in pages
        for manifest in fault_arena.acknowledged[sandbox.name][1:]
    )
    assert_invariants(fault_arena.store, sandbox, fault_arena.acknowledged[sandbox.name])
    note("web server killed, with three viewers", seconds, ", ".join([*CHECKED, "same page"]))


def connect_without_reading(web: Web, sandbox: Sandbox) -> socket.socket:
    """A viewer that connects and never reads."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    host, _, port = web.url.removeprefix("http://").partition(":")
    connection.connect((host, int(port)))
    key = base64.b64encode(b"0123456789abcdef").decode()
    connection.sendall(
        f"GET /s/{sandbox.name}/live/?lang=en HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: {web.url}\r\n"
        f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    assert connection.recv(12) == b"HTTP/1.1 101"
    return connection


def test_viewers_that_never_read_use_bounded_memory_and_delay_no_other(web: Web, sandbox: Sandbox) -> None:
    fault_arena, server = web.fault_arena, psutil.Process(web.process.popen.pid)
    with ExitStack() as ends, web.viewer(sandbox) as viewer:
        for _ in range(DEAF):
            ends.enter_context(connect_without_reading(web, sandbox))
        viewer.next()
        before = server.memory_info().rss
        began = time.monotonic()
        for number in range(BURSTS):
            fault_arena.create(sandbox, *(pod(f"p{number}-{i}", cpu="1m") for i in range(10)))
            viewer.until(f">p{number}-9<")
        seconds = time.monotonic() - began
        grown = server.memory_info().rss - before
        assert grown < DEAF * viewer.bytes / 3, "one frame waits for each, not all of them"
        note(
            f"{DEAF} viewers never read, another one gets {BURSTS} bursts",
            seconds,
            f"{viewer.bytes / 1e6:.1f} MB sent to it, the server grew by {grown / 1e6:.1f} MB",
        )
        fault_arena.rest(sandbox)
        assert_invariants(fault_arena.store, sandbox, fault_arena.acknowledged[sandbox.name])


@pytest.mark.long
def test_a_viewer_that_missed_more_than_the_log_holds_gets_the_whole_page(web: Web, sandbox: Sandbox) -> None:
    fault_arena = web.fault_arena
    with web.viewer(sandbox) as viewer:
        viewer.next()
        version = sandbox.version()
        for start in range(0, LOG_LENGTH + 1000, 1000):
            sandbox.commit(Commit([config_map(str(number)) for number in range(start, start + 1000)]))
        fault_arena.bind(sandbox, "meanwhile")
        fault_arena.rest(sandbox)
    began = time.monotonic()
    with web.viewer(sandbox) as awake:
        page = awake.next()
        seconds = time.monotonic() - began
        assert ">meanwhile<" in page
        assert page == web.whole(sandbox)
    watch = f"{web.url}/s/{sandbox.name}/api/v1/configmaps?watch=true&resourceVersion={version}"
    with urllib.request.urlopen(watch, timeout=PATIENCE) as response:
        assert json.loads(response.readline())["object"]["code"] == 410
    note("viewer slept through 5,000 writes", seconds, "it gets the whole page, a watch gets 410")


def config_map(name: str) -> Change:
    metadata = {"name": name, "namespace": "default"}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    return Change("configmaps", f"default/{name}", manifest, 0)


@pytest.mark.long
def test_viewers_are_shown_no_write_that_redis_lost(web: Web, sandbox: Sandbox) -> None:
    fault_arena = web.fault_arena
    (file,) = Path(fault_arena.store.redis.config_get("dir")["dir"]).glob("appendonlydir/*.incr.aof")
    with web.viewer(sandbox) as viewer:
        viewer.next()
        fault_arena.bind(sandbox, "kept")
        fault_arena.rest(sandbox)
        size = file.stat().st_size
        kept = [*fault_arena.acknowledged[sandbox.name]]
        fault_arena.create(sandbox, pod("lost"))
        viewer.until(">lost<")
        began = time.monotonic()
        fault_arena.redis.process.kill()
        fault_arena.redis.process.wait()
        with file.open("rb+") as written:
            written.truncate(size)
        fault_arena.start_redis()
        fault_arena.acknowledged[sandbox.name] = kept
        fault_arena.set_clock(sandbox, paused=False)
        fault_arena.bind(sandbox, "next")
        while ">lost<" in (page := viewer.until('id="log"')) or ">next<" not in page:
            pass
        seconds = time.monotonic() - began
    fault_arena.rest(sandbox)
    assert ">lost<" not in web.whole(sandbox)
    assert_invariants(fault_arena.store, sandbox, kept)
    note(
        "Redis lost its last writes, with a viewer",
        seconds,
        ", ".join([*CHECKED, "the lost pod is not shown"]),
    )
