"""A sandbox whose scheduler stands down, with an outside one: what its leader writes, and its recording."""

import time
from collections.abc import Iterator

import msgspec
import pytest

from schedviz.api import write
from schedviz.api.admitted_write import write_admitted
from schedviz.loop.driver import Driver
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.store.recording import recording_lines
from simulator.api import SECOND
from simulator.apiserver.admission import Admission
from simulator.apiserver.binding import admit_binding
from simulator.recording import record_decoder
from simulator.replay import Replay
from simulator.simulation import Simulation
from simulator.trace import Bound, OutsideBound, PodStarted, SchedulerConfigured
from tests.loop.conftest import node, pod

START = 1_735_689_600 * SECOND
STILL = 1e-9
"""A speed at which time runs and does not come anywhere: the test moves it on by itself."""


@pytest.fixture
def sandbox(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    meta = Meta(sandbox_name, seed=1, stands_down=True)
    yield write.create_sandbox(store, meta, [node("n0"), pod("p0")], Clock(START, time.time(), STILL))
    store.delete(sandbox_name)


def bind(sandbox: Sandbox, name: str) -> None:
    binding = {"metadata": {"name": name}, "target": {"kind": "Node", "name": "n0"}}

    def decide(current: Sandbox) -> Admission:
        found = current.get("pods", f"default/{name}")
        assert found is not None
        return Admission([admit_binding(found, binding, current.now())], {})

    write_admitted(sandbox, decide, dry_run=False, again=())


def test_the_sandbox_goes_on_beside_an_outside_scheduler_and_takes_over(
    store: Store, sandbox: Sandbox
) -> None:
    presence = Presence(store, sandbox.name)
    presence.beat()
    driver = Driver(store, Wakes(store), presence, Simulation)

    def slice_at(seconds: int) -> None:
        sandbox.set_clock(Clock(START + seconds * SECOND, time.time(), STILL))
        driver.slice(sandbox.name, Wakes(store).due.mark(sandbox.name).order)

    slice_at(1)
    write.create(sandbox, [pod("p1"), pod("p2")])
    slice_at(2)
    lanes = {key: (entry.lane, entry.scheduler) for key, entry in sandbox.lanes().items()}
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

    write.configure(sandbox, None, [], stands_down=False)
    slice_at(10)
    events = [event for _, event in sandbox.trace_tail(1000)]
    (bound,) = (event for event in events if isinstance(event, Bound))
    assert (bound.pod, bound.t) == ("default/p2", START + 10 * SECOND)
    (switched,) = (event for event in events if isinstance(event, SchedulerConfigured))
    assert switched.stands_down is False

    told = [
        each
        for stored in Replay(record_decoder.decode(line) for line in recording_lines(sandbox)).run()
        for each in stored.trace
    ]
    assert msgspec.json.encode(told) == msgspec.json.encode(sandbox.trace_tail(1000))
