"""Writes that a leader sends together: the history is the same as with one call for each, byte for byte, and
nothing is half written."""

import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import pytest

from schedviz.loop import write_batch
from schedviz.loop.leader import Leader
from schedviz.store import Clock, Commit, Overtaken, Sandbox, Store
from schedviz.store.commit_script import LIMITS, Committed, EncodedCommit, encode_commit
from schedviz.store.keys import Keys
from simulator.api import SECOND, ApiError, Change, Manifest, Micros, Storage
from simulator.apiserver.component_writes import MakeServer
from simulator.recording import RefusedInput
from simulator.simulation import Options, Simulation
from tests.amounts import long_but_first
from tests.loop.conftest import node, pod
from tests.loop.test_recording import assert_replay_equals
from tests.loop.world import STILL, World
from tests.waiting import eventually

SIZES = (1, 2, 7, 64)
PACE: Micros = 400_000


class Interrupted(World):
    """A world in which something happens before some of the leader's commits, by their numbers."""

    def __init__(self, store: Store, happens: dict[int, Callable[["Interrupted", Change], None]]) -> None:
        self.commits = 0
        self.happens = happens
        self.leader: Leader | None = None
        self.stored = 0, 0
        """The numbers of the last write and trace event when the lease was lost."""
        super().__init__(store, workers="worker", seed=3, pace=PACE)

    def make(self, api: Storage, server: MakeServer, options: Options) -> Simulation:
        assert isinstance(api, Leader)
        self.leader = api
        return Simulation(self, server, options)

    def commit(self, changes: Sequence[Change]) -> list[int]:
        assert self.leader
        self.commits += 1
        happens = self.happens.pop(self.commits, None)
        if happens:
            happens(self, changes[0])
        return self.leader.commit(changes)

    def send(self) -> None:
        """End the batch, so that others may write."""
        assert self.leader
        self.leader._batch.send()

    def hurry(self, seconds: float) -> None:
        """Let time pass at the speed at which nothing waits, and run a slice."""
        sim = self.sandbox.clock().sim + round(seconds * SECOND)
        self.sandbox.set_clock(Clock(sim, time.time(), STILL, unpaced=True))
        self.slice()


def label(world: Interrupted, change: Change) -> None:
    world.send()
    world.patch(change.resource, change.key, {"metadata": {"labels": {"by": "another"}}})


def delete(world: Interrupted, change: Change) -> None:
    world.send()
    world.delete(change.resource, change.key)


def create(world: Interrupted, change: Change) -> None:
    world.send()
    world.create(pod(f"late-{world.commits}"))


def cordon(world: Interrupted, change: Change) -> None:
    world.send()
    world.patch("nodes", "n0", {"spec": {"unschedulable": True}})


def lose_lease(world: Interrupted, change: Change) -> None:
    assert world.sandbox.take_lease("another", world.sandbox.lease())
    world.stored = world.sandbox.version(), world.sandbox.trace_head()


def drawn_pods(draw: random.Random, wave: int) -> list[Manifest]:
    """Pods that fit, that do not, that preempt others, and that end and are removed."""
    pods = []
    for number in range(12):
        made = pod(
            f"p{wave}-{number}",
            draw.choice(["100m", "500m", "1", "9"]),
            priorityClassName=draw.choice(["low", "low", "high"]),
            terminationGracePeriodSeconds=1,
        )
        if draw.random() < 0.3:
            ends = {"schedviz/run-seconds": "2", "schedviz/ttl-seconds-after-finished": "1"}
            made["metadata"]["annotations"] = ends
        pods.append(made)
    return pods


def play(
    store: Store,
    seed: int,
    size: int,
    happens: dict[int, Callable[[Interrupted, Change], None]],
    patch: pytest.MonkeyPatch,
) -> tuple[Interrupted, Counter[int]]:
    """Play a random history with batches of so many writes. Return the world, and how often so many commits
    were sent together."""
    patch.setattr(write_batch, "WRITES", size)
    patch.setattr(write_batch, "SECONDS", 60.0)
    patch.setattr(write_batch, "RESERVED_SECONDS", 60.0)
    together: Counter[int] = Counter()
    send = Sandbox.commit_together

    def counted(sandbox: Sandbox, commits: Sequence[EncodedCommit], **options: object) -> object:
        together[len(commits)] += 1
        return send(sandbox, commits, **options)  # type: ignore[arg-type]

    patch.setattr(Sandbox, "commit_together", counted)
    draw = random.Random(seed)
    world = Interrupted(store, happens)
    for name, value in (("low", 1), ("high", 100)):
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        world.create({**kind, "metadata": {"name": name}, "value": value})
    world.create(*(node(f"n{number}", cpu="2") for number in range(3)))
    for wave in range(2):
        world.create(*drawn_pods(draw, wave))
        for seconds in (0, 3, 10):
            world.hurry(seconds)
            lease = world.sandbox.lease()
            if lease and lease.holder == "another":
                assert (world.sandbox.version(), world.sandbox.trace_head()) == world.stored
                world.take_over()
                world.hurry(0)
    world.hurry(600)
    patch.undo()
    return world, together


def history(sandbox: Sandbox) -> bytes:
    """All that happened. The uids, which are made from the name of the sandbox, are numbered."""
    log = [
        (each.type, each.resource, each.object) for each in sandbox.events(sandbox.origin().version, 100_000)
    ]
    told = sandbox.trace(0, count=100_000), sandbox.queue_places(), sandbox.progress()
    uids: dict[bytes, bytes] = {}
    return re.sub(
        rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|containerd://[0-9a-f]+",
        lambda found: uids.setdefault(found[0], b"uid-%d" % len(uids)),
        msgspec.json.encode((log, told)),
    )


def check_bindings(sandbox: Sandbox) -> None:
    """No pod was bound twice, and each that is there has a node or a place in the queue."""
    nodes: dict[str, set[str]] = {}
    bindings: Counter[str] = Counter()
    for event in sandbox.events(sandbox.origin().version, 100_000):
        if event.resource == "pods":
            found = nodes.setdefault(event.object["metadata"]["uid"], {""})
            name = event.object["spec"].get("nodeName", "")
            bindings[event.object["metadata"]["uid"]] += name not in found
            found.add(name)
    assert max(bindings.values()) == 1
    places = sandbox.queue_places()
    for each in sandbox.list("pods").items:
        assert bool(each["spec"].get("nodeName")) != (f"default/{each['metadata']['name']}" in places)


@pytest.mark.parametrize("seed", long_but_first(range(3)))
def test_the_history_does_not_depend_on_the_size_of_the_batches(
    store: Store, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With others' writes between, some of them to what is just being written."""
    histories = set()
    for size in SIZES:
        draw = random.Random(seed)
        happens = {draw.randrange(1, 70): draw.choice([label, delete, create, cordon]) for _ in range(12)}
        world, together = play(store, seed, size, happens, monkeypatch)
        histories.add(history(world.sandbox))
        assert (max(together, default=1) > 1) == (size > 1)
        check_bindings(world.sandbox)
        replayed = assert_replay_equals(store, world.sandbox)
        assert any(isinstance(given, RefusedInput) for each in replayed for given in each.entry.inputs)
        store.delete(world.sandbox.name)
    assert len(histories) == 1


@pytest.mark.parametrize("size", SIZES)
def test_a_lease_that_is_lost_within_a_batch_leaves_nothing_half_written(
    store: Store, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, _ = play(store, 1, size, {9: label, 11: lose_lease, 40: lose_lease}, monkeypatch)
    assert not world.happens
    check_bindings(world.sandbox)
    assert_replay_equals(store, world.sandbox)
    store.delete(world.sandbox.name)


# The store


def write(name: str, expected: int = 0) -> Change:
    return Change("pods", f"default/{name}", pod(name), expected=expected)


def test_others_wait_until_a_leader_has_sent_its_writes_and_are_waited_for(sandbox: Sandbox) -> None:
    lease = sandbox.take_lease("worker", None)

    def together(seen: int, *names: str, base: int | None = None, reserve: float = 60.0) -> Committed:
        commits = [encode_commit(Commit([write(name)], lease=lease, seen=seen)) for name in names]
        return sandbox.commit_together(commits, base=base, reserve=reserve)

    assert together(0, "a").reserved
    writer = threading.Thread(target=sandbox.commit, args=[Commit([write("b")])])
    writer.start()
    keys = Keys.of(sandbox.name)
    eventually(lambda: sandbox._redis.hget(keys.state, "waiting") == b"1", "the writer waits")
    assert sandbox.version() == 1
    assert not together(1, "c", base=1).reserved, "the writer comes first"
    writer.join()
    assert not together(2, "d").reserved, "the leader has not seen the writer's write"
    assert together(4, "e").reserved
    with pytest.raises(Overtaken):
        together(3, "f", base=3)
    assert sandbox.version() == 5


def test_a_reservation_has_an_end(sandbox: Sandbox) -> None:
    lease = sandbox.take_lease("worker", None)
    commit = encode_commit(Commit([write("a")], lease=lease, seen=0))
    assert sandbox.commit_together([commit], base=None, reserve=0.01).reserved
    assert sandbox.commit(Commit([write("b")])) == [2]


def test_commits_before_a_refused_one_are_stored_and_the_leader_then_writes_singly(sandbox: Sandbox) -> None:
    lease = sandbox.take_lease("worker", None)
    commits = [
        encode_commit(Commit([write(name)], lease=lease, seen=seen)) for seen, name in enumerate("aba")
    ]
    with pytest.raises(ApiError):
        sandbox.commit_together(commits, base=0, reserve=60)
    assert sandbox.version() == 2
    assert not sandbox.commit_together(
        [encode_commit(Commit([write("c")], lease=lease, seen=2))], base=2, reserve=60
    ).reserved


def test_no_leader_reserves_a_sandbox_that_is_nearly_full(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "objects", 1)
    commit = encode_commit(Commit([write("a")], lease=sandbox.take_lease("worker", None), seen=0))
    assert not sandbox.commit_together([commit], base=0, reserve=60).reserved
