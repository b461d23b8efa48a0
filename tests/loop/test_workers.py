"""Real workers, killed and restarted: the work goes on, nothing is lost, nothing is done twice."""

import signal
import time
from collections import Counter
from collections.abc import Callable

import pytest

from schedviz.api.write import create
from schedviz.store import Sandbox
from simulator.trace import Bound, LeaderElected
from tests.loop.conftest import Arena, bound, node, pod, until_bound
from tests.loop.test_recording import assert_told_again
from tests.waiting import eventually

pytestmark = pytest.mark.alone

TAKEOVER_SECONDS = 5.0
"""Within these another worker must have gone on."""

BATCH = 250
"""Pods; enough for a second of work, few enough for their whole trace to be kept."""


def assert_each_pod_was_bound_once(sandbox: Sandbox, pods: int) -> None:
    """By the watch log, in which a pod's node appears once and never changes; and by the trace."""
    nodes: dict[str, str] = {}
    for event in sandbox.events(0, count=100_000):
        if event.resource == "pods" and (name := event.object["spec"].get("nodeName")):
            assert nodes.setdefault(event.key, name) == name
    assert len(nodes) == len(bound(sandbox)) == pods
    traced = Counter(e.pod for _, e in sandbox.trace(0, count=100_000) if isinstance(e, Bound))
    assert set(traced.values()) == {1}
    assert traced.keys() == nodes.keys()


def test_a_worker_killed_in_the_middle_is_replaced_and_no_pod_is_lost_or_bound_twice(arena: Arena) -> None:
    sandbox = arena.make("killed", [node(f"n{i}") for i in range(50)])
    pods = 0
    for turn in range(3):
        batch = [pod(f"p-{turn}-{i}") for i in range(BATCH)]
        create(sandbox, batch)
        arena.wake(sandbox.name)
        eventually(until_bound(sandbox, pods + 20), "some of them are bound")
        leader = arena.leader(sandbox)
        assert leader
        leader.kill()
        died = time.monotonic()
        left = pods + BATCH - len(bound(sandbox))
        assert left > 0, "the kill came too late to be in the middle"
        eventually(lambda: arena.leader(sandbox), "another leads")
        eventually(until_bound(sandbox, pods + BATCH - left + 1), "it goes on")
        assert time.monotonic() - died < TAKEOVER_SECONDS
        pods += BATCH
        eventually(until_bound(sandbox, pods), "all are bound")
        arena.start_worker()
    assert_each_pod_was_bound_once(sandbox, pods)
    assert_told_again(arena.store, sandbox)
    elections = [event for _, event in sandbox.trace(0, count=100_000) if isinstance(event, LeaderElected)]
    assert len({election.holder for election in elections}) == 4
    assert [election.epoch for election in elections] == sorted({election.epoch for election in elections})


def test_a_worker_that_stops_as_asked_is_replaced_at_once(arena: Arena) -> None:
    sandbox = arena.make("stopped", [node("n"), pod("first")])
    eventually(until_bound(sandbox, 1))
    leader = eventually(lambda: arena.leader(sandbox))
    leader.send(signal.SIGTERM)
    assert leader.wait() == 0
    create(sandbox, [pod("second")])
    arena.wake(sandbox.name)
    eventually(until_bound(sandbox, 2), seconds=1.0)
    arena.start_worker()


def test_a_write_that_nobody_woke_for_is_found(arena: Arena) -> None:
    sandbox = arena.make("unwoken", [node("n"), pod("first")])
    eventually(until_bound(sandbox, 1))
    create(sandbox, [pod("second")])
    eventually(until_bound(sandbox, 2), seconds=5.0)


def test_workers_go_on_after_a_restart_of_redis(arena: Arena) -> None:
    def tended(look: Callable[[], bool]) -> Callable[[], bool]:
        return lambda: arena.tend() or look()

    sandbox = arena.make("restarted", [node("n", cpu="100", pods="250")])
    for turn in range(2):
        create(sandbox, [pod(f"before-{turn}-{i}") for i in range(50)])
        arena.wake(sandbox.name)
        eventually(until_bound(sandbox, 100 * turn + 10))
        arena.redis.stop()  # in the middle of the pods
        arena.start_redis()
        eventually(tended(until_bound(sandbox, 100 * turn + 50)), "those of before")
        create(sandbox, [pod(f"after-{turn}-{i}") for i in range(50)])
        arena.wake(sandbox.name)
        eventually(tended(until_bound(sandbox, 100 * turn + 100)), "those of after")
    assert_each_pod_was_bound_once(sandbox, 200)


def test_busy_sandboxes_do_not_hold_up_the_others(arena: Arena) -> None:
    """Two sandboxes with work for many slices; thirty small ones that come after have their pods bound long
    before the large ones are through."""
    large = [arena.make(f"large-{i}", [node(f"n{n}") for n in range(200)]) for i in range(2)]
    for batch in range(3):
        for sandbox in large:
            create(sandbox, [pod(f"p{batch}-{p}") for p in range(1000)])
    for sandbox in large:
        eventually(until_bound(sandbox, 1))
    small = [arena.make(f"small-{i}", [node("n"), *(pod(f"p{p}") for p in range(3))]) for i in range(30)]
    for sandbox in small:
        eventually(until_bound(sandbox, 3), seconds=30.0)
    assert all(len(bound(sandbox)) < 3000 for sandbox in large)
    for sandbox in [*small, *large]:
        arena.store.delete(sandbox.name)
