"""The invariants of a stored sandbox after any fault. They are checked when its leader has observed all
writes, and its clock stands still or nothing is due."""

from collections import Counter, defaultdict
from typing import Any

import pytest

from schedviz.store import Commit, Sandbox, StaleLease, Store
from schedviz.store.keys import PREFIX
from schedviz.store.model import Lease
from simulator.api import Manifest
from simulator.objects.quantity import parse_quantity
from simulator.trace import Bound, Event
from tests.loop.test_recording import assert_replay_equals

FINISHED = ("Succeeded", "Failed")
ALL = 1_000_000
"""Entries of a stream."""

CHECKED = ("fits", "bound once", "kept", "one place", "stale leader", "replay")
"""The names of the invariants that :func:`assert_invariants` checks, for the table of the faults."""


def assert_invariants(
    store: Store, sandbox: Sandbox, acknowledged: list[Manifest], gone: tuple[str, ...] = ()
) -> None:
    """``acknowledged``: the objects of acknowledged writes, as clients got them. ``gone``: the keys of those
    that may have been deleted since."""
    assert_nodes_hold_their_pods(sandbox)
    assert_no_pod_is_bound_twice(sandbox)
    assert_nothing_is_lost(sandbox, acknowledged, gone)
    assert_each_pod_has_one_place(sandbox)
    assert_a_stale_leader_changes_nothing(store, sandbox)
    assert_replay_equals(store, sandbox)


def assert_nodes_hold_their_pods(sandbox: Sandbox) -> None:
    """No node is over its allocatable, and no two pods have the same port of one."""
    objects, _ = sandbox.list_all()
    on: dict[str, list[Manifest]] = defaultdict(list)
    for pod in objects.get("pods", {}).values():
        if not is_finished(pod) and (node := pod["spec"].get("nodeName")):
            on[node].append(pod)
    for name, pods in on.items():
        room = objects["nodes"][name]["status"]["allocatable"]
        asked: Counter[str] = Counter(pods=len(pods) * parse_quantity(1))
        ports: Counter[tuple[Any, ...]] = Counter()
        for pod in pods:
            for container in pod["spec"]["containers"]:
                for resource, quantity in container.get("resources", {}).get("requests", {}).items():
                    asked[resource] += parse_quantity(quantity)
                for port in container.get("ports", []):
                    if port.get("hostPort"):
                        ports[port["hostPort"], port.get("protocol", "TCP"), port.get("hostIP", "")] += 1
        assert {r: n for r, n in asked.items() if n > parse_quantity(room.get(r, 0))} == {}, name
        assert not ports or max(ports.values()) == 1, name


def assert_no_pod_is_bound_twice(sandbox: Sandbox) -> None:
    """Check this by the watch log, in which the node of a pod never changes, and by the trace."""
    nodes: dict[str, str] = {}
    for event in sandbox.events(sandbox.origin().version, ALL):
        if event.resource == "pods" and (node := event.object["spec"].get("nodeName")):
            assert nodes.setdefault(event.object["metadata"]["uid"], node) == node, event.key
    bound = Counter(event.pod for event in trace(sandbox) if isinstance(event, Bound))
    assert not bound or max(bound.values()) == 1, bound.most_common(3)


def assert_nothing_is_lost(
    sandbox: Sandbox, acknowledged: list[Manifest], gone: tuple[str, ...] = ()
) -> None:
    """The objects are those of the watch log, which has no gap, and the acknowledged objects are among
    them."""
    objects, version = sandbox.list_all()
    logged: dict[str, dict[str, Manifest]] = defaultdict(dict)
    first = sandbox.origin().version + 1
    entries = sandbox.events(first - 1, ALL)
    assert [event.version for event in entries] == [*range(first, version + 1)]
    for event in entries:
        if event.type == "DELETED":
            del logged[event.resource][event.key]
        else:
            logged[event.resource][event.key] = event.object
    assert {r: found for r, found in logged.items() if found} == {r: o for r, o in objects.items() if o}
    stored = {o["metadata"]["uid"] for found in objects.values() for o in found.values()}
    for manifest in acknowledged:
        metadata = manifest["metadata"]
        key = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
        assert metadata["uid"] in stored or key in gone, f"{manifest['kind']} {key} is lost"


def assert_each_pod_has_one_place(sandbox: Sandbox) -> None:
    """A pod is bound, or finished, or in one lane of the queue (the store has one lane for each pod)."""
    assert sandbox.version() == sandbox.progress()[0], "the leader has seen all"
    pods = sandbox.list_all()[0].get("pods", {})
    pending = {k: p for k, p in pods.items() if not p["spec"].get("nodeName") and not is_finished(p)}
    assert {pod: lane.uid for pod, lane in sandbox.queue_places().items()} == {
        key: pod["metadata"]["uid"] for key, pod in pending.items()
    }


def assert_a_stale_leader_changes_nothing(store: Store, sandbox: Sandbox) -> None:
    """Commit with the lease of the previous leader, and with none."""
    held = sandbox.lease()
    assert held
    stale = Lease("stale", held.epoch - 1, held.acquired, held.renewed)
    before = everything(store, sandbox)
    clock = sandbox.clock()
    for write in (
        lambda: sandbox.commit(Commit(lease=stale, under_way=None)),
        lambda: sandbox.archive.write([], [], {}, stale),
        lambda: sandbox.set_clock(clock.rebased(sandbox.wall(), speed=2.0), clock, stale),
        lambda: sandbox.set_failure(None, stale),
    ):
        with pytest.raises(StaleLease):
            write()
    assert sandbox.renew_lease(stale) is None
    assert sandbox.take_lease("stale", stale) is None
    assert sandbox.take_lease("stale", None) is None
    sandbox.release_lease(stale)
    sandbox.break_watch(stale)
    assert everything(store, sandbox) == before


def everything(store: Store, sandbox: Sandbox) -> dict[bytes, bytes]:
    """All that is stored of a sandbox, without the time at which its lease was renewed."""
    keys = sorted(store.redis.keys(f"{PREFIX}:{{{sandbox.name}}}:*"))
    found = {key: store.redis.dump(key) or b"" for key in keys if not key.endswith(b":state")}
    for key in keys:
        if key.endswith(b":state"):
            fields = store.redis.hgetall(key)
            found |= {name: value for name, value in fields.items() if name != b"renewed"}
    return found


def is_finished(pod: Manifest) -> bool:
    return pod.get("status", {}).get("phase") in FINISHED


def trace(sandbox: Sandbox) -> list[Event]:
    return [event for _, event in sandbox.trace(0, ALL)]
