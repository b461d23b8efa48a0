"""Every past moment is shown as it was: from a snapshot and the log, or from the archive and the live
streams."""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schedviz.loop import archive_writer
from schedviz.store import Commit, Gone, Sandbox, StaleLease, Store, archive
from schedviz.store.archive import Mark
from schedviz.store.commit_script import LIMITS, Committed
from schedviz.store.keys import Keys
from schedviz.store.recording import recording_lines
from simulator.api import SECOND, Change, Manifest
from simulator.decision import Decision
from simulator.recording import record_decoder
from simulator.replay import Replay
from simulator.trace import Event, LeaderElected, QueueMoved, QueuePlace
from tests.amounts import examples
from tests.loop.conftest import node, pod
from tests.loop.test_recording import assert_replay_equals
from tests.loop.world import Operation, World, operations

NODE_ENTRIES = 10
"""The entries of a node of a stream, which Redis trims as a whole."""


class Seen(NamedTuple):
    """The stored state after a commit of any writer."""

    mark: Mark
    objects: dict[str, dict[str, Manifest]]
    lanes: dict[str, QueuePlace]


class Witness:
    """Reads the sandbox after each commit, and keeps all trace events."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.seen: list[Seen] = []
        self.trace: list[Event] = []
        self.decisions: dict[int, Decision] = {}
        commit = Sandbox.commit_with_holder

        def witnessed(sandbox: Sandbox, written: Commit) -> Committed:
            committed = commit(sandbox, written)
            self.trace += written.trace
            self.decisions |= {decision.cycle: decision for decision in written.decisions}
            self.seen.append(Seen(sandbox.mark(), sandbox.list_all()[0], sandbox.queue_places()))
            return committed

        patch.setattr(Sandbox, "commit_with_holder", witnessed)

    def lanes_at(self, seq: int) -> dict[str, str]:
        """Return the lane of each pod as the moves of the trace have it."""
        lanes: dict[str, str] = {}
        for event in self.trace[:seq]:
            if isinstance(event, LeaderElected):
                lanes = {}
            elif isinstance(event, QueueMoved):
                lanes.pop(event.pod, None)
                if event.target:
                    lanes[event.pod] = event.target
        return lanes


@pytest.fixture
def short(store: Store) -> Iterator[pytest.MonkeyPatch]:
    """Short streams and chapters, and snapshots that take many steps."""
    with pytest.MonkeyPatch.context() as patch:
        for stream, length in (("log", 120), ("trace", 200), ("decisions", 40), ("journal", 120)):
            patch.setitem(LIMITS, stream, length)
        patch.setattr(archive_writer, "CHAPTER_WRITES", 12)
        patch.setattr(archive_writer, "SNAPSHOT_DISTANCE", 12)
        patch.setattr(archive_writer, "CHAPTER_DECISIONS", 8)
        patch.setattr(archive_writer, "CHAPTER_ENTRIES", 25)
        patch.setattr(archive_writer, "SNAPSHOT_WRITES", 30)
        patch.setattr(archive_writer, "SNAPSHOT_SECONDS", 0.0)
        # So small that the objects of one kind are also split into many pieces.
        patch.setattr("schedviz.store.objects.SCANNED", 4)
        small = {"stream-node-max-entries": NODE_ENTRIES, "hash-max-ziplist-entries": 8}
        before = {name: store.redis.config_get(name)[name] for name in small}
        for name, value in small.items():
            store.redis.config_set(name, value)
        yield patch
        for name, value in before.items():
            store.redis.config_set(name, value)


def check(sandbox: Sandbox, witness: Witness) -> int:
    """Check that every kept moment is as it was. Returns their number."""
    history = sandbox.history()
    reach = history.reach()
    assert reach
    assert reach.last == witness.seen[-1].mark
    last_with = {seen.mark.version: seen for seen in witness.seen}
    for version, seen in last_with.items():
        if version < reach.first.version:
            with pytest.raises(Gone):
                history.collection("pods", version)
            continue
        for resource, found in seen.objects.items():
            assert history.collection(resource, version) == [*found.values()]
        assert sandbox.list_at("pods", version).items == [*seen.objects.get("pods", {}).values()]
    for before, seen in zip(witness.seen, witness.seen[1:], strict=False):
        for seq in range(max(before.mark.seq, reach.first.seq) + 1, seen.mark.seq + 1):
            then = seen if seq == seen.mark.seq else before
            moment = sandbox.history().at_seq(seq, tail=5)
            assert (moment.mark.seq, moment.mark.version) == (seq, then.mark.version)
            assert moment.objects == {resource: found for resource, found in then.objects.items() if found}
            assert {pod: entry.lane for pod, entry in moment.queue_places.items()} == witness.lanes_at(seq)
            if then is seen:
                assert moment.queue_places == seen.lanes
            assert moment.decision in (None, witness.decisions.get(moment.mark.cycle))
            if then is seen:
                assert replace(moment.mark, now=seen.mark.now) == seen.mark
            assert [number for number, _ in moment.trace][-1] == seq
            assert moment.mark.now == witness.trace[seq - 1].t
    kept = sandbox.history().chapters[0].began
    assert sandbox.trace(kept.seq, 10_000) == [*enumerate(witness.trace, start=1)][kept.seq :]
    for chapter in sandbox.history().chapters:
        for cycle in range(chapter.began.cycle + 1, (chapter.ended or reach.last).cycle + 1):
            decision = sandbox.decision(cycle)
            assert decision == witness.decisions.get(cycle) or (decision is None and not chapter.decisions)
    for beyond in (reach.last.version + 1, 10**9):
        with pytest.raises(Gone):
            sandbox.history().collection("pods", beyond)
        with pytest.raises(Gone):
            sandbox.list_at("pods", beyond)
    for missing in (sandbox.history().chapters[0].began.seq - 1, reach.last.seq + 1):
        with pytest.raises(Gone):
            sandbox.history().at_seq(missing)
    return sum(version >= reach.first.version for version in last_with)


@pytest.mark.sampled
@settings(
    max_examples=examples(15),
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    derandomize=True,
    print_blob=False,
)
@given(story=st.lists(operations, min_size=30, max_size=50))
def test_every_past_moment_equals_the_recorded_one(
    store: Store, short: pytest.MonkeyPatch, story: list[Operation]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        witness = Witness(patch)
        world = World(store, seed=3, pace=SECOND // 4)
        world.perform(story)
        assert check(world.sandbox, witness) == len({seen.mark.version for seen in witness.seen})
        assert_replay_equals(store, world.sandbox)
        store.delete(world.sandbox.name)


def busy(world: World, rounds: range) -> None:
    """Pods are created, run for two seconds and are deleted."""
    for number in rounds:
        pods = [pod(f"r{number}-{i}", "300m") for i in range(3)]
        for each in pods:
            each["metadata"]["annotations"] = {"schedviz/run-seconds": "2"}
        world.create(*pods)
        world.let_time_pass(3)
        world.slice()
        for each in pods:
            world.delete("pods", f"default/{each['metadata']['name']}")
        world.slice()


def snapshots(sandbox: Sandbox) -> int:
    """The number of snapshots in the archive. How many steps one of them takes depends on the order in which
    Redis returns the fields of a hash, which differs with each server."""
    return sum(chapter.snapshot for chapter in sandbox.history().chapters)


def test_the_archive_has_what_the_streams_lost_and_permalinks_stay_valid(
    store: Store, short: pytest.MonkeyPatch
) -> None:
    witness = Witness(short)
    world = World(store)
    world.create(node("n0"), node("n1"))
    busy(world, range(12))
    world.take_over()
    busy(world, range(12, 24))
    sandbox = world.sandbox
    for further in range(24, 60):
        if snapshots(sandbox) > 2:
            break
        busy(world, range(further, further + 1))
    with pytest.raises(Gone):
        sandbox.events(0)
    assert (
        sandbox.live("trace", 0, 1) == sandbox.live("decisions", 0, 1) == sandbox.live("journal", 0, 1) == []
    )
    closed = sandbox.history().chapters[-2]
    assert not sandbox.live("journal", 0, closed.began.entry - NODE_ENTRIES)
    assert sandbox.live("journal", closed.began.entry, closed.began.entry + 1)
    reply = sandbox.packed("trace", closed.began.seq, closed.began.seq + 5)
    assert archive.unpack(zlib.compress(reply)) == archive.unpack(archive.pack(reply)), "older pages"
    assert sandbox.decision(1) == witness.decisions[1]
    assert sandbox.trace(0, 2) == [*enumerate(witness.trace[:2], start=1)]
    chapters = sandbox.history().chapters
    assert len(chapters) > 10
    assert len(chapters) > snapshots(sandbox) > 2
    assert check(sandbox, witness) > 100
    assert_replay_equals(store, sandbox)

    lease = sandbox.lease()
    assert lease
    world.take_over()
    world.slice()
    with pytest.raises(StaleLease):
        sandbox.archive.write(chapters, chapters[-1:], {}, lease)
    store.delete(sandbox.name)
    assert not store.redis.exists(Keys.of(sandbox.name).chapters, Keys.of(sandbox.name).pages)


@pytest.mark.long
def test_a_chapter_ends_before_large_writes_leave_the_log(store: Store, short: pytest.MonkeyPatch) -> None:
    """After a chapter whose log has a gap, the next one begins with a copy of all objects."""
    short.setitem(LIMITS, "log_bytes", 40_000)
    short.setattr(archive_writer, "CHAPTER_BYTES", 20_000)
    short.setattr(archive_writer, "CHAPTER_WRITES", 60)
    short.setattr(archive_writer, "CHAPTER_DECISIONS", 1_000)
    short.setattr(archive_writer, "CHAPTER_ENTRIES", 1_000)
    witness = Witness(short)
    world = World(store)
    world.create(node("n0"))
    world.slice()
    for number in range(30):
        large = pod(f"p{number}", cpu="1m")
        large["metadata"]["annotations"] = {"a": "x" * 3_000}
        world.create(large)
        world.slice()
    chapters = world.sandbox.history().chapters
    assert len(chapters) > 5
    assert all(world.sandbox.archive.page(chapter, "log") for chapter in chapters[:-1])
    assert check(world.sandbox, witness) == len({seen.mark.version for seen in witness.seen})
    store.delete(world.sandbox.name)


@pytest.mark.long
def test_the_oldest_chapters_are_deleted_beyond_the_bound(store: Store, short: pytest.MonkeyPatch) -> None:
    short.setattr(archive, "ARCHIVE_BYTES", 40_000)
    witness = Witness(short)
    world = World(store)
    world.create(node("n0"), node("n1"))
    world.slice()
    busy(world, range(24))
    chapters = world.sandbox.history().chapters
    no_more_to_drop = not any(chapter.snapshot for chapter in chapters[1:])
    assert sum(chapter.bytes for chapter in chapters) <= 40_000 or no_more_to_drop
    assert sum(chapter.bytes for chapter in chapters) < 60_000
    assert sum(chapter.decisions for chapter in chapters) <= 20_000
    assert chapters[0].number > 1
    pages = store.redis.hgetall(Keys.of(world.sandbox.name).pages)
    assert sum(map(len, pages.values())) == sum(chapter.bytes for chapter in chapters)
    assert world.sandbox.stored_bytes().archive == sum(chapter.bytes for chapter in chapters)
    assert 0 < check(world.sandbox, witness) < len({seen.mark.version for seen in witness.seen})
    with pytest.raises(Gone):
        [*recording_lines(world.sandbox)]
    world.take_over()
    world.slice()
    assert [*Replay(record_decoder.decode(line) for line in recording_lines(world.sandbox)).run()]
    store.delete(world.sandbox.name)


@pytest.mark.parametrize("led", [True, False])
def test_the_history_restarts_if_the_log_was_trimmed_before_it_was_read(
    store: Store, short: pytest.MonkeyPatch, led: bool
) -> None:
    world = World(store)
    world.create(node("n0"))
    world.slice()
    busy(world, range(3))
    known = world.sandbox.version()
    flood = [Change("configmaps", f"default/{i}", {"metadata": {}}, 0) for i in range(150)]
    if not led:
        world.take_over()
    world.sandbox.commit(Commit(flood))
    world.sandbox.commit(Commit([Change("configmaps", change.key, None) for change in flood]))
    witness = Witness(short)
    world.slice()
    busy(world, range(3, 6))
    sandbox = world.sandbox
    began = sandbox.history().chapters[-1].began.version
    with pytest.raises(Gone):
        sandbox.history().collection("pods", known + 150)
    seen = next(seen for seen in witness.seen if seen.mark.version > known + 300)
    assert sandbox.history().collection("pods", seen.mark.version) == [*seen.objects["pods"].values()]
    assert began > known + 300
    if led:
        with pytest.raises(Gone):
            [*recording_lines(sandbox)]
    else:
        assert [*Replay(record_decoder.decode(line) for line in recording_lines(sandbox)).run()]
    store.delete(sandbox.name)
