"""Real processes with injected faults, and a table of the recovery times."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from schedviz.api.write import create
from schedviz.loop.due import KEY
from schedviz.store import Sandbox
from schedviz.up.embedded_redis import lock
from simulator.api import Manifest
from tests.faults.invariants import CHECKED, assert_invariants
from tests.faults.proxy import Proxy
from tests.loop.conftest import Arena, pod
from tests.processes import Process
from tests.waiting import eventually

RECOVERED: list[tuple[str, float, str]] = []
"""Fault, seconds until the recovery, and what was checked."""


def note(fault: str, seconds: float, checked: str) -> None:
    """A line of the table that is printed at the end."""
    RECOVERED.append((fault, seconds, checked))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if RECOVERED:
        terminalreporter.section("faults: seconds until all was well again")
        for fault, seconds, checked in RECOVERED:
            terminalreporter.write_line(f"{fault:<56}{seconds:6.1f}  {checked}")


class FaultArena(Arena):
    """An Arena whose clients record the acknowledged writes. A worker may have a proxy in front of Redis."""

    def __init__(self, directory: Path, held: int) -> None:
        super().__init__(directory, held)
        self.ends = ExitStack()
        self.proxies: dict[Process, Proxy] = {}
        self.acknowledged: dict[str, list[Manifest]] = {}

    def behind_proxy(self) -> tuple[Process, Proxy]:
        """A worker with a proxy: a living one, or a new one."""
        for worker, proxy in self.proxies.items():
            if worker.popen.poll() is None:
                return worker, proxy
        proxy = Proxy(self.redis.url)
        self.ends.callback(proxy.close)
        worker = self.start_worker(url=proxy.url)
        self.proxies[worker] = proxy
        return worker, proxy

    def make(self, name: str, manifests: list[Manifest], pace: int = 0) -> Sandbox:
        self.acknowledged[name] = []
        sandbox = super().make(name, [], pace)
        self.create(sandbox, *manifests)
        return sandbox

    def create(self, sandbox: Sandbox, *manifests: Manifest) -> None:
        """Create objects as a client, and record the acknowledged writes."""
        if manifests:
            self.acknowledged[sandbox.name] += create(sandbox, manifests)
        self.wake(sandbox.name)

    def give_to(self, sandbox: Sandbox, worker: Process) -> None:
        """Make the worker the next leader of a sandbox."""
        lease = sandbox.take_lease(self.name_of(worker), sandbox.lease())
        assert lease

    def bind(self, sandbox: Sandbox, name: str) -> None:
        """A client creates a pod, and it is bound."""
        self.create(sandbox, pod(name, cpu="1m"))
        self.until_bound(sandbox, name)

    def until_bound(self, sandbox: Sandbox, *names: str) -> None:
        def look() -> bool:
            self.tend()
            found = [sandbox.get("pods", f"default/{name}") for name in names]
            return all(manifest and manifest["spec"].get("nodeName") for manifest in found)

        eventually(look, f"{names[-1]} is bound")

    def recover(self, fault: str, sandbox: Sandbox, began: float, checked: str = "") -> None:
        """Wait until a pod that is created after the fault is bound, note how long this took, and check what
        must be true."""
        self.bind(sandbox, f"after-{int(1000 * began)}")
        seconds = time.monotonic() - began
        self.rest(sandbox)
        assert_invariants(self.store, sandbox, self.acknowledged[sandbox.name])
        note(fault, seconds, ", ".join(filter(None, [*CHECKED, checked])))

    def rest(self, sandbox: Sandbox) -> None:
        """Stop the time of the sandbox, and wait until its leader has done all that is due."""
        self.set_clock(sandbox, paused=True)

        def rests() -> bool:
            self.tend()
            return self.store.redis.zscore(KEY, sandbox.name) is None and not self.store.unseen()

        eventually(rests, "the sandbox rests")

    def close(self) -> None:
        super().close()
        self.ends.close()


@pytest.fixture(scope="module")
def fault_arena(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[FaultArena]:
    directory = tmp_path_factory.mktemp("fault_arena")
    with lock(directory) as held:
        fault_arena = FaultArena(directory, held)
        yield fault_arena
        fault_arena.close()
