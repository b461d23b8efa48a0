"""The page on which a workload is played, in a new sandbox or in memory, and the API of the latter."""

import base64
import gzip
from collections.abc import Iterator

import msgspec
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from schedviz.jobs.played_work import played_turns
from schedviz.store import Store
from simulator.arrivals.play_run import Played
from simulator.controllers.timetable import TIMETABLES
from tests.sandbox_api.documented import DocumentedClient

from .asking import text

ARRIVALS = "time,name,cpu,memory,duration,count\n0,web,500m,1Gi,,4\n5,train,2,4Gi,30s,45\n"
FITS = "time,name,cpu,memory,duration,count\n0,web,500m,1Gi,,4\n5,train,2,4Gi,30s,1\n"
JOBS = "*:jobs:played:job:*"
HTMX = {"HX-Request": "true"}
NODES = "name,cpu,memory,count\nnode,4,16Gi,3\n"


@pytest.fixture
def client() -> Client:
    return Client(headers={"host": "localhost"})


@pytest.fixture
def played(store: Store, sandbox_name: str) -> Iterator[str]:
    """The name of a sandbox to be made, deleted afterwards."""
    yield sandbox_name
    if any(meta.name == sandbox_name for meta in store.sandboxes()):
        store.delete(sandbox_name)


def test_a_workload_becomes_a_sandbox_with_its_arrivals_in_timetables(
    client: Client, store: Store, played: str
) -> None:
    given = {"do": "look", "name": played, "speed": "max", "nodes_text": NODES}
    said = text(client.post("/workload/", {**given, "arrivals_text": ARRIVALS}, headers=HTMX).content)
    assert "49 pods." in said
    assert "Each fits a node" in said
    assert "<html" not in said
    assert played not in [meta.name for meta in store.sandboxes()]
    uploaded = SimpleUploadedFile("trace.csv", ARRIVALS.encode())
    answer = client.post("/workload/", {**given, "do": "create", "arrivals": uploaded})
    assert answer.headers["Location"] == f"/s/{played}/"
    sandbox = store.sandbox(played)
    assert (sandbox.clock().speed, sandbox.clock().unpaced, sandbox.clock().paused) == (100, True, False)
    assert (sandbox.count("nodes"), sandbox.count("pods")) == (3, 0)
    objects, _ = sandbox.list_all()
    entries = [each for one in objects[TIMETABLES].values() for each in one["spec"]["entries"]]
    assert [len(one["spec"]["entries"]) for one in objects[TIMETABLES].values()] == [20, 20, 9]
    assert entries[-1]["object"]["metadata"]["name"] == "train-45"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"arrivals_text": ARRIVALS + "9,x,many,1Gi,,1\n"}, "Line 4, column cpu: “many” is not an amount."),
        ({"arrivals_text": ARRIVALS + "9,x,1,1Gi,,60001\n"}, "60,050 pods, and a sandbox at most 60,000"),
        ({"arrivals_text": ARRIVALS + "9,x,64,1Gi,,2\n"}, "2 pods fit no node, not even an empty one"),
    ],
)
def test_a_workload_that_is_not_played_gets_a_message_and_stores_nothing(
    client: Client, store: Store, given: dict[str, str], said: str
) -> None:
    before = {meta.name for meta in store.sandboxes()}
    asked = {"do": "create", "arrivals_text": ARRIVALS, "nodes_text": NODES, **given}
    answer = client.post("/workload/", asked)
    assert answer.status_code == 422
    assert said in text(answer.content)
    assert {meta.name for meta in store.sandboxes()} == before


def played_page(client: Client, store: Store, **posted: str) -> tuple[str, str]:
    """Play a workload by the form, and return its address and its page, with white space made single."""
    asked = {"do": "play", "arrivals_text": FITS, "nodes_text": NODES, "a": "own", **posted}
    answer = client.post("/workload/play/", asked, headers=HTMX)
    address = answer.headers["HX-Redirect"]
    assert "Waiting to start" in text(client.get(address).content)
    turns = played_turns(store)
    while turns.run_turn(address.strip("/").rpartition("/")[2]) is not None:
        pass
    assert client.get(address, headers=HTMX).headers["HX-Refresh"] == "true"
    return address, text(client.get(address).content)


def test_a_workload_is_played_without_a_sandbox_under_one_scheduler_or_two(
    client: Client, store: Store
) -> None:
    address, page = played_page(client, store)
    assert "5 pods in" in page
    assert "Pods pending" in page
    result = msgspec.json.decode(client.get(f"{address}result.json").content, type=Played)
    assert (result.a.bound, result.comparison) == (5, None)
    address, page = played_page(client, store, b="packing", b_kubernetes="v1.34.1")
    assert "MostAllocated: packs nodes, Kubernetes v1.34.1, seed 1" in page
    assert client.get(f"{address}result.json").json()["comparison"]["b"]["bound"] == 5
    assert client.get("/played/none/").status_code == 404
    assert not store.sandboxes()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"arrivals_text": "time,name,count\n0,a,20001\n"}, "20,001 pods; at most 20,000 are played here"),
        ({"arrivals_text": "time,name,cpu\n0,a,64\n"}, "1 pod fits no node, not even an empty one"),
        ({"b": "yaml", "b_yaml": "kind: ["}, "Line 2, column 1"),
    ],
)
def test_a_workload_that_cannot_be_played_is_no_job(
    client: Client, store: Store, given: dict[str, str], said: str
) -> None:
    asked = {"do": "play", "arrivals_text": FITS, "nodes_text": NODES, "a": "own", **given}
    before = {*store.redis.scan_iter(JOBS)}
    answer = client.post("/workload/play/", asked)
    assert answer.status_code == 422
    assert said in text(answer.content)
    assert {*store.redis.scan_iter(JOBS)} == before


def test_programs_play_workloads_and_read_the_result(client: Client, store: Store) -> None:
    api = DocumentedClient(client)
    wrong = api.send("POST", "/api/played", {"arrivals": "time,name\nsoon,a\n", "nodes": NODES})
    assert (wrong[0], wrong[1]["message"]) == (
        400,
        "Arrivals: Line 2, column time: “soon” is not a duration. Write it as 400ms, 12s or 1m30s.",
    )
    assert api.send("POST", "/api/played", {"nodes": NODES})[1]["message"].startswith("arrivals: give either")
    packed = base64.b64encode(gzip.compress(FITS.encode())).decode()
    asked = {"arrivals_base64": packed, "nodes": NODES, "until": "1m", "b": {"seed": 2}}
    status, made = api.send("POST", "/api/played", asked)
    assert (status, made["state"], made["result"]) == (202, "waiting", None)
    turns = played_turns(store)
    while turns.run_turn(made["id"]) is not None:
        pass
    found = api.send("GET", f"/api/played/{made['id']}")[1]
    assert (found["state"], found["result"]["b"]["bound"]) == ("done", 5)
    page = client.get(found["page"]).content.decode()
    assert "default, Kubernetes v1.36" in page
    assert api.send("DELETE", f"/api/played/{made['id']}")[1]["state"] == "done"
    assert api.send("GET", "/api/played/none")[0] == 404


def test_programs_create_a_sandbox_in_which_a_workload_is_played(
    client: Client, store: Store, played: str
) -> None:
    api = DocumentedClient(client)
    packed = base64.b64encode(gzip.compress(ARRIVALS.encode())).decode()
    asked = {"name": played, "arrivals_base64": packed, "nodes": NODES, "paused": True, "seed": 7}
    gates = {"StorageCapacityScoring": True}
    status, made = api.send(
        "POST", "/api/sandboxes", {**asked, "pace": "1s", "kubernetes": "v1.35", "feature_gates": gates}
    )
    assert (status, made["name"], made["nodes"], made["pods"], made["paused"]) == (201, played, 3, 0, True)
    assert (made["seed"], made["pace"], made["kubernetes"]) == (7, "1s", "v1.35.6")
    assert made["feature_gates"] == gates
    objects, _ = store.sandbox(played).list_all()
    assert len(objects[TIMETABLES]) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"arrivals": "time,name\nsoon,a\n"}, "Arrivals: Line 2, column time: “soon” is not a duration."),
        ({"arrivals": FITS, "arrivals_base64": "YQ=="}, "arrivals: give either arrivals or arrivals_base64"),
        ({"arrivals": FITS, "scenario": "gang"}, "arrivals: not with scenario and manifests; nodes may"),
        ({}, "nodes: only with arrivals"),
        (
            {"arrivals": "time,name,cpu\n0,a,64\n"},
            "arrivals: 1 of 1 pods fit no node, not even an empty one: line 2: a: 0/3 nodes are available",
        ),
    ],
)
def test_a_sandbox_of_a_wrong_workload_is_refused(
    client: Client, store: Store, given: dict[str, str], message: str
) -> None:
    before = {meta.name for meta in store.sandboxes()}
    status, refused = DocumentedClient(client).send("POST", "/api/sandboxes", {"nodes": NODES, **given})
    assert status == 400
    assert refused["message"].startswith(message)
    assert {meta.name for meta in store.sandboxes()} == before
