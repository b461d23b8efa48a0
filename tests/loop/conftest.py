"""A Redis with its own workers, which a test can kill and restart."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from schedviz.api.write import create_sandbox
from schedviz.celery import WORKER_ARGUMENTS
from schedviz.loop.driver import Driver
from schedviz.loop.due import Due
from schedviz.loop.leadership import living_workers
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Meta, Sandbox, Store
from schedviz.up.embedded_redis import EmbeddedRedis, free_port, lock
from tests.loop.stand_in import StandIn, made
from tests.processes import Process
from tests.waiting import eventually


def node(name: str, cpu: str = "4", pods: str = "110") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": pods}},
    }


def pod(name: str, cpu: str = "100m", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], **spec},
    }


class Arena:
    def __init__(self, directory: Path, held: int) -> None:
        self._directory = directory
        self._held = held
        self._port = free_port()
        self.redis = self.start_redis()
        self.store = Store(self.redis.url)
        self.due = Due(self.store.redis)
        self.workers: list[Process] = []

    def start_redis(self) -> EmbeddedRedis:
        self.redis = EmbeddedRedis.start(self._directory, self._held, self._port, "arena")
        return self.redis

    def start_worker(self, ahead_seconds: int = 0, url: str = "") -> Process:
        """ahead_seconds: how far its machine's wall clock is ahead of the right time. url: of Redis as this
        worker reaches it."""
        log = self._directory / f"worker-{len(self.workers)}.log"
        start = ["-m", "tests.skewed", str(ahead_seconds), "celery"] if ahead_seconds else ["-m", "celery"]
        worker = Process(
            [*start, "--app=schedviz", "--quiet", *WORKER_ARGUMENTS],
            log,
            {"REDIS_URL": url or self.redis.url},
        )
        self.workers.append(worker)
        eventually(lambda: worker.alive() and self.name_of(worker), "the worker lives")
        return worker

    def name_of(self, worker: Process) -> str:
        """The name of the worker in leases; "" until it has one."""
        return next((name for name in living_workers(self.store) if f"-{worker.popen.pid}-" in name), "")

    def leader(self, sandbox: Sandbox) -> Process | None:
        """The living worker that leads a sandbox."""
        lease = sandbox.lease()
        living = (worker for worker in self.workers if worker.popen.poll() is None)
        return next((w for w in living if lease and self.name_of(w) == lease.holder), None)

    def make(self, name: str, manifests: list[dict[str, Any]], pace: int = 0) -> Sandbox:
        sandbox = create_sandbox(
            self.store, Meta(name=name, created=time.time(), pace=pace, seed=1), manifests
        )
        self.wake(name)
        return sandbox

    def wake(self, name: str) -> None:
        """Wake a sandbox. loop.wake uses the session's Redis only."""
        self.due.settle(name, self.due.begin(name), 0.0)

    def set_clock(self, sandbox: Sandbox, **changes: Any) -> None:
        """Change the sandbox's clock, as loop.clock does it, and wake the sandbox."""
        while True:
            was = sandbox.clock()
            if sandbox.set_clock(replace(was, **changes), was):
                break
        self.wake(sandbox.name)

    def tend(self) -> None:
        """Replace a worker that ended by itself, as a supervisor does: with 0 or 1 where it took no messages
        any more."""
        for worker in [w for w in self.workers if w.popen.poll() in (0, 1)]:
            self.workers.remove(worker)
            self.start_worker()

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()
        self.store.close()
        self.redis.stop()


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Arena]:
    directory = tmp_path_factory.mktemp("arena")
    with lock(directory) as held:
        arena = Arena(directory, held)
        arena.start_worker()
        arena.start_worker()
        yield arena
        arena.close()


def bound(sandbox: Sandbox) -> dict[str, str]:
    """Pod -> node, of the bound pods."""
    pods = sandbox.list("pods").items
    return {p["metadata"]["name"]: p["spec"]["nodeName"] for p in pods if p["spec"].get("nodeName")}


def until_bound(sandbox: Sandbox, count: int) -> Callable[[], bool]:
    """Whether so many pods are bound, by the watch log. Listing all pods each time would take the workers'
    time."""
    version = sandbox.version()
    nodes = {f"default/{name}": node for name, node in bound(sandbox).items()}

    def look() -> bool:
        nonlocal version
        for event in sandbox.events(version):
            version = event.version
            if event.resource == "pods":
                nodes[event.key] = event.type != "DELETED" and event.object["spec"].get("nodeName", "")
        return sum(map(bool, nodes.values())) >= count

    return look


@pytest.fixture
def stand_in() -> type[StandIn]:
    """A subclass for one test, whose work the test sets."""
    made.clear()
    return type("StandIn", (StandIn,), {})


@pytest.fixture
def driver(store: Store, stand_in: type[StandIn], sandbox_name: str) -> Driver:
    presence = Presence(store, sandbox_name)
    presence.beat()
    return Driver(store, Wakes(store), presence, stand_in)
