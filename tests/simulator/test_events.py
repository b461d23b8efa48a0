"""The scheduler's events, as ``kubectl describe pod`` shows them."""

import pytest

from simulator.api import SECOND, Change, Manifest
from simulator.client import event_recorder
from simulator.objects.events import EVENTS, event_count, event_first_seen, event_last_seen
from simulator.objects.pod import GRACE_SECONDS
from tests.simulator.lab import START, Lab, node, pod, priority_class


def events_of(lab: Lab, name: str) -> list[Manifest]:
    found = [
        event
        for event in lab.api.objects.get(EVENTS, {}).values()
        if event["involvedObject"]["name"] == name and event["involvedObject"]["kind"] == "Pod"
    ]
    return sorted(found, key=lambda event: int(event["metadata"]["name"].rpartition(".")[2], 16))


def shown(lab: Lab, name: str) -> list[tuple[str, str, str, int]]:
    return [(e["type"], e["reason"], e["message"], event_count(e)) for e in events_of(lab, name)]


def test_an_event_names_the_pods_node_and_has_upstreams_fields() -> None:
    lab = Lab()
    lab.create(node("n1"))
    lab.run(1)
    lab.create(pod("web"))
    version = lab.pod("web")["metadata"]["resourceVersion"]
    lab.run(10)
    [event] = events_of(lab, "web")
    nanoseconds = (START + SECOND) * 1000
    assert event["metadata"]["name"] == f"web.{nanoseconds:x}"
    assert event["metadata"]["namespace"] == "default"
    wanted = {
        "type": "Normal",
        "reason": "Scheduled",
        "action": "Binding",
        "message": "Successfully assigned default/web to n1",
        "reportingComponent": "default-scheduler",
        "eventTime": "2025-01-01T00:00:01.000000Z",
        "firstTimestamp": None,
        "lastTimestamp": None,
        "source": {},
    }
    assert {field: event[field] for field in wanted} == wanted
    assert event["involvedObject"] == {
        "kind": "Pod",
        "apiVersion": "v1",
        "namespace": "default",
        "name": "web",
        "uid": lab.pod("web")["metadata"]["uid"],
        "resourceVersion": version,
    }


def test_a_binding_and_its_event_are_one_commit() -> None:
    lab = Lab()
    commits: list[list[str]] = []
    commit = lab.api.commit

    def noted(changes: list[Change]) -> list[int]:
        commits.append([change.resource for change in changes])
        return commit(changes)

    lab.api.commit = noted  # type: ignore[method-assign, assignment]  # to see how it is called
    lab.create(node("n1"), pod("web"))
    lab.run(0.5)
    assert commits[1:] == [["pods", "events"]]


def test_a_repeated_event_of_an_unchanged_pod_is_one_event_with_a_count() -> None:
    lab = Lab()
    lab.create(pod("web"))
    lab.run(1)
    assert shown(lab, "web") == [("Warning", "FailedScheduling", "no nodes available to schedule pods", 1)]
    lab.create(node("small", "500m"))
    lab.run(1100)  # three times it is tried again because it waited for five minutes
    message = lab.condition("web", "PodScheduled")["message"]
    assert message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    # The first time the words were new, so that they changed the pod: the second is of another version of it.
    assert shown(lab, "web")[1:] == [
        ("Warning", "FailedScheduling", message, 1),
        ("Warning", "FailedScheduling", message, 3),
    ]
    [*_, last] = events_of(lab, "web")
    assert event_last_seen(last) > event_first_seen(last)


def test_a_victims_event_names_its_preemptor() -> None:
    lab = Lab()
    lab.create(node("n1"), priority_class("high", 1000), pod("victim", "4"))
    lab.run(5)
    lab.create(pod("urgent", "4", priorityClassName="high"))
    lab.run(GRACE_SECONDS - 5)
    uid = lab.pod("urgent")["metadata"]["uid"]
    kind, reason, message, times = shown(lab, "victim")[-1]
    assert (kind, reason, times) == ("Normal", "Preempted", 1)
    assert message == f"Preempted by pod {uid} on node n1"
    assert events_of(lab, "victim")[-1]["related"]["uid"] == uid
    lab.run(GRACE_SECONDS)
    assert [line[1] for line in shown(lab, "urgent")] == ["FailedScheduling", "Scheduled"]


def test_events_move_no_pod_in_the_queue() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("web"), pod("big", "9"))
    lab.run(60)
    cycles, trace, due = lab.simulation.cycles, len(lab.trace), lab.simulation.next_due()
    [event] = events_of(lab, "big")[-1:]
    lab.update(EVENTS, f"default/{event['metadata']['name']}", lambda e: {**e, "message": "by hand"})
    lab.run(1)
    assert (lab.simulation.cycles, len(lab.trace), lab.simulation.next_due()) == (cycles, trace, due)


def test_an_event_that_cannot_be_written_is_dropped_and_the_pod_is_bound() -> None:
    lab = Lab()
    lab.create(node("n1"))
    lab.run(1)
    name = f"default/web.{lab.now * 1000:x}"
    lab.create(pod("web"))
    foreign = {"metadata": {"name": name.partition("/")[2], "namespace": "default"}}
    lab.api.commit([Change(EVENTS, name, foreign, expected=0)])  # and the simulation has not seen it
    lab.api.take_events()
    lab.run(2)
    assert lab.node_of("web") == "n1"
    assert lab.api.objects[EVENTS][name]["metadata"].keys() == foreign["metadata"].keys() | {
        "resourceVersion"
    }


def test_events_are_deleted_an_hour_after_their_last_write() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("early"))
    lab.run(1800)
    lab.create(pod("later"))
    lab.run(1801)
    assert events_of(lab, "early"), "no check runs while nothing is written"
    lab.create(pod("last"))
    lab.run(5)
    assert not events_of(lab, "early")
    assert events_of(lab, "later")


def test_the_number_of_events_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_recorder, "MAX_EVENTS", 20)
    monkeypatch.setattr(event_recorder, "SWEPT_AT_ONCE", 5)
    lab = Lab()
    lab.create(node("n1", "100"), *(pod(f"web-{i:02}", "100m") for i in range(50)))
    lab.run(10)
    kept = [e["involvedObject"]["name"] for e in lab.api.objects[EVENTS].values()]
    assert 15 <= len(kept) <= 20
    assert kept == [f"web-{i:02}" for i in range(50)][-len(kept) :], "the oldest go first"


def test_a_new_leader_continues_the_same_event_series() -> None:
    lab = Lab()
    lab.create(node("small", "500m"), pod("web"))
    lab.run(700)
    [*_, before] = events_of(lab, "web")
    successor = Lab(api=lab.api, now=lab.now).run(1)
    successor.run(340)
    after = lab.api.objects[EVENTS][f"default/{before['metadata']['name']}"]
    assert event_count(after) > event_count(before)


def test_a_long_note_is_truncated() -> None:
    assert event_recorder.truncated("é" * 512) == "é" * 512
    cut = event_recorder.truncated("é" * 513)
    assert cut.endswith("é ...")
    assert len(cut.encode()) <= event_recorder.NOTE_BYTES
