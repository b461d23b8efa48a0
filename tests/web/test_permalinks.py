"""Permalinks, to which each bind, rejection, nomination and eviction links; and pages of deleted pods."""

import pytest
from django.test import Client

from schedviz.store import Commit, Sandbox
from schedviz.web.pods.events import pod_events
from simulator import trace
from simulator.api import Change

from .samples import START, candidate, node, pod, preempting

T = START
LACKS = "0/1 nodes are available: 1 Insufficient cpu."
STORY = [
    trace.CycleStarted(T, 3, "default/old", 1, 0),
    trace.Bound(T, 3, "default/old", "n1"),
    trace.CycleStarted(T, 4, "default/web", 1, 1000),
    trace.Unschedulable(T, 4, "default/web", LACKS, ["NodeResourcesFit"]),
    trace.Nominated(T, 4, "default/web", "n1", ["default/old"], 0, 1),
    trace.VictimDeleted(T, 4, "default/old", "n1", "default/web", 3),
    trace.PodRemoved(T + 3_000_000, "default/old", "n1"),
    trace.CycleStarted(T + 3_000_000, 5, "default/web", 2, 1000),
    trace.Bound(T + 3_000_000, 5, "default/web", "n1"),
]  # fmt: skip


def event(name: str, reason: str, message: str) -> Change:
    key = f"default/{name}.{reason.lower()}"
    manifest = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": key.partition("/")[2], "namespace": "default", "resourceVersion": "1"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": name, "uid": f"uid-{name}"},
        "type": "Normal",
        "reason": reason,
        "message": message,
        "firstTimestamp": "2027-01-15T08:00:00Z",
        "lastTimestamp": "2027-01-15T08:00:00Z",
        "count": 1,
        "reportingComponent": "default-scheduler",
    }
    return Change("events", key, manifest, 0)


@pytest.fixture
def sandbox_path(sandbox: Sandbox) -> str:
    web = Change("pods", "default/web", pod("web", node="n1", priority=1000, nominated="n1"), 0)
    changes = [
        Change("nodes", "n1", node("n1"), 0),
        web,
        event("web", "FailedScheduling", LACKS),
        event("web", "Scheduled", "Successfully assigned default/web to n1"),
        event("old", "Preempted", "Preempted by pod uid-web on node n1"),
    ]
    decision = preempting(0, "n1", candidate("n1", 0))
    sandbox.commit(Commit(changes, trace=STORY, decisions=[decision]))
    return f"/s/{sandbox.name}/"


def panel(path: str) -> str:
    answer = Client(headers={"host": "localhost"}).get(path, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return answer.content.decode()


def test_pod_node_log_and_events_link_to_the_permalinks_of_cycles(sandbox_path: str) -> None:
    def permalinks(html: str) -> list[str]:
        return [
            part.partition("/")[0]
            for part in html.split(f'class="cycle-link" data-panel href="{sandbox_path}cycles/')[1:]
        ]

    of_pod = panel(f"{sandbox_path}pods/default/web/")
    headline = of_pod.partition("headline scheduled")[2].partition("</p>")[0]
    assert permalinks(headline) == ["5"]
    kubernetes_events = of_pod.partition('id="pod-events"')[2].partition("</section>")[0]
    assert sorted(permalinks(kubernetes_events)) == ["4", "5"]
    assert {"3", "4", "5"} == set(permalinks(panel(f"{sandbox_path}nodes/n1/")))
    page = Client(headers={"host": "localhost"}).get(sandbox_path).content.decode()
    log = page.partition('<ol id="log"')[2].partition("</ol>")[0]
    assert permalinks(log) == ["5", "4", "4", "4", "3"]


def test_the_page_of_a_deleted_pod_says_which_pod_preempted_it_and_why(sandbox_path: str) -> None:
    html = panel(f"{sandbox_path}pods/default/old/")
    assert "Pod old no longer exists." in html
    headline = html.partition('class="headline')[2].partition("</p>")[0]
    assert "evicted from" in headline
    assert f"{sandbox_path}pods/default/web/" in headline
    assert f'href="{sandbox_path}cycles/4/?play=1"' in html
    assert "Preempted by pod" in html
    client = Client(headers={"host": "localhost"})
    assert client.get(f"{sandbox_path}pods/default/old/").status_code == 200
    assert client.get(f"{sandbox_path}pods/default/never/").status_code == 404


def test_events_of_the_same_second_are_shown_in_the_order_in_which_they_were_written(
    sandbox: Sandbox,
) -> None:
    sandbox.commit(Commit([event("web", reason, "") for reason in ("Scheduled", "Pulled", "Created")]))
    about = {"namespace": "default", "name": "web"}
    assert [each.reason for each in pod_events(sandbox, about, [])] == ["Scheduled", "Pulled", "Created"]
