"""A web server and a worker with three Redis servers for the sandboxes, of which one fails."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from schedviz.celery import WORKER_ARGUMENTS
from schedviz.loop.leadership import living_workers
from schedviz.store import Store
from schedviz.store.sandbox_servers import OtherServers, check_sandbox_servers
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from schedviz.up.programs import SERVER
from tests.processes import CELERY, Process, answers
from tests.programs.load.site import Site, create_sandboxes, opened
from tests.programs.load.viewer import Viewer
from tests.programs.load.watched import close_all, faults, open_all
from tests.waiting import PATIENCE, eventually

LABELS = ("a", "b", "c")
SANDBOXES = [f"spread-{number}" for number in range(9)]


class Spread:
    """The servers, and the processes that use them."""

    def __init__(self, directory: Path, ends: ExitStack) -> None:
        self.ports = {label: free_port() for label in ("main", *LABELS)}
        self.redis: dict[str, EmbeddedRedis] = {}
        self._directories = {label: directory / label for label in self.ports}
        self._ends = ends
        for label in self.ports:
            self._directories[label].mkdir()
            self.start_redis(label)
        urls = {label: self.redis[label].url for label in LABELS}
        self.store = Store(self.redis["main"].url, urls)
        ends.callback(self.store.close)
        environment = {
            "REDIS_URL": self.redis["main"].url,
            "SANDBOX_REDIS_URLS": ",".join(f"{label}={url}" for label, url in urls.items()),
        }
        self.port = free_port()
        for name, command in {
            "web": ["-m", SERVER, f"--port={self.port}"],
            "worker": [*CELERY, *WORKER_ARGUMENTS],
        }.items():
            ends.callback(Process(command, directory / f"{name}.log", environment).stop)
        eventually(lambda: answers(f"http://127.0.0.1:{self.port}/healthz"), "the server answers")
        eventually(lambda: living_workers(self.store), "the worker lives")

    def start_redis(self, label: str) -> None:
        with ExitStack() as lock_of_start:
            held = lock_of_start.enter_context(lock(self._directories[label]))
            redis = EmbeddedRedis.start(self._directories[label], held, self.ports[label], "secret")
            self._ends.callback(redis.stop)
        self.redis[label] = redis


@pytest.fixture
def spread(tmp_path: Path, redis_url: str) -> Iterator[Spread]:
    with ExitStack() as ends:
        yield Spread(tmp_path, ends)


async def create_pods(site: Site, viewers: list[Viewer], pod: str) -> None:
    """Create a pod in the sandbox of each viewer, and wait until the page shows it bound."""
    for viewer in viewers:
        viewer.expect(pod)
        await site.create_pod(viewer.sandbox, pod)
    for viewer in viewers:
        await viewer.settled(time.monotonic() + PATIENCE)
    assert all(pod.bound for viewer in viewers for pod in viewer.pods)


@pytest.mark.long
async def test_sandboxes_of_the_other_servers_go_on_when_one_server_fails(spread: Spread) -> None:
    store = spread.store
    check_sandbox_servers(store)
    with pytest.raises(OtherServers):
        check_sandbox_servers(Store(store.redis_url))
    create_sandboxes(store, SANDBOXES, nodes=2)
    assert {store.servers.of(name).label for name in SANDBOXES} == {*LABELS}
    of_a = [name for name in SANDBOXES if store.servers.of(name).label == "a"]
    async with opened(spread.port, store) as site:
        viewers = [Viewer(site, name) for name in SANDBOXES]
        others = [viewer for viewer in viewers if viewer.sandbox not in of_a]
        await open_all(viewers)
        await create_pods(site, viewers, "before")

        spread.redis["a"].stop()
        await create_pods(site, others, "while-one-is-away")
        assert store.names() == {*SANDBOXES}

        spread.start_redis("a")
        await create_pods(site, viewers, "after")
        await close_all(viewers)
        assert faults(site, others) == []
