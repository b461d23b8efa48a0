"""The commit: all or nothing after any refusal, and never by a former leader."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from schedviz.store import (
    CollectionChanged,
    Commit,
    NoSandbox,
    Sandbox,
    SandboxExists,
    StaleLease,
    Store,
    StoreError,
)
from schedviz.store.commit_script import LIMITS
from schedviz.store.model import Clock, Failure, Meta
from simulator.api import ApiError, Change, WatchEvent
from simulator.apiserver.bounds import MAX_OBJECT_BYTES
from simulator.client.informer import Informer
from simulator.trace import Bound, QueuePlace


def pod(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {}, "finalizers": []},
        "spec": {"containers": [], **spec},
    }


def create(name: str, **spec: Any) -> Change:
    return Change("pods", f"default/{name}", pod(name, **spec), expected=0)


def everything(sandbox: Sandbox) -> tuple[object, ...]:
    """All that a commit can write, to compare before and after."""
    return (
        sandbox.list_all(),
        sandbox.events(0),
        sandbox.trace(0),
        sandbox.queue_places(),
        sandbox.last_decision(),
        sandbox.progress(),
    )


def test_a_stored_manifest_is_read_as_it_was_written_with_its_version(sandbox: Sandbox) -> None:
    assert sandbox.commit(Commit([create("a"), create("b")])) == [1, 2]
    assert sandbox.commit(Commit([Change("pods", "default/a", pod("a", nodeName="n"), expected=1)])) == [3]

    expected = pod("a", nodeName="n")
    expected["metadata"]["resourceVersion"] = "3"
    assert sandbox.get("pods", "default/a") == expected
    listing = sandbox.list("pods")
    assert [item["metadata"]["name"] for item in listing.items] == ["a", "b"]
    assert listing.version == sandbox.version() == 3
    assert sandbox.resources() == ["pods"]

    sandbox.commit(Commit([Change("pods", "default/a", None)]))
    assert sandbox.get("pods", "default/a") is None
    assert [(event.type, event.key, event.version) for event in sandbox.events(0)] == [
        ("ADDED", "default/a", 1),
        ("ADDED", "default/b", 2),
        ("MODIFIED", "default/a", 3),
        ("DELETED", "default/a", 4),
    ]
    last = sandbox.events(3)[0].object
    assert last == {**expected, "metadata": {**expected["metadata"], "resourceVersion": "4"}}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (create("a"), "AlreadyExists"),
        (Change("pods", "default/a", pod("a"), expected=7), "Conflict"),
        (Change("pods", "default/a", None, expected=7), "Conflict"),
        (Change("pods", "default/gone", pod("gone")), "NotFound"),
        (Change("pods", "default/gone", pod("gone"), expected=1), "NotFound"),
        (Change("pods", "default/gone", None), "NotFound"),
    ],
)
def test_one_refused_object_refuses_the_whole_commit(sandbox: Sandbox, change: Change, reason: str) -> None:
    sandbox.commit(Commit([create("a")]))
    before = everything(sandbox)
    lane = QueuePlace("default/b", "", "activeQ", 0, 0, 0, 1)

    with pytest.raises(ApiError) as refused:
        sandbox.commit(
            Commit(
                [create("b"), change],
                trace=[Bound(1, 1, "default/b", "n")],
                queue_places={"default/b": lane},
                now=5,
                seen=1,
            )
        )

    assert (refused.value.reason, refused.value.key) == (reason, change.key)
    assert everything(sandbox) == before


def test_a_collection_written_since_it_was_read_refuses_the_commit(sandbox: Sandbox) -> None:
    sandbox.commit(Commit([create("a")]))
    read = sandbox.list("pods").version
    # Only pods count.
    sandbox.commit(Commit([Change("nodes", "n", pod("n"), expected=0)], unchanged={"pods": read}))
    sandbox.commit(Commit([create("b")], unchanged={"pods": sandbox.version()}))
    before = everything(sandbox)

    with pytest.raises(CollectionChanged) as refused:
        sandbox.commit(Commit([create("c")], unchanged={"nodes": 2, "pods": read}))

    assert refused.value.resource == "pods"
    assert everything(sandbox) == before


def test_a_stale_lease_holder_can_change_nothing(sandbox: Sandbox) -> None:
    first = sandbox.take_lease("w1", None)
    assert first is not None
    assert sandbox.take_lease("w2", None) is None  # it is held
    second = sandbox.take_lease("w2", first)
    assert second is not None
    assert sandbox.lease() == second
    before = everything(sandbox)

    for write in (
        lambda: sandbox.commit(Commit([create("a")], lease=first)),
        lambda: sandbox.commit(Commit(lease=first, trace=[Bound(1, 1, "default/b", "n")], now=1)),
        lambda: sandbox.set_clock(Clock(5, 0.0), lease=first),
        lambda: sandbox.set_failure(Failure("x", 1, 0.0, 1.0), first),
    ):
        with pytest.raises(StaleLease):
            write()
    assert sandbox.renew_lease(first) is None
    sandbox.release_lease(first)

    assert everything(sandbox) == before
    assert sandbox.lease() == second
    assert sandbox.commit(Commit([create("a")], lease=second)) == [1]
    renewal = sandbox.renew_lease(second)
    assert renewal is not None
    assert sandbox.lease() == renewal.lease
    assert (renewal.clock, renewal.version) == (sandbox.clock(), 1)
    assert renewal.breaks == 0
    sandbox.break_watch(first)
    sandbox.break_watch(second)
    again = sandbox.renew_lease(second)
    assert again is not None
    assert again.breaks == 1, "that of the leader, and of no other"
    sandbox.release_lease(again.lease)
    assert sandbox.lease() is None
    third = sandbox.take_lease("w1", None)
    assert third is not None
    assert third.epoch > second.epoch


def test_one_of_many_writers_that_expect_the_same_version_succeeds_in_each_round(
    sandbox: Sandbox, store: Store
) -> None:
    """A counter raised by compare-and-swap from eight threads: no increment is lost, none counted twice."""
    sandbox.commit(Commit([create("counter", count=0)]))
    rounds, writers = 20, 8
    conflicts: list[str] = []

    def write() -> None:
        own = store.sandbox(sandbox.name)
        done = 0
        while done < rounds:
            current = own.get("pods", "default/counter")
            assert current is not None
            version = int(current["metadata"]["resourceVersion"])
            current["spec"]["count"] += 1
            try:
                own.commit(Commit([Change("pods", "default/counter", current, expected=version)]))
            except ApiError as error:
                conflicts.append(error.reason)
            else:
                done += 1

    threads = [threading.Thread(target=write) for _ in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    counter = sandbox.get("pods", "default/counter")
    assert counter is not None
    assert counter["spec"]["count"] == rounds * writers
    assert set(conflicts) <= {"Conflict"}
    assert [event.version for event in sandbox.events(0)] == list(range(1, rounds * writers + 2))


def test_the_decision_of_a_cycle_is_written_once_only(
    sandbox: Sandbox, make_decision: Callable[[int], Any]
) -> None:
    sandbox.commit(Commit(decisions=[make_decision(1), make_decision(3)]))
    assert sandbox.decision(1) == make_decision(1)
    assert sandbox.decision(2) is None
    assert sandbox.last_decision() == make_decision(3)
    before = everything(sandbox)
    with pytest.raises(AssertionError, match="CycleRepeats"):
        sandbox.commit(Commit([create("a")], decisions=[make_decision(3)]))
    assert everything(sandbox) == before


def test_the_loop_has_observed_its_own_write_unless_others_wrote_in_between(
    sandbox: Sandbox, store: Store
) -> None:
    sandbox.commit(Commit([create("a")]))
    assert sandbox.name in store.unseen()
    sandbox.commit(Commit([create("b")], seen=1, now=1_800_000_000_123_456))
    assert sandbox.progress() == (2, 1_800_000_000_123_456, 0)
    sandbox.commit(Commit([create("c")]))
    sandbox.commit(Commit([create("d")], seen=2))
    assert sandbox.progress()[0] == 2
    assert sandbox.name in store.unseen()


def test_lanes_are_patched_or_replaced(sandbox: Sandbox) -> None:
    a, b = (QueuePlace(f"default/{name}", name, "activeQ", 0, 0, 0, 1) for name in "ab")
    sandbox.commit(Commit(queue_places={a.pod: a, b.pod: b}))
    sandbox.commit(Commit(queue_places={b.pod: None}))
    assert sandbox.queue_places() == {a.pod: a}
    sandbox.commit(Commit(queue_places={b.pod: b}, reset_queue_places=True))
    assert sandbox.queue_places() == {b.pod: b}


def test_the_pipeline_is_that_of_the_last_commit(sandbox: Sandbox) -> None:
    assert sandbox.pipeline() is None
    informer = Informer()
    informer.watch(WatchEvent("ADDED", "pods", "default/a", {"metadata": {"name": "a"}}, 1))
    sandbox.commit(Commit(pipeline=informer.pipeline()))
    sandbox.commit(Commit([create("a")]))
    assert sandbox.pipeline() == informer.pipeline()


def test_a_sandbox_is_created_once_and_a_recreated_one_continues_the_versions(
    store: Store, sandbox: Sandbox
) -> None:
    name = sandbox.name
    with pytest.raises(SandboxExists):
        store.create(Meta(name=name))
    sandbox.commit(Commit([create("a")]))
    old = sandbox.take_lease("w", None)
    store.delete(name)
    with pytest.raises(NoSandbox):
        store.delete(name)
    for use in (
        sandbox.meta,
        sandbox.version,
        lambda: sandbox.events(0),
        lambda: sandbox.commit(Commit([create("b")])),
    ):
        with pytest.raises(NoSandbox):
            use()
    assert list(store.redis.scan_iter(f"schedviz:{{{name}}}:*")) == [f"schedviz:{{{name}}}:state".encode()]

    anew = store.create(Meta(name=name, title="anew"), [create("b")])
    assert anew.meta().title == "anew"
    assert anew.version() == 2
    assert anew.lease() is None
    with pytest.raises(StaleLease):
        anew.commit(Commit(lease=old))


def test_a_creation_that_fails_leaves_no_sandbox(store: Store, sandbox_name: str) -> None:
    with pytest.raises(ApiError):
        store.create(Meta(name=sandbox_name), [create("a"), Change("pods", "default/b", None)])
    with pytest.raises(NoSandbox):
        store.sandbox(sandbox_name)
    assert sandbox_name not in {meta.name for meta in store.sandboxes()}


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a_b", "a{b}", "a" * 64, "a\n"])
def test_a_name_that_is_no_dns_label_is_refused(store: Store, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        store.create(Meta(name=name))


def test_a_commit_beyond_a_bound_gets_an_error_that_names_the_bound(
    sandbox: Sandbox, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from schedviz.store import store as store_module

    monkeypatch.setitem(LIMITS, "objects", 4)
    monkeypatch.setitem(LIMITS, "resources", 2)
    sandbox.commit(Commit([create("a"), create("b")]))
    before = everything(sandbox)
    of_new_kinds = [Change(kind, "x", pod("x"), expected=0) for kind in ("k1", "k2")]
    refused: list[tuple[str, Callable[[], object]]] = [
        ("objects", lambda: sandbox.commit(Commit([create("c"), create("d"), create("e")]))),
        ("kinds", lambda: sandbox.commit(Commit(of_new_kinds))),
        ("bytes", lambda: sandbox.commit(Commit([create("c", text="x" * MAX_OBJECT_BYTES)]))),
        ("one commit", lambda: sandbox.commit(Commit([create(str(i)) for i in range(10_001)]))),
    ]
    for words, use in refused:
        with pytest.raises(StoreError, match=words):
            use()
        assert everything(sandbox) == before
    sandbox.commit(
        Commit([Change("pods", "default/a", None), create("c"), create("d"), create("e")])
    )  # three more, one less

    monkeypatch.setattr(store_module, "MAX_SANDBOXES", 1)
    with pytest.raises(StoreError, match="sandboxes"):
        store.create(Meta(name=f"{sandbox.name[:50]}-2"))


def test_a_commit_is_not_stored_twice_when_redis_forgets_its_scripts(sandbox: Sandbox, store: Store) -> None:
    sandbox.commit(Commit([create("a")]))
    store.redis.script_flush()
    assert sandbox.commit(Commit([create("b")], trace=[Bound(1, 1, "default/b", "n")])) == [2]
    assert sandbox.trace_head() == 1


def test_objects_are_found_by_a_name_in_them(sandbox: Sandbox) -> None:
    manifests = {
        name: {"metadata": {"name": name}, "spec": {"nodeName": node}}
        for name, node in [("a", "n1"), ("b", "n10")]
    }
    sandbox.commit(Commit([Change("pods", name, manifest, 0) for name, manifest in manifests.items()]))
    assert [found["metadata"]["name"] for found in sandbox.speaking_of("pods", "n1")] == ["a"]


def test_the_objects_of_a_namespace_are_listed_by_their_names(sandbox: Sandbox) -> None:
    keys = ["a/y", "a/x", "ab/z", "b/a"]
    sandbox.commit(Commit([Change("pods", key, {"metadata": {"name": key}}, 0) for key in keys]))
    names = {
        namespace: [found["metadata"]["name"] for found in sandbox.list("pods", namespace).items]
        for namespace in ("a", "ab", "*", "?", "[ab]", "\\a")
    }
    assert names == {"a": ["a/x", "a/y"], "ab": ["ab/z"], "*": [], "?": [], "[ab]": [], "\\a": []}


def test_a_write_after_a_list_of_a_namespace_is_noticed(sandbox: Sandbox) -> None:
    sandbox.commit(Commit([create("a")]))
    for read in (sandbox.list("pods", "default"), sandbox.find("pods", "default/a")):
        assert [item["metadata"]["name"] for item in read.items] == ["a"]
        sandbox.commit(Commit([Change("pods", "default/a", pod("a"))]))
        with pytest.raises(CollectionChanged):
            sandbox.commit(Commit([create("b")], unchanged={"pods": read.version}))
    assert sandbox.find("pods", "default/b").items == []
