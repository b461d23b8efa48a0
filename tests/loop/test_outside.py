"""A sandbox whose scheduler stands down, with an outside one: what its leader writes, and its recording."""

import time
from collections.abc import Callable, Iterator

import msgspec
import pytest
from msgspec.structs import replace

from schedviz.api import removal, schedulers, write
from schedviz.api.admitted_write import write_admitted
from schedviz.api.branch import branch_of_moment
from schedviz.loop import archive_writer
from schedviz.loop.clock import run_until
from schedviz.loop.driver import Driver
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Clock, Commit, Meta, Sandbox, Store
from schedviz.store.past import Past
from schedviz.store.recording import recording_lines
from simulator.api import SECOND, Change, Manifest, Micros, bare
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.resources import PODS
from simulator.objects.conditions import with_condition
from simulator.objects.timestamps import timestamp
from simulator.recording import record_decoder
from simulator.replay import Replay
from simulator.simulation import Simulation
from simulator.trace import Bound, OutsideBound, PodStarted, SchedulerConfigured
from tests.loop.conftest import node, pod

START = 1_735_689_600 * SECOND
LEASE_RENEWALS = 350
LEASE_BYTES = 60
"""The bytes of the archive for one renewal, with its part of the journal: 14 in chapters of 1,000 writes."""
STILL = 1e-9
"""A speed so small that only the test moves time."""


@pytest.fixture
def sandbox(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    meta = Meta(sandbox_name, seed=1, stands_down=True)
    yield write.create_sandbox(store, meta, [node("n0"), pod("p0")], Clock(START, time.time(), STILL))
    store.delete(sandbox_name)


def a_lease(renewals: int) -> Manifest:
    now = START + renewals * 2_000_137
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
        "spec": {"holderIdentity": "h", "leaseDurationSeconds": 15, "renewTime": micro_time(now)},
    }


def micro_time(now: Micros) -> str:
    """metav1.MicroTime."""
    return f"{timestamp(now)[:-1]}.{now % SECOND:06d}Z"


def slices_of(store: Store, sandbox: Sandbox) -> Callable[[float], None]:
    """A function that runs a slice of a worker of its own at a simulated time, in seconds after the start."""
    presence = Presence(store, sandbox.name)
    presence.beat()
    driver = Driver(store, Wakes(store), presence, Simulation)

    def slice_at(seconds: float) -> None:
        clock = replace(sandbox.clock(), sim=START + round(seconds * SECOND), wall=time.time())
        sandbox.set_clock(clock)
        driver.slice(sandbox.name, Wakes(store).due.mark(sandbox.name).order)

    return slice_at


def bind(sandbox: Sandbox, name: str) -> None:
    binding = {"metadata": {"name": name}, "target": {"kind": "Node", "name": "n0"}}
    write_admitted(sandbox, lambda server: server.bind(RequestPlace(PODS, "default", name), binding))


def test_the_sandbox_runs_beside_an_outside_scheduler_and_then_schedules_again(
    store: Store, sandbox: Sandbox
) -> None:
    slice_at = slices_of(store, sandbox)
    slice_at(1)
    write.create(sandbox, [pod("p1"), pod("p2")])
    slice_at(2)
    lanes = {key: (entry.lane, entry.scheduler) for key, entry in sandbox.queue_places().items()}
    assert lanes == dict.fromkeys([f"default/p{n}" for n in range(3)], ("outside", "default-scheduler"))
    bind(sandbox, "p0")
    bind(sandbox, "p1")
    slice_at(5)
    slice_at(9)
    events = [event for _, event in sandbox.trace_tail(1000)]
    first, second = (event for event in events if isinstance(event, OutsideBound))
    assert (first.pod, first.waited_wall) == ("default/p0", None), "it waited before the leader began"
    assert (second.pod, second.waited) == ("default/p1", 3 * SECOND)
    assert second.waited_wall is not None
    assert 0 < second.waited_wall < 60 * 1_000_000
    assert {event.pod for event in events if isinstance(event, PodStarted)} == {"default/p0", "default/p1"}

    schedulers.configure(sandbox, None, [], stands_down=False)
    slice_at(10)
    events = [event for _, event in sandbox.trace_tail(1000)]
    (bound,) = (event for event in events if isinstance(event, Bound))
    assert (bound.pod, bound.t) == ("default/p2", START + 10 * SECOND)
    (switched,) = (event for event in events if isinstance(event, SchedulerConfigured))
    assert switched.stands_down is False

    replayed = [
        each
        for stored in Replay(record_decoder.decode(line) for line in recording_lines(sandbox)).run()
        for each in stored.trace
    ]
    assert msgspec.json.encode(replayed) == msgspec.json.encode(sandbox.trace_tail(1000))


def test_a_past_moment_has_whether_the_scheduler_stood_down(
    store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_writer, "CHAPTER_WRITES", 5)
    slice_at = slices_of(store, sandbox)
    slice_at(1)
    for number, down in enumerate((False, True, False)):
        write.create(sandbox, [pod(f"{number}-{each}") for each in range(6)])
        slice_at(10 * number + 5)
        schedulers.configure(sandbox, None, [], stands_down=down)
        slice_at(10 * number + 10)
        slice_at(10 * number + 12)
    assert len(sandbox.history().chapters) > 2
    switches = [seq for seq, event in sandbox.trace_tail(1000) if isinstance(event, SchedulerConfigured)]
    at = {seq: Past(sandbox, seq).stands_down() for each in switches for seq in (each - 1, each)}
    assert [*at.values()] == [True, False, False, True, True, False]
    branch = branch_of_moment(store, Past(sandbox, switches[1]), f"{sandbox.name}-b")
    try:
        assert branch.meta().stands_down
    finally:
        store.delete(branch.name)


def test_a_run_ends_when_all_pods_are_bound_or_one_is_preempted(store: Store, sandbox: Sandbox) -> None:
    slice_at = slices_of(store, sandbox)
    slice_at(1)
    run_until(sandbox, "nothing-pending")
    slice_at(2)
    assert not sandbox.clock().paused, "p0 waits"
    bind(sandbox, "p0")
    slice_at(3)
    assert sandbox.clock().paused

    run_until(sandbox, "preemption")
    slice_at(4)
    assert not sandbox.clock().paused
    found = sandbox.get("pods", "default/p0")
    assert found
    preempted = with_condition(found, START, "DisruptionTarget", "True", reason="PreemptionByScheduler")
    sandbox.commit(Commit([Change("pods", "default/p0", bare(preempted))]))
    slice_at(5)
    removal.delete(sandbox, "pods", "default/p0")
    slice_at(6)
    slice_at(7)
    assert sandbox.clock().paused


def test_the_leases_of_an_outside_scheduler_are_not_in_the_history(
    store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_writer, "CHAPTER_WRITES", 100)
    slice_at = slices_of(store, sandbox)
    slice_at(1)
    slice_at(10)
    key = "kube-system/kube-scheduler"
    write.create(sandbox, [a_lease(0)])
    slice_at(11)
    before = sandbox.trace_head()
    for number in range(LEASE_RENEWALS):
        renewed = a_lease(number + 1)
        sandbox.commit(Commit([Change("leases.coordination.k8s.io", key, renewed)]))
        if number % 50 == 49:
            slice_at(11 + number * 2)
    assert sandbox.trace_head() == before, "no log has them"
    chapters = sandbox.archive.chapters()
    assert [chapter.snapshot for chapter in chapters][:2] == [True, False]
    assert sum(chapter.snapshot for chapter in chapters) == 1
    assert sum(chapter.bytes for chapter in chapters) / LEASE_RENEWALS < LEASE_BYTES
    replayed = [*Replay(record_decoder.decode(line) for line in recording_lines(sandbox)).run()]
    assert replayed[-1].entry.version == sandbox.version()
