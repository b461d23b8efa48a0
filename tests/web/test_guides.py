"""The guides: the box describes the visitor's own pod, and no other."""

import re
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz.api import write
from schedviz.store import Clock, Meta, Store
from schedviz.store.past import Readable
from schedviz.web import examples, guides
from schedviz.web.act import Act
from schedviz.web.guide.course import CourseView, present_course
from simulator import trace
from simulator.api import Manifest
from simulator.decision import Decision, UnderWay

from . import samples

GUIDE = guides.guides()[guides.FIRST]
ACT = Act(1.0, "default/web", "uid-web", seq=10)


@pytest.fixture
def client(store: Store) -> Iterator[Client]:
    yield Client(headers={"host": "localhost"})
    for meta in store.sandboxes():
        if examples.is_example(meta):
            store.delete(meta.name)


class Cluster:
    """The records from which the course of a pod is read."""

    def __init__(self, pod: Manifest | None, **given: Any) -> None:
        self.pod = pod
        self.given = given

    def get(self, resource: str, key: str) -> Manifest | None:
        others: dict[str, Manifest] = self.given.get("pods", {})
        return self.pod if (resource, key) == ("pods", "default/web") else others.get(key)

    def about_pod(self, key: str) -> list[tuple[int, trace.Event]]:
        return self.given.get("trace", [])  # type: ignore[no-any-return]

    def decision(self, cycle: int) -> Decision | None:
        return self.given.get("decision")

    def under_way(self) -> UnderWay | None:
        return self.given.get("under_way")

    def queue_place(self, key: str) -> trace.QueuePlace | None:
        return self.given.get("lane")

    def clock(self) -> Clock:
        return Clock(samples.START, 1.0, paused=self.given.get("paused", True))


def course(pod: Manifest | None, **given: Any) -> CourseView:
    return present_course(cast(Readable, Cluster(pod, **given)), ACT)


def nominated(seq: int, pod: str = "default/web") -> tuple[int, trace.Event]:
    return seq, trace.Nominated(samples.START, 7, pod, "n1", ["default/n1-0"], 2, 2)


EVICTED = (13, trace.VictimDeleted(samples.START, 7, "default/n1-0", "n1", "default/web", 30))


def test_each_guide_has_an_example_a_pod_that_fits_the_form_and_another_guide_after_it() -> None:
    known = [*guides.guides().values()]
    assert [guides.next_guide(each) for each in known] == [*known[1:], None]
    for guide in known:
        made = guide.example.scenario
        classes = {each["metadata"]["name"] for each in made.manifests if each["kind"] == "PriorityClass"}
        assert guide.pod["priority_class"] in classes
        assert not [each for each in made.manifests if each["kind"] == "Timetable"], "a board without events"


def test_the_course_goes_from_the_queue_over_the_eviction_to_the_node() -> None:
    decision = samples.preempting(2, "n1", samples.candidate("n1", 100), samples.candidate("n2", 500))
    waiting, victims = samples.pod("web", nominated="n1"), [nominated(12), EVICTED]
    terminating = {"default/n1-0": samples.pod("n1-0", node="n1", deleted="2027-01-15T08:00:00Z")}
    first = course(samples.pod("web"), lane=samples.lane("web", "activeQ"))
    assert (first.stage, first.step, first.place, first.cycle) == ("queue", "cycle", 0, 0)
    assert course(samples.pod("web"), paused=False).step == "", "a running scheduler needs no step"
    lane = samples.lane("web", "unschedulable")
    second = course(waiting, trace=victims, decision=decision, lane=lane, pods=terminating)
    assert (second.stage, second.step, second.place, second.cycle) == ("evicting", "bound", 1, 7)
    assert "chose n1 and evicts n1-0; web waits until it has ended" in second.text
    ended = course(waiting, trace=victims, decision=decision, lane=lane)
    assert "evicted n1-0. It has ended: web waits for its next attempt" in ended.text
    # A victim that was being deleted already is not evicted.
    for there, said in ((terminating, "waits until these have ended: n1-0."), ({}, "for its next attempt.")):
        alone = course(waiting, trace=[nominated(12)], decision=decision, lane=lane, pods=there)
        assert (alone.stage, alone.cycle) == ("evicting", 0)
        assert alone.text.endswith(said)
        assert "evict" not in alone.text
    third = course(samples.pod("web", node="n1"), trace=victims, decision=decision)
    assert (third.stage, third.step, third.place, third.ended) == ("bound", "", 2, True)
    assert "n1-0 was evicted from n1, because web fitted no node" in third.text
    assert "100 against 1000" in third.text
    assert third.because.startswith("Rule 2 decided")


def test_the_course_describes_the_ends_without_a_preemption() -> None:
    own = (11, trace.Bound(samples.START, 7, "default/web", "n1"))
    bound = course(samples.pod("web", node="n1"), trace=[own])
    assert (bound.ended, bound.cycle) == (True, 0)
    assert "It fitted there: no pod was evicted for it" in bound.text
    # A client, or an outside scheduler, may have bound it: then nothing is known of a reason.
    for events in ([], [(9, own[1])]):
        assert course(samples.pod("web", node="n1"), trace=events).text == "web is bound to n1."
    lane = samples.lane("web", "unschedulable", message=samples.NOTHING_FITS.message)
    refused = course(samples.pod("web"), lane=lane)
    assert (refused.stage, refused.ended) == ("refused", True)
    assert "1 has too little cpu, 1 is tainted {a: b}. No pod was evicted for it." in refused.text
    assert "No pod was evicted" not in course(samples.pod("web"), lane=lane, trace=[nominated(12)]).text
    assert (
        "scheduling gate"
        in course(samples.pod("web"), lane=samples.lane("web", "gated", gate="SchedulingGates")).text
    )
    held = course(samples.pod("web"), lane=samples.lane("web", "gated", gate="DefaultPreemption"))
    assert held.text == "web waits until the plugin DefaultPreemption lets it into the queue."
    assert course(samples.pod("web")).text == "web is created, and not in the scheduling queue yet."
    assert course(None).stage == "gone"
    # An eviction before the act, or one for another pod, does not count.
    for event in (nominated(10), nominated(12, "default/other")):
        assert course(samples.pod("web", node="n1"), trace=[event]).cycle == 0
    # A pod of the same name that was created later is another one.
    other = samples.pod("web", node="n1")
    other["metadata"]["uid"] = "uid-later"
    assert course(other).stage == "gone"


def start(client: Client, store: Store) -> str:
    """Start the first guide; return the path of its sandbox."""
    path = client.post(f"/guides/{guides.FIRST}/").headers["Location"]
    meta = store.sandbox(path.split("/")[2]).meta()
    assert guides.guide_in(meta) == GUIDE
    assert guides.guide_in(replace(meta, name="branch")) is None
    return path


def create_pod(client: Client, path: str) -> None:
    form = client.get(f"{path}propose/").headers["Location"]
    page = client.get(form).content.decode()
    assert f'action="{path}new/pod/?act=1"' in page
    assert "only need to press Create" in page
    fields = dict(parse_qsl(urlsplit(form).query))
    assert client.post(f"{path}new/pod/?act=1", fields).status_code == 302


def test_the_box_follows_the_visitor_s_pod_until_they_do_something_else(client: Client, store: Store) -> None:
    assert f'action="/guides/{guides.FIRST}/"' in client.get("/").content.decode()
    assert client.post("/guides/none/").status_code == 404
    path = start(client, store)
    sandbox = store.sandbox(path.split("/")[2])
    assert sandbox.clock().paused
    assert GUIDE.goal in client.get(path).content.decode()
    create_pod(client, path)
    pod = sandbox.get("pods", "default/my-pod")
    assert pod
    page = client.get(path).content.decode()
    assert f'data-uid="{pod["metadata"]["uid"]}"' in page
    assert "my-pod is created, and not in the scheduling queue yet." in page
    box = client.get(f"{path}guide/").content.decode()
    [shown] = re.findall(r'name="shown" value="(\w+)"', box)
    assert client.get(f"{path}guide/?shown={shown}").status_code == 204

    # The box is not shown to another visitor of the same sandbox.
    other = Client(headers={"host": "localhost"})
    assert 'class="guide' not in other.get(path).content.decode()
    assert other.get(f"{path}guide/").status_code == 204
    # The clock may be changed in the course; a second form ends it.
    client.post(f"{path}clock/", {"do": "pause"})
    assert 'class="guide' in client.get(path).content.decode()
    assert client.get(f"{path}propose/").headers["Location"].startswith(f"{path}new/pod/?name=my-pod-2&")
    client.post(f"{path}new/priorityclass/", {"name": "other", "value": "5"})
    assert 'class="guide' not in client.get(path).content.decode()


def test_the_box_disappears_when_it_is_closed_or_the_sandbox_starts_over(
    client: Client, store: Store
) -> None:
    path = start(client, store)
    create_pod(client, path)
    assert client.post(f"{path}start-over/").status_code == 302
    page = client.get(path).content.decode()
    assert GUIDE.goal in page, "the guide was started again, without the pod of before"
    assert "data-uid=" not in page.partition('class="guide')[2].partition("</section>")[0]
    assert client.post(f"{path}guide/").headers["Location"] == path
    assert 'class="guide' not in client.get(path).content.decode()
    client.cookies["act"] = "forged"
    assert client.get(path).status_code == 200


def test_a_proposed_pod_of_any_sandbox_is_the_visitor_s_act(
    client: Client, store: Store, sandbox_name: str
) -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}
    still = Clock(samples.START, 1.0, paused=True)
    write.create_sandbox(store, Meta(sandbox_name), [{**high, "value": 10}], still)
    path = f"/s/{sandbox_name}/"
    create_pod(client, path)
    page = client.get(path).content.decode()
    assert re.search(r"urgent-\w+ is created, and not in the scheduling queue yet", page)
    assert "Start again" not in page.partition('class="guide')[2].partition("</section>")[0]
    store.delete(sandbox_name)
