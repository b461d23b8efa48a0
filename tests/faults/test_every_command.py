"""A worker is killed at every command that it sends to Redis in a slice, or loses its connection there."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import count

import pytest

from schedviz.api.write import create, create_sandbox
from schedviz.loop import driver
from schedviz.loop.due import KEY
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.processes.heartbeats import Heartbeats
from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.up.embedded_redis import EmbeddedRedis
from simulator.api import SECOND, Manifest
from simulator.simulation import Simulation
from tests.amounts import WHOLE, sample
from tests.faults.forking import WHOLE_SECONDS
from tests.faults.invariants import assert_invariants
from tests.faults.proxy import Act, Command, Proxy
from tests.loop.conftest import bound, node, pod
from tests.processes import ROOT

STILL = 1e-9
"""A speed so small that time practically stands still."""

CUTS = 12
"""The number of commands of each sort at which the connection is cut."""

CHANNEL_LAYER = b"asgi:"
"""The doorbell's commands: a thread of its own sends them, now or later."""


def low(name: str, **more: object) -> Manifest:
    made = pod(name, cpu="1", terminationGracePeriodSeconds=1, priority=0, **more)
    made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return made


class Story:
    """Three nodes with a low pod each, of which all want the same port, and one that finds none free; then a
    high one that preempts, and a pod that fits nowhere. The forked worker schedules the last two."""

    def __init__(self, proxy: Proxy, store: Store) -> None:
        self._proxy = proxy
        self._store = store
        self._workers = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.forking"],
            cwd=ROOT,
            env={**os.environ, "REDIS_URL": proxy.url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._number = count()

    def perform(self, cut_off: int | None, act: Act, *, kill: bool) -> tuple[int, int]:
        """A new sandbox, with a worker that is cut off at the command of this number. Returns how many
        commands it has sent, and its exit status."""
        name = f"story-{next(self._number)}"
        clock = Clock(1_735_689_600 * SECOND, time.time(), STILL)
        nodes = [node(f"n{i}", cpu="2") for i in range(3)]
        high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 100}
        sandbox = create_sandbox(self._store, Meta(name, created=time.time(), seed=1), [], clock)
        acknowledged = create(sandbox, [*nodes, {**high, "metadata": {"name": "high"}}])
        acknowledged += create(sandbox, [low(f"low-{i}") for i in range(4)])
        self.lead(sandbox, "first")
        Heartbeats(self._store.redis, "worker").stop("first")
        acknowledged += create(
            sandbox, [pod("high", cpu="2", priorityClassName="high"), pod("large", cpu="64")]
        )
        Wakes(self._store).due.settle(name, Wakes(self._store).due.begin(name), 0.0)

        sent, status = self._fork(f"forked-{name}", name, cut_off, act, kill=kill)
        assert self._store.redis.zscore(KEY, name) is not None or name in self._store.unseen() or not kill
        Heartbeats(self._store.redis, "worker").stop(f"forked-{name}")
        self.lead(sandbox, "new-leader")
        sandbox.set_clock(Clock(clock.sim + 20 * SECOND, time.time(), STILL), sandbox.clock())
        self.lead(sandbox, "new-leader")
        assert len(bound(sandbox)) == 3
        assert "high" in bound(sandbox)
        [victim] = {f"default/low-{i}" for i in range(4)} - sandbox.list_all()[0]["pods"].keys()
        assert_invariants(self._store, sandbox, acknowledged, gone=(victim,))
        self._store.delete(name)
        return sent, status

    def lead(self, sandbox: Sandbox, worker: str) -> None:
        """Run slices in this process until nothing is left to do."""
        presence = Presence(self._store, worker)
        presence.beat()
        wakes = Wakes(self._store)
        leader = driver.Driver(self._store, wakes, presence, Simulation)
        order: int | None = None
        while order is None or sandbox.version() > sandbox.progress()[0]:
            order = wakes.due.mark(sandbox.name).order
            leader.slice(sandbox.name, order)

    def _fork(self, worker: str, sandbox: str, at: int | None, act: Act, *, kill: bool) -> tuple[int, int]:
        sent = 0
        assert self._workers.stdin
        assert self._workers.stdout

        def watch(command: Command) -> Act:
            nonlocal sent
            if any(CHANNEL_LAYER in word[:20] for word in command[:4]):
                return "pass"
            sent += 1
            return act if sent == at else "pass"

        pid: Future[int] = Future()
        self._proxy.watch = watch
        self._proxy.before_cut = lambda: kill and os.kill(pid.result(), signal.SIGKILL)
        print(worker, sandbox, file=self._workers.stdin, flush=True)
        pid.set_result(int(self._workers.stdout.readline()))
        status = int(self._workers.stdout.readline())
        return sent, status

    def close(self) -> None:
        self._workers.communicate()


@pytest.fixture
def story(own_redis: EmbeddedRedis, monkeypatch: pytest.MonkeyPatch) -> Iterator[Story]:
    monkeypatch.setattr(driver, "SLICE_SECONDS", WHOLE_SECONDS)
    proxy, store = Proxy(own_redis.url), Store(own_redis.url)
    story = Story(proxy, store)
    yield story
    story.close()
    proxy.close()
    store.close()


@pytest.mark.long
@pytest.mark.sampled
def test_a_worker_killed_at_any_command_of_a_slice_keeps_the_invariants(story: Story) -> None:
    story.perform(None, "pass", kill=False)  # Redis has all scripts from here on
    sent, status = story.perform(None, "pass", kill=False)
    assert status == 0
    killed = 0
    for at in sample(range(1, sent + 1)):
        _, status = story.perform(at, "before", kill=True)
        # The doorbell's thread connects now or later, so that some runs send a few commands less.
        assert status in (0, -signal.SIGKILL)
        killed += status != 0
    assert killed > (30 if WHOLE else 7)


@pytest.mark.long
@pytest.mark.sampled
@pytest.mark.parametrize("act", ["before", "after"])
def test_a_connection_cut_at_any_command_of_a_slice_keeps_the_invariants(story: Story, act: Act) -> None:
    last, _ = story.perform(None, "pass", kill=False)
    for at in sample(random.Random(act).sample(range(1, last), CUTS)):
        _, status = story.perform(at, act, kill=False)
        assert status == 0
