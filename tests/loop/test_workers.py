"""Real workers, killed and restarted: the work continues, nothing is lost, and nothing is done twice."""

import signal
from collections import Counter

import pytest

from schedviz.api.write import create
from schedviz.loop import due, tasks
from schedviz.loop.clock import MAX_SPEED, MIN_SPEED
from schedviz.loop.presence import Presence
from schedviz.processes import heartbeats
from schedviz.store import Sandbox
from simulator.trace import Bound, LeaderElected
from tests.loop.conftest import Arena, bound, node, pod, until_bound
from tests.loop.test_recording import assert_replay_equals
from tests.waiting import eventually

pytestmark = pytest.mark.alone

BATCH = 250
"""Pods; few enough for their whole trace to be kept."""

HALF = BATCH // 2

TURNS = 2

PACE = 20_000
"""The pace of each cycle, in microseconds: at MIN_SPEED there are more than twenty seconds from the kill to
the middle of the pods."""


def set_speed(arena: Arena, sandbox: Sandbox, speed: float) -> None:
    clock = sandbox.clock().rebased(sandbox.wall(), speed=speed)
    arena.set_clock(sandbox, sim=clock.sim, wall=clock.wall, speed=speed)


def assert_each_pod_was_bound_once(sandbox: Sandbox, pods: int) -> None:
    """Check this by the watch log, in which a pod's node appears once and never changes, and by the trace."""
    nodes: dict[str, str] = {}
    for event in sandbox.events(sandbox.origin().version, count=100_000):
        if event.resource == "pods" and (name := event.object["spec"].get("nodeName")):
            assert nodes.setdefault(event.key, name) == name
    assert len(nodes) == len(bound(sandbox)) == pods
    traced = Counter(e.pod for _, e in sandbox.trace(0, count=100_000) if isinstance(e, Bound))
    assert set(traced.values()) == {1}
    assert traced.keys() == nodes.keys()


def test_a_takeover_waits_for_no_more_than_four_seconds() -> None:
    """Until the heartbeat of the dead one is over, until its slice is asked for
    again, and until the next look at what is due. What a machine needs for its work comes on top."""
    assert heartbeats.TTL_SECONDS + due.RETRY_SECONDS + 2 * tasks.POLL_SECONDS < 4


@pytest.mark.long
def test_a_worker_killed_in_the_middle_is_replaced_and_no_pod_is_lost_or_bound_twice(arena: Arena) -> None:
    """Nobody writes or wakes anything after the kill. Time stops at the middle of the pods, so that no leader
    is through with them before it is killed. PACE and MIN_SPEED keep each leader at work until then: one that
    has stopped the time has nothing left to do, and no other worker takes over from it. When another one goes
    on, time is made faster."""
    sandbox = arena.make("killed", [node(f"n{i}") for i in range(50)], pace=PACE)
    pods = 0
    for turn in range(TURNS):
        set_speed(arena, sandbox, MIN_SPEED)
        arena.set_clock(sandbox, until=f"bound default/p-{turn}-{HALF}")
        create(sandbox, [pod(f"p-{turn}-{i}") for i in range(BATCH)])
        arena.wake(sandbox.name)
        eventually(until_bound(sandbox, pods + 5), "some of them are bound")
        leader = arena.leader(sandbox)
        assert leader
        leader.kill()
        done = len(bound(sandbox))
        eventually(lambda: arena.leader(sandbox), "another leads")
        eventually(until_bound(sandbox, done + 1), "it goes on")
        set_speed(arena, sandbox, MAX_SPEED)
        eventually(until_bound(sandbox, pods + HALF), "half of them are bound")
        eventually(lambda: sandbox.clock().paused, "it stops in the middle")
        assert len(bound(sandbox)) < pods + BATCH
        arena.set_clock(sandbox, paused=False)
        pods += BATCH
        eventually(until_bound(sandbox, pods), "all are bound")
        arena.start_worker()
    assert_each_pod_was_bound_once(sandbox, pods)
    assert_replay_equals(arena.store, sandbox)
    elections = [event for _, event in sandbox.trace(0, count=100_000) if isinstance(event, LeaderElected)]
    assert len({election.holder for election in elections}) == TURNS + 1
    assert [election.epoch for election in elections] == sorted({election.epoch for election in elections})


@pytest.mark.long
def test_a_worker_that_stops_at_a_signal_is_replaced_at_once(arena: Arena) -> None:
    sandbox = arena.make("stopped", [node("n"), pod("first")])
    eventually(until_bound(sandbox, 1))
    leader = eventually(lambda: arena.leader(sandbox))
    name = arena.name_of(leader)
    leader.send(signal.SIGTERM)
    assert leader.wait() == 0
    assert not Presence(arena.store, "nobody").is_alive(name), "no worker waits until its heartbeat is old"
    create(sandbox, [pod("second")])
    arena.wake(sandbox.name)
    eventually(until_bound(sandbox, 2))
    arena.start_worker()


def test_a_write_without_a_wake_is_found(arena: Arena) -> None:
    sandbox = arena.make("unwoken", [node("n"), pod("first")])
    eventually(until_bound(sandbox, 1))
    create(sandbox, [pod("second")])
    eventually(until_bound(sandbox, 2))


@pytest.mark.long
def test_busy_sandboxes_do_not_delay_the_others(arena: Arena) -> None:
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
        eventually(until_bound(sandbox, 3))
    assert all(len(bound(sandbox)) < 3000 for sandbox in large)
    for sandbox in [*small, *large]:
        arena.store.delete(sandbox.name)
