"""After any writes, a cache that was updated equals a new cache."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from schedviz.cache import Caches, Present
from schedviz.cache import caches as caches_module
from schedviz.cache import sandbox_cache as module
from schedviz.cache.caches import caches_of
from schedviz.store import Clock, Commit, Failure, Meta, NoSandbox, Sandbox, Store
from schedviz.store.commit_script import LIMITS
from simulator.api import Change
from simulator.trace import Bound, Nominated, QueueMoved
from tests.amounts import examples
from tests.round_trips import round_trips
from tests.store.test_changes import lane
from tests.threads import at_once
from tests.waiting import PATIENCE

KEYS = ("default/a", "default/b", "other/c")
RESOURCES = ("pods", "nodes")


def manifest(key: str, value: int) -> dict[str, Any]:
    namespace, _, name = key.partition("/")
    return {"metadata": {"namespace": namespace, "name": name}, "spec": {"value": value, "nodeName": "n"}}


def said(present: Present | Sandbox) -> dict[str, Any]:
    """All reads of a sandbox except those that need the store."""
    return {
        "version": present.version(),
        "meta": present.meta(),
        "clock": present.clock(),
        "objects": {resource: present.list(resource) for resource in RESOURCES},
        "all": {resource: found for resource, found in present.list_all()[0].items() if found},
        "names": {resource: sorted(present.names(resource)) for resource in RESOURCES},
        "counts": {resource: present.count(resource) for resource in RESOURCES},
        "cycle": present.last_cycle(),
        "one": [present.get("pods", key) for key in KEYS],
        "found": [present.find("pods", key) for key in KEYS],
        "in a namespace": present.list("pods", "default"),
        "starting": sorted(item["metadata"]["name"] for item in present.starting_with("pods", "default/")),
        "speaking": sorted(item["metadata"]["name"] for item in present.speaking_of("pods", "n")),
        "trace": present.trace_tail(50),
        "head": present.trace_head(),
        "lanes": present.queue(),
        "lease": (found := present.lease()) and (found.holder, found.epoch),
        "failure": present.failure(),
        "decision": present.last_decision(),
        "under_way": present.under_way(),
    }


class Writer:
    """Random writes, independent of the stored objects."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.sandbox = store.create(Meta(name))
        self.count = 0

    def write(self, resource: str, key: str, *, delete: bool) -> None:
        there = self.sandbox.get(resource, key)
        self.count += 1
        if delete and there is None:
            return
        expected = int(there["metadata"]["resourceVersion"]) if there else 0
        event = Bound(self.count, self.count, key, "n")
        change = Change(resource, key, None if delete else manifest(key, self.count), expected)
        self.sandbox.commit(Commit([change], trace=[event]))

    def clock(self, speed: float) -> None:
        self.sandbox.set_clock(Clock(self.count, 0.0, speed))

    def lead(self, holder: str) -> None:
        lease = self.sandbox.lease()
        if holder:
            self.sandbox.take_lease(holder, lease)
        elif lease:
            self.sandbox.release_lease(lease)

    def fail(self, times: int) -> None:
        self.sandbox.set_failure(Failure("x", times, 0.0, 0.0) if times else None)

    def place(self, key: str, *, reset: bool, leaves: bool) -> None:
        self.count += 1
        self.sandbox.commit(
            Commit(queue_places={key: None if leaves else lane(key, self.count)}, reset_queue_places=reset)
        )

    def describe(self, title: str) -> None:
        self.sandbox.commit(Commit(meta=Meta(self.sandbox.name, title=title)))

    def many(self, count: int) -> None:
        """More writes than the log holds."""
        for number in range(count):
            self.write("nodes", f"default/{number}", delete=False)

    def replace(self) -> None:
        self.store.delete(self.sandbox.name)
        self.sandbox = self.store.create(Meta(self.sandbox.name))


KEY = st.sampled_from(KEYS)
WRITES = st.one_of(
    st.builds(
        lambda resource, key, delete: lambda writer: writer.write(resource, key, delete=delete),
        st.sampled_from(RESOURCES), KEY, st.booleans(),
    ),
    st.builds(lambda speed: lambda writer: writer.clock(speed), st.sampled_from([1.0, 2.0])),
    st.builds(lambda holder: lambda writer: writer.lead(holder), st.sampled_from(["", "v", "w"])),
    st.builds(lambda times: lambda writer: writer.fail(times), st.sampled_from([0, 1, 2])),
    st.builds(
        lambda key, reset, leaves: lambda writer: writer.place(key, reset=reset, leaves=leaves),
        KEY, st.booleans(), st.booleans(),
    ),
    st.builds(lambda title: lambda writer: writer.describe(title), st.sampled_from(["x", "y"])),
    st.just(lambda writer: writer.many(12)),
    st.just(lambda writer: writer.replace()),
)  # fmt: skip


# Without shrinking, which takes minutes and makes the example no clearer.
@pytest.mark.sampled
@settings(max_examples=examples(40), phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(st.lists(WRITES, max_size=5), max_size=8))
def test_a_cache_equals_a_new_read_of_the_store(
    store: Store, bursts: list[list[Callable[[Writer], None]]]
) -> None:
    name = "cache-equals"
    if name in store.names():
        store.delete(name)
    writer, caches = Writer(store, name), Caches(store)
    before = caches.read(name)
    kept = said(before)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LIMITS, "log", 10)
        patch.setitem(LIMITS, "moves", 10)
        for burst in bursts:
            for write in burst:
                write(writer)
            present = caches.read(name)
            assert said(present) == said(Caches(store).read(name))
            assert {**said(present), "trace": ()} == {**said(writer.sandbox), "trace": ()}
    assert said(before) == kept, "what was handed out does not change"
    store.delete(name)


def test_a_process_reads_its_own_write(store: Store, sandbox: Sandbox) -> None:
    caches = caches_of(store)

    def write_and_read(number: int) -> None:
        for turn in range(20):
            key = f"default/{number}-{turn}"
            sandbox.commit(Commit([Change("pods", key, manifest(key, 1), 0)]))
            assert caches.read(sandbox.name).get("pods", key)

    assert at_once(write_and_read) == [None] * 8


def test_a_sandbox_read_before_is_read_in_one_round_trip(store: Store, sandbox: Sandbox) -> None:
    changes = [Change("pods", key, manifest(key, 1), 0) for key in KEYS]
    sandbox.commit(Commit(changes, trace=[Bound(1, 1, KEYS[0], "n")]))
    caches = caches_of(store)
    caches.read(sandbox.name)
    sandbox.set_clock(Clock(5, 0.0))
    with round_trips() as count:
        said(caches.read(sandbox.name))
    assert count() == 1


def test_a_cache_drops_a_deleted_sandbox_and_reads_a_new_one_of_its_name(
    store: Store, sandbox: Sandbox
) -> None:
    caches = caches_of(store)
    sandbox.commit(Commit([Change("pods", KEYS[0], manifest(KEYS[0], 1), 0)]))
    caches.read(sandbox.name)
    store.delete(sandbox.name)
    with pytest.raises(NoSandbox):
        caches.read(sandbox.name)
    store.create(Meta(sandbox.name))
    assert caches.read(sandbox.name).list("pods").items == []


@pytest.mark.parametrize("bound", ["OBJECT_BYTES", "ALL_OBJECT_BYTES"])
def test_objects_of_a_sandbox_too_large_for_the_cache_are_read_from_the_store(
    store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(module, "ALWAYS_HELD_BYTES", 100)
    monkeypatch.setattr(caches_module, bound, 150)
    caches = Caches(store)
    caches.read(sandbox.name)
    for key in KEYS:
        sandbox.commit(Commit([Change("pods", key, manifest(key, 1), 0)], queue_places={key: lane(key)}))
        assert said(caches.read(sandbox.name)) == said(sandbox)
    assert said(Caches(store).read(sandbox.name)) == said(sandbox)
    assert caches.read(sandbox.name)._objects is None


def test_caches_without_followers_are_dropped_after_some_time(
    store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    caches = Caches(store)
    caches.read(sandbox.name)
    assert caches.held_cache(sandbox.name)
    followed = caches.follow(store.create(Meta(f"{sandbox.name[:50]}-2")).name)
    monkeypatch.setattr(caches_module, "KEPT_SECONDS", -1.0)
    third = store.create(Meta(f"{sandbox.name[:50]}-3"))
    caches.read(third.name)
    assert caches.held_cache(sandbox.name) is None
    assert caches.follow(followed.name) is followed
    for _ in range(2):
        caches.unfollow(followed)
    for name in (followed.name, third.name):
        store.delete(name)


def test_events_are_found_by_every_pod_and_node_that_they_name(store: Store, sandbox: Sandbox) -> None:
    events = [
        Nominated(1, 1, "default/a", "n", ["default/v"], 1, 1),
        QueueMoved(2, "default/v", "", "activeQ", "PodAdd"),
        Bound(3, 2, "default/b", "m"),
    ]
    sandbox.commit(Commit(trace=events))
    present = caches_of(store).read(sandbox.name)
    assert [number for number, _ in present.about_pod("default/v")] == [1, 2]
    assert [number for number, _ in present.about_pod("default/b")] == [3]
    assert [number for number, _ in present.about_node("n")] == [1]
    assert present.about_pod("default/none") == []


async def test_the_cache_of_a_followed_sandbox_is_updated_automatically(
    store: Store, sandbox: Sandbox
) -> None:
    caches, changed = caches_of(store), asyncio.Event()
    cache = caches.follow(sandbox.name)
    cache.listeners.add(changed)
    try:
        await asyncio.to_thread(cache.refresh)
        first = cache.present()
        await asyncio.to_thread(sandbox.commit, Commit([Change("pods", KEYS[0], manifest(KEYS[0], 1), 0)]))
        while (position := cache.position) is None or position.version < 1:
            changed.clear()
            async with asyncio.timeout(PATIENCE):
                await changed.wait()
        news = cache.news(first, ("pods",))
        assert news
        assert [event.entry.key for event in news.events] == [KEYS[0]]
        assert caches.followed(sandbox.name)
    finally:
        cache.listeners.remove(changed)
        caches.unfollow(cache)
    assert caches.followed(sandbox.name) is None
