"""Tables as kubectl prints them."""

import pytest

from simulator.api import SECOND, Manifest
from simulator.apiserver.printers.column import human_duration
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN, NODES, PODS, find_built_in
from simulator.apiserver.table import build_table
from tests.apiserver.cluster import NOW, Cluster, pod, priority_class

EVENTS = find_built_in("", "events")
assert EVENTS is not None


def rows(resource: Resource, *items: Manifest) -> list[dict[str, object]]:
    found = build_table(resource, items, {}, NOW + 90 * SECOND)
    names = [column["name"] for column in found["columnDefinitions"]]
    return [dict(zip(names, row["cells"], strict=True)) for row in found["rows"]]


def test_a_pods_row_shows_its_status() -> None:
    cluster = Cluster()
    (waiting,) = cluster.create([pod()])
    (running,) = cluster.create([pod("running", nodeName="n") | {"status": {"phase": "Running"}}])
    marked = {**running, "metadata": {**running["metadata"], "deletionTimestamp": "2023-11-14T22:13:20Z"}}
    found = rows(PODS, waiting, running, marked)
    assert [row["Status"] for row in found] == ["Pending", "Running", "Terminating"]
    assert [row["Node"] for row in found] == ["<none>", "n", "n"]
    assert {row["Age"] for row in found} == {"90s"}


def test_a_nodes_row_shows_whether_it_is_cordoned() -> None:
    text = "{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {unschedulable: true}}"
    (node,) = Cluster().create(text)
    assert rows(NODES, node)[0]["Status"] == "Ready,SchedulingDisabled"


def test_an_events_row_shows_its_message_object_and_time() -> None:
    event: Manifest = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "web.1", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "web", "namespace": "default"},
        "type": "Warning",
        "reason": "FailedScheduling",
        "message": "0/1 nodes are available. ",
        "eventTime": "2023-11-14T22:13:20.000000Z",
        "reportingComponent": "default-scheduler",
        "reportingInstance": "default-scheduler-schedviz",
    }
    series = {"count": 3, "lastObservedTime": "2023-11-14T22:14:20.000000Z"}
    found = build_table(EVENTS, [event, event | {"series": series}], {}, NOW + 90 * SECOND)
    assert [c["name"] for c in found["columnDefinitions"] if not c["priority"]] == [
        *("Last Seen", "Type", "Reason", "Object", "Message")
    ]
    once, again = rows(EVENTS, event, event | {"series": series})
    assert (once["Last Seen"], once["First Seen"], once["Count"]) == ("90s", "90s", 1)
    assert (again["Last Seen"], again["First Seen"], again["Count"]) == ("30s", "90s", 3)
    assert (again["Object"], again["Message"]) == ("pod/web", "0/1 nodes are available.")
    assert again["Source"] == "default-scheduler, default-scheduler-schedviz"


def test_an_events_row_of_little_shows_where_the_rest_would_be() -> None:
    event: Manifest = {"metadata": {"name": "e"}, "involvedObject": {"name": "web"}, "source": {"host": "n1"}}
    (shown,) = rows(EVENTS, event)
    assert (shown["Object"], shown["Source"], shown["Last Seen"]) == ("/web", ", n1", "<unknown>")
    (shown,) = rows(EVENTS, event | {"involvedObject": {"kind": "Pod"}, "source": {}})
    assert (shown["Object"], shown["Source"]) == ("pod", "")


def test_every_kind_has_at_least_a_name() -> None:
    cluster = Cluster()
    cluster.create([priority_class("a", 5)])
    for resource in BUILT_IN:
        items = [*cluster.list(resource.id).items]
        assert all("Name" in row for row in rows(resource, *items))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-2, "<invalid>"), (-1, "0s"), (119, "119s"), (120, "2m"), (125, "2m5s"), (600, "10m"),
     (10_799, "179m"), (10_800, "3h"), (28_740, "7h59m"), (100_000, "27h"), (200_000, "2d7h"),
     (8 * 86_400, "8d")],
)  # fmt: skip
def test_ages_are_short(seconds: int, text: str) -> None:
    assert human_duration(seconds) == text
