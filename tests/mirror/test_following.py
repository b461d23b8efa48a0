"""A mirror has the objects of its cluster, whatever happens to the connection and to the processes."""

import threading
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from schedviz.loop.mirror_silence import ENDED
from schedviz.mirror import run
from schedviz.mirror.first_lists import LEFT_OUT_FIRST
from schedviz.mirror.session import Cluster, MirrorError
from schedviz.mirror.writer import Followed
from schedviz.real_cluster import follow
from schedviz.store import Commit, Sandbox, Store
from schedviz.store.commit_script import LIMITS
from simulator.trace import AnyEvent, BindingJudged, FailureJudged, OutsideBound, PodRemoved
from simulator.versions.kubernetes_version import V1_35
from tests.access.conftest import new_client
from tests.loop.conftest import node, pod
from tests.loop.world import World
from tests.mirror.conftest import Start, stored
from tests.mirror.proxy import Proxy
from tests.waiting import eventually


def same(mirror: Sandbox, world: World) -> None:
    eventually(lambda: stored(mirror) == stored(world.sandbox), "the mirror has the objects of its cluster")


def test_it_has_what_the_cluster_has_and_the_acts_of_its_scheduler(world: World, start: Start) -> None:
    world.create(node("n0"), node("n1"), pod("before"))
    world.slice()
    mirror = start().sandbox
    assert stored(mirror) == stored(world.sandbox)
    meta = mirror.meta()
    assert meta.mirror
    assert meta.mirror.assumed[0] == (
        "Assumed: the scheduler v1.36.2; its default configuration; its default feature gates."
    )
    world.create(pod("later", cpu="3"), pod("large", cpu="9"))
    world.slice()
    world.patch("nodes", "n0", {"spec": {"unschedulable": True}})
    world.delete("pods", "default/before")
    world.delete("nodes", "n1")
    world.slice()
    same(mirror, world)

    def bound() -> list[str]:
        events = [event for _, event in mirror.trace_tail(100)]
        return [event.pod for event in events if isinstance(event, OutsideBound)]

    eventually(lambda: bound() == ["default/later"], "the binding is in the trace")

    def judged() -> set[tuple[str, str]]:
        events = [event for _, event in mirror.trace_tail(100)]
        return {(e.pod, e.verdict) for e in events if isinstance(e, BindingJudged | FailureJudged)}

    good = {("default/later", "agrees"), ("default/large", "agrees")}
    eventually(lambda: judged() == good, "the decisions are judged")
    kinds = [type(event) for _, event in mirror.trace_tail(100)]
    assert kinds.index(OutsideBound) < kinds.index(BindingJudged)

    def is_said() -> bool:
        return any("0/2 nodes are available" in event["message"] for event in mirror.list("events").items)

    eventually(is_said, "the Event is there, whose watch may be behind that of the pods")
    place = mirror.queue_place("default/large")
    assert place is not None
    assert "nodes are available: " in place.message


@pytest.mark.long
def test_it_goes_on_when_connections_are_cut_and_versions_expire(
    world: World, start: Start, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "BACK_OFF", (0.01, 0.05))
    world.create(node("n0"), pod("a"), pod("b"))
    world.slice()
    mirror = start()
    eventually(lambda: proxy.watches() >= len(mirror.session.follower.resources), "it watches")
    proxy.is_down = True
    proxy.cut()
    world.create(pod("c"), pod("d"))
    world.delete("pods", "default/a")
    world.slice()
    eventually(mirror.sandbox.failure, "it says that it is cut off")
    failure = mirror.sandbox.failure()
    assert failure
    assert failure.again == 0
    proxy.is_down = False
    same(mirror.sandbox, world)
    eventually(lambda: mirror.sandbox.failure() is None, "it is not cut off any more")
    # Version 1 is older than the log of any sandbox (410).
    for each in mirror.session.follower.followers:
        each.version = "1"
    lists = sum("watch" not in query for _, _, query in proxy.asked)
    proxy.cut()
    world.delete("pods", "default/b")
    world.delete("pods", "default/c")
    world.create(pod("c", cpu="2"))
    world.slice()
    same(mirror.sandbox, world)
    assert sum("watch" not in query for _, _, query in proxy.asked) > lists


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_the_objects_are_the_same_at_the_end(
    world: World, start: Start, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Random writes, among them names that are used again, while connections are cut, versions expire and the
    mirroring process is started again."""
    monkeypatch.setattr(follow, "BACK_OFF", (0.01, 0.05))
    random = Random(seed)
    classes = [{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 100}]
    world.create({**classes[0], "metadata": {"name": "high"}}, node("n0", cpu="2"), node("n1", cpu="2"))
    world.slice()
    mirror = start()
    for _ in range(80):
        name = f"p{random.randrange(12)}"
        match random.randrange(12):
            case 0 | 1 | 2 | 3:
                high = {"priorityClassName": "high"} if random.random() < 0.3 else {}
                world.create(pod(name, cpu=random.choice(["300m", "900m"]), **high))
            case 4 | 5:
                world.delete("pods", f"default/{name}")
            case 6:
                labels = {"of": str(random.random())}
                world.patch("pods", f"default/{name}", {"metadata": {"labels": labels}})
            case 7:
                world.patch("nodes", "n1", {"spec": {"unschedulable": random.random() < 0.5}})
            case 8:
                world.let_time_pass(random.choice([1, 40]))
            case 9:
                proxy.cut()
            case 10:
                for each in mirror.session.follower.followers:
                    each.version = "1"
                proxy.cut()
            case 11 if random.random() < 0.5:
                mirror.stop()
                world.create(pod(f"while-away-{random.randrange(100)}"))
                mirror = start()
        world.slice()
    same(mirror.sandbox, world)
    assert mirror.failure is None


@pytest.mark.long
def test_a_process_that_was_killed_is_followed_by_the_next(world: World, start: Start, store: Store) -> None:
    world.create(node("n0"), pod("a"))
    world.slice()
    first = start()
    first.stop()
    killed = first.sandbox.take_lease("mirror-killed", None)
    assert killed
    world.create(pod("b"))
    world.slice()
    second = start()
    assert stored(second.sandbox) == stored(world.sandbox)
    lease = second.sandbox.lease()
    assert lease
    assert lease.epoch > killed.epoch


@pytest.mark.long
def test_what_is_known_of_the_cluster_is_brought_up_to_date(world: World, start: Start, proxy: Proxy) -> None:
    """The cluster was upgraded, and a resource may be read by now."""
    proxy.allows = lambda _, path: "services" not in path
    world.create(node("n0"))
    world.slice()
    first = start()
    first.stop()
    before = first.sandbox.meta()
    assert before.mirror
    assert before.mirror.unknown
    first.sandbox.commit(Commit(meta=replace(before, kubernetes=V1_35.patch)))
    proxy.allows = lambda _, path: True
    after = start().sandbox.meta()
    assert after.mirror
    assert (after.kubernetes, after.mirror.unknown) == (before.kubernetes, [])
    assert after.created == before.created


@pytest.mark.long
def test_credentials_that_end_are_read_again(
    world: World,
    proxy: Proxy,
    store: Store,
    *,
    cluster_at: Callable[[str], Cluster],
    sandbox_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follow, "BACK_OFF", (0.01, 0.05))
    monkeypatch.setattr(run, "AGAIN_SECONDS", 0.1)
    world.create(node("n0"), pod("a"))
    world.slice()
    said: list[str] = []
    stopping = threading.Event()
    given = (store, sandbox_name, cluster_at(proxy.address), said.append, stopping)
    thread = threading.Thread(target=run.run_mirror, args=given, daemon=True)
    thread.start()
    mirror = store.handle(sandbox_name)
    eventually(lambda: said, "it follows")
    proxy.code = 401
    proxy.allows = lambda _, path: False
    proxy.cut()
    eventually(lambda: any("a new session begins" in each for each in said), "it begins anew")
    failure = mirror.failure()
    assert failure
    assert "does not accept the credentials" in failure.message
    world.create(pod("b"))
    world.slice()
    proxy.allows = lambda _, path: True
    same(mirror, world)
    eventually(lambda: mirror.failure() is None, "it follows again")
    stopping.set()
    thread.join()


@pytest.mark.long
def test_where_sandboxes_have_owners_only_its_link_shows_it(
    world: World, start: Start, store: Store, settings: Any
) -> None:
    world.create(node("n0"))
    world.slice()
    settings.ACCESS = "owners"
    mirror = start()
    [said] = [each for each in mirror.said if "/share/" in each]
    page = f"/s/{mirror.name}/"
    stranger, guest = new_client(), new_client()
    assert stranger.get(page).status_code == 403
    guest.get(said.rpartition(" ")[2])
    assert guest.get(page).status_code == 200


@pytest.mark.long
def test_a_new_process_stores_what_it_missed_and_one_at_a_time_mirrors(world: World, start: Start) -> None:
    world.create(node("n0"), pod("a"), pod("b"))
    world.slice()
    first = start()
    second = start(waits=False)
    eventually(lambda: second.failure, "the second one ends")
    assert isinstance(second.failure, MirrorError)
    assert "another process mirrors into" in str(second.failure)
    first.stop()
    failure = first.sandbox.failure()
    assert failure
    assert failure.message == ENDED
    world.delete("pods", "default/a")
    world.create(pod("c"))
    world.slice()
    version = first.sandbox.version()
    third = start()
    assert stored(third.sandbox) == stored(world.sandbox)
    assert third.sandbox.version() - version <= 6, "only what has changed is written"
    assert third.sandbox.failure() is None


@pytest.mark.long
def test_a_listener_hears_of_changes_in_order_and_its_events_are_stored(world: World, start: Start) -> None:
    heard: list[Followed] = []

    def listen(followed: Any) -> list[AnyEvent]:
        heard.extend(followed)
        return [PodRemoved(t=0, pod="said/by-the-listener", node="")] if followed else []

    world.create(node("n0"))
    world.slice()
    mirror = start(listen)
    world.create(pod("a"))
    world.slice()
    same(mirror.sandbox, world)
    bound = [each for each in heard if each.event.object.get("spec", {}).get("nodeName") == "n0"]
    assert bound
    assert bound[0].event.version == int(bound[0].event.object["metadata"]["resourceVersion"])
    stored_versions = [each.event.version for each in heard]
    assert stored_versions == sorted(stored_versions)
    for resource in {each.event.resource for each in heard}:  # each has a watch of its own
        real = [int(each.real_version) for each in heard if each.received and each.event.resource == resource]
        assert real == sorted(real)
    eventually(
        lambda: any(
            getattr(event, "pod", "") == "said/by-the-listener" for _, event in mirror.sandbox.trace_tail(50)
        ),
        "its event is in the trace",
    )


# What does not fit


@pytest.mark.long
def test_a_cluster_that_does_not_fit_is_refused_with_both_figures(
    world: World, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.create(node("n0"), *(pod(f"p{number}") for number in range(4)))
    world.slice()
    monkeypatch.setitem(LIMITS, "pods", 3)
    mirror = start(waits=False)
    eventually(lambda: mirror.failure, "it ends")
    assert str(mirror.failure) == (
        "the cluster does not fit: it has 4 pods that have not ended, and MAX_PODS_PER_SANDBOX is 3"
    )
    assert not mirror._store.exists(mirror.name)


@pytest.mark.long
def test_what_no_rule_reads_is_left_out_where_not_all_fits(
    world: World, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.create(node("n0"), pod("a"))
    world.slice()
    monkeypatch.setattr("schedviz.mirror.first_lists.MAX_OBJECTS", 8)
    mirror = start()
    assert mirror.sandbox.count("events") == 0
    unknown = mirror.sandbox.meta().mirror
    assert unknown
    assert any(each.startswith("events (no room)") for each in unknown.unknown)
    assert "events" in LEFT_OUT_FIRST
