"""The number of round trips to Redis that a view makes. With this bound no view can read a whole sandbox."""

import pytest
from django.test import Client

from schedviz.api import write
from schedviz.cache import default_caches
from schedviz.loop.clock import pause
from schedviz.store import Commit, Meta, Sandbox, Store
from schedviz.store.default import default_store
from schedviz.web.log.sentences import EventSentences
from simulator.api import Change
from simulator.trace import Bound, ObjectsCreated, ObjectsDeleted
from tests.programs.load.site import pod as new_pod
from tests.round_trips import round_trips
from tests.web.samples import node, pod


@pytest.fixture
def filled(sandbox: Sandbox) -> Sandbox:
    changes = [Change("nodes", f"n{number}", node(f"n{number}"), 0) for number in range(5)]
    changes += [Change("pods", f"default/p{number}", pod(f"p{number}"), 0) for number in range(20)]
    bound = [Bound(number, number, f"default/p{number}", "n1") for number in range(20)]
    gone = ObjectsDeleted(20, "ReplicaSet default/web", "pods", ["default/gone"], "scaled down")
    sandbox.commit(Commit(changes, trace=[*bound, gone]))
    return sandbox


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("", 3),  # the chapters of the archive, for the slider through the past
        ("pods/default/p1/", 1),
        ("pods/default/gone/", 1),
        ("nodes/n1/", 1),
        ("nodes/", 1),
        ("new/pod/", 1),
        ("new/node/", 1),
        ("edit/pods/default/p1/", 1),
        ("scheduler/", 1),
        ("objects/", 2),  # the bytes that the sandbox holds
        ("objects/?name=p", 2),
        ("objects/pods/", 1),
        ("objects/priorityclasses.scheduling.k8s.io/", 1),
        ("command/", 1),
        ("command/options/?text=delete%20pod%20p", 1),
        ("download/", 1),
        ("download/objects/", 1),
        ("download/manifests/", 1),
        ("download/nodes.svg", 1),
        ("predict/", 3),  # the room's state twice: before and after what is posted
        ("leader/", 4),  # the heartbeats of the workers, and the lease with its last renewal
    ],
)
def test_a_view_with_a_full_cache_makes_few_round_trips(
    filled: Sandbox, client: Client, path: str, most: int
) -> None:
    address = f"/s/{filled.name}/{path}"
    headers = {"HX-Request": "true"} if path else {}
    for name in ("one", "new"):  # Redis has the scripts after the second view was read
        assert client.get(address, headers=headers).status_code == 200
        filled.commit(Commit([Change("pods", f"default/{name}", pod(name), 0)]))
    with round_trips() as count:
        response = client.get(address, headers=headers)
    assert response.status_code == 200
    assert count() <= most
    assert path or b"new" in response.content


def test_each_refresh_of_the_predict_panel_makes_two_round_trips(filled: Sandbox, client: Client) -> None:
    pause(filled)
    address, headers = f"/s/{filled.name}/predict/", {"HX-Request": "true"}
    shown = client.get(address, headers=headers).context["view"]
    with round_trips() as count:
        response = client.get(address, {"seen": shown.seen}, headers=headers)
    assert response.status_code == 204
    assert count() <= 2


def test_the_answer_to_a_write_shows_it(filled: Sandbox, client: Client) -> None:
    base, headers = f"/s/{filled.name}", {"HX-Request": "true"}
    capacity = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    status = {"capacity": capacity, "allocatable": capacity}
    write.create(
        filled,
        [
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n9"}, "status": status},
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "p99"},
                "spec": {"containers": [{"name": "main", "image": "registry.example/app:1"}]},
            },
        ],
    )
    client.get(f"{base}/nodes/n9/", headers=headers)
    cordoned = client.post(f"{base}/nodes/n9/cordon/", headers=headers)
    assert cordoned.context["view"].card.cordoned
    deleted = client.post(f"{base}/pods/default/p99/delete/", headers=headers)
    assert "There is no Pod default/p99." in deleted.content.decode()


def test_the_home_page_makes_as_many_round_trips_for_many_sandboxes_as_for_one(
    store: Store, sandbox: Sandbox, client: Client
) -> None:
    client.get("/")
    with round_trips() as before:
        client.get("/")
    made = [store.create(Meta(f"round-trips-{number}")) for number in range(5)]
    with round_trips() as after:
        response = client.get("/")
    for each in made:
        assert each.name.encode() in response.content
        store.delete(each.name)
    assert after() == before()


def test_a_pod_panel_shows_each_line_of_the_log_that_names_the_pod(filled: Sandbox, client: Client) -> None:
    key = "default/p1"
    filled.commit(
        Commit(
            trace=[
                ObjectsCreated(1, "ReplicaSet default/web", "pods", ["default/a", key]),
                ObjectsDeleted(2, "ReplicaSet default/web", "pods", [key], "scaled down"),
                Bound(3, 50, "default/p1-other", "n2"),
            ],
        )
    )
    words, link = EventSentences(f"/s/{filled.name}/"), f"/pods/{key}/"
    lines = [words.line(seq, event) for seq, event in filled.trace_tail(100)]
    named = [line.seq for line in lines if line and link in line.html]
    assert len(named) == 3
    assert [seq for seq, _ in default_caches().read(filled.name).about_pod(key)] == named
    assert [seq for seq, _ in filled.about_pod(key)] == named


def test_creating_a_pod_makes_few_round_trips(filled: Sandbox, client: Client) -> None:
    """The round trips: the changes of the sandbox with the hold of a presenter, the commit, and the wake with
    its message."""

    path = f"/s/{filled.name}/api/v1/namespaces/default/pods"

    def create(name: str) -> int:
        with round_trips() as count:
            answer = client.post(path, new_pod(name), content_type="application/json")
        assert answer.status_code == 201, answer.content
        return count()

    default_caches().read(filled.name)
    create("first")  # Redis has the scripts afterwards
    assert create("second") == 3
    hold = default_store().hold(filled.name)
    assert hold.take()  # by another process
    held = client.post(path, new_pod("held"), content_type="application/json")
    assert held.status_code == 403
    assert b"a presenter hides the answers" in held.content
    hold.release()
    create("released")
    default_store().delete(filled.name)
    assert client.post(path, new_pod("third"), content_type="application/json").status_code == 404
