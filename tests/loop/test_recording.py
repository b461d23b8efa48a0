"""The replay of a sandbox's recording equals what is stored, byte for byte, after any operations."""

import random
from typing import Any, cast

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from schedviz.store import Commit, Sandbox, Store, codec
from schedviz.store.commit_script import LIMITS
from schedviz.store.keys import Keys
from schedviz.store.recording import recording_lines
from simulator.api import SECOND, Change, Micros
from simulator.decision_columns import stored_encoder
from simulator.queueing.queue_version import QueueVersion
from simulator.recording import record_decoder
from simulator.replay import RecordingError, Replay, ReplayedCommit
from simulator.trace import (
    Bound,
    ControllerFailed,
    ControllerPostponed,
    CycleCutOff,
    LeaderElected,
    ObjectUnreadable,
    SchedulerError,
)
from tests.amounts import examples
from tests.loop.conftest import node, pod
from tests.loop.world import Operation, World, operations
from tests.simulator.controllers.workloads import workload


def recorded(sandbox: Sandbox) -> list[ReplayedCommit]:
    """The replay of the sandbox's recording."""
    return [*Replay(record_decoder.decode(line) for line in recording_lines(sandbox)).run()]


def assert_replay_equals(store: Store, sandbox: Sandbox) -> list[ReplayedCommit]:
    """Check that the replay equals the streams, byte for byte. Returns the replay."""
    replayed = recorded(sandbox)
    keys = Keys.of(sandbox.name)
    trace = [(number, msgspec.json.encode(event)) for stored in replayed for number, event in stored.trace]
    decisions = [(d.cycle, stored_encoder.encode(d)) for stored in replayed for d in stored.decisions]
    for stream, field, again in ((keys.trace, b"event", trace), (keys.decisions, b"decision", decisions)):
        entries = cast("list[codec.Entry]", store.servers.of(sandbox.name).redis.xrange(stream))
        assert len(entries) >= min(len(again), LIMITS["decisions"])
        assert again[-len(entries) :] == [(codec.number(key), fields[field]) for key, fields in entries]
    lanes: dict[str, Any] = {}
    for stored in replayed:
        lanes = (lanes if not stored.entry.began else {}) | stored.entry.lanes
    assert {pod: lane for pod, lane in lanes.items() if lane} == sandbox.queue_places()
    return replayed


@pytest.mark.sampled
@settings(
    max_examples=examples(40), phases=[Phase.generate], deadline=None, derandomize=True, print_blob=False
)
@given(
    story=st.lists(operations, min_size=10, max_size=40),
    queue=st.sampled_from(QueueVersion),
    pace=st.sampled_from([0, SECOND // 4]),
)
def test_a_replay_equals_the_recording_of_any_operations(
    store: Store, story: list[Operation], queue: Any, pace: Micros
) -> None:
    world = World(store, seed=3, queue=queue, pace=pace)
    world.perform(story)
    assert_replay_equals(store, world.sandbox)
    store.delete(world.sandbox.name)


def test_a_recording_has_the_unfinished_cycle_of_a_leader_and_its_faults(store: Store) -> None:
    world = World(store)
    world.create(node("n0"), pod("p0"), pod("p1"))
    world.take_steps("point", 3)
    world.slice()
    assert world.sandbox.under_way()
    world.take_over()
    world.slice()
    world.let_time_pass(1)
    world.trouble = "fault"
    world.slice()
    world.slice()
    replayed = assert_replay_equals(store, world.sandbox)
    events = [event for stored in replayed for _, event in stored.trace]
    kinds = LeaderElected | CycleCutOff | SchedulerError
    assert [type(event) for event in events if isinstance(event, kinds)] == [
        LeaderElected, LeaderElected, CycleCutOff, SchedulerError, LeaderElected,
    ]  # fmt: skip
    store.delete(world.sandbox.name)


def test_a_replay_equals_the_recording_of_contained_failures_under_any_leader(store: Store) -> None:
    """An object that does not fit its kind, a ReplicaSet whose pods are refused, and one whose pods are
    evicted as soon as they are created; for the leader that observes their creation, and for later
    leaders."""
    world = World(store)
    down = node("n0")
    down["spec"] = {"taints": [{"key": "down", "effect": "NoExecute"}]}
    workloads = [
        workload("ReplicaSet", "refused", replicas=1, pod={"priorityClassName": "vip"}),
        workload("ReplicaSet", "evicted", replicas=1, pod={"nodeName": "n0"}),
    ]
    world.create(down, node("n1"), *workloads)
    world.slice()
    bad = {**pod("bad"), "spec": {"containers": "none"}}
    world.sandbox.commit(Commit([Change("pods", "default/bad", bad, expected=0)]))
    for number in range(2):
        world.create(pod(f"p{number}"))
        world.slice()
        world.let_time_pass(20)
        world.slice()
        world.take_over()
        world.slice()
    replayed = assert_replay_equals(store, world.sandbox)
    events = [event for stored in replayed for _, event in stored.trace]
    assert len([event for event in events if isinstance(event, ObjectUnreadable)]) == 3, (
        "once for each leader"
    )
    controllers = {event.controller for event in events if isinstance(event, ControllerFailed)}
    assert controllers == {"ReplicaSet default/refused"}
    assert any(isinstance(event, ControllerPostponed) for event in events)
    assert not any(isinstance(event, SchedulerError) for event in events)
    bound = [event.pod for event in events if isinstance(event, Bound)]
    assert bound == ["default/p0", "default/p1"]
    assert store.failing() == []
    store.delete(world.sandbox.name)


@pytest.mark.parametrize("seed", range(5))
def test_a_recording_that_lacks_a_line_is_not_replayed(store: Store, seed: int) -> None:
    world = World(store)
    world.create(node("n0"), node("n1"), *(pod(f"p{i}") for i in range(3)))
    world.slice()
    world.let_time_pass(3)
    world.slice()
    lines = [record_decoder.decode(line) for line in recording_lines(world.sandbox)]
    store.delete(world.sandbox.name)
    assert [*Replay(lines).run()]
    without = random.Random(seed).randrange(2, len(lines) - 1)
    with pytest.raises(RecordingError):
        [*Replay(lines[:without] + lines[without + 1 :]).run()]
