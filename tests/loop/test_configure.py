"""Another configuration for a running scheduler: its leader ends its term, and the next leader uses it."""

import time
from collections.abc import Iterator

import msgspec
import pytest

from schedviz.api import schedulers, write
from schedviz.loop.driver import Driver
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.store import Clock, Commit, Meta, Sandbox, StaleLease, Steps, Store
from schedviz.store.recording import recording_lines
from simulator.api import SECOND, Manifest
from simulator.apiserver.status import Invalid
from simulator.config.configuration import API_VERSION
from simulator.recording import record_decoder
from simulator.replay import Replay
from simulator.simulation import Simulation
from simulator.trace import CycleCutOff, LeaderElected, SchedulerConfigured
from tests.loop.conftest import node, pod

PLAIN: Manifest = {"apiVersion": API_VERSION, "kind": "KubeSchedulerConfiguration"}
STILL = 1e-9
"""A speed so small that only the test moves time."""


@pytest.fixture
def still(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    clock = Clock(1_735_689_600 * SECOND, time.time(), STILL)
    yield write.create_sandbox(store, Meta(sandbox_name, seed=1), [node("n0"), pod("p0")], clock)
    store.delete(sandbox_name)


def test_another_configuration_ends_the_leaders_term_and_the_next_leader_uses_it(
    store: Store, still: Sandbox
) -> None:
    presence = Presence(store, still.name)
    presence.beat()
    driver = Driver(store, Wakes(store), presence, Simulation)

    def slice_() -> None:
        driver.slice(still.name, Wakes(store).due.mark(still.name).order)

    schedulers.configure(still, PLAIN | {"percentageOfNodesToScore": 50}, ["percentageOfNodesToScore"])
    assert still.trace_head() == 0, "no leader has started with another configuration"
    still.set_clock(Clock(still.clock().sim, time.time(), STILL, paused=True, steps=Steps("point", 3)))
    slice_()
    assert still.under_way()
    led = still.lease()
    assert led
    with pytest.raises(Invalid) as refused:
        schedulers.configure(still, PLAIN | {"percentageOfNodesToScore": 101}, [])
    assert [cause.field for cause in refused.value.causes] == ["percentageOfNodesToScore"]
    assert still.lease() == led, "what is refused changes nothing"

    off = {"multiPoint": {"disabled": [{"name": "ImageLocality"}]}}
    schedulers.configure(still, PLAIN | {"profiles": [{"plugins": off}]}, ["profiles"])
    assert still.lease() is None
    with pytest.raises(StaleLease):
        still.commit(Commit(lease=led, now=1))
    slice_()
    write.create(still, [node("n1"), pod("p1")])
    still.set_clock(Clock(still.clock().sim + 5 * SECOND, time.time(), STILL))
    slice_()
    lease, decision = still.lease(), still.last_decision()
    assert lease
    assert lease.epoch == led.epoch + 2
    assert decision
    assert "NodeResourcesFit" in {scores.plugin for scores in decision.scores}
    assert "ImageLocality" not in {scores.plugin for scores in decision.scores}

    trace = still.trace_tail(1000)
    replayed = [
        each
        for stored in Replay(record_decoder.decode(line) for line in recording_lines(still)).run()
        for each in stored.trace
    ]
    assert msgspec.json.encode(replayed) == msgspec.json.encode(trace), "the recording has it"
    kinds = LeaderElected | CycleCutOff | SchedulerConfigured
    assert [type(event) for _, event in trace if isinstance(event, kinds)] == [
        LeaderElected, SchedulerConfigured, LeaderElected, CycleCutOff,
    ]  # fmt: skip
