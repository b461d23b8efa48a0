"""The page on which a workload is played in a new sandbox."""

from collections.abc import Iterator

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from schedviz.store import Store
from simulator.controllers.timetable import TIMETABLES

from .asking import text

ARRIVALS = "time,name,cpu,memory,duration,count\n0,web,500m,1Gi,,4\n5,train,2,4Gi,30s,45\n"
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
        ({"arrivals_text": ARRIVALS + "9,x,many,1Gi,,1\n"}, "Arrivals: line 4, column cpu: 'many'"),
        ({"arrivals_text": ARRIVALS + "9,x,1,1Gi,,60001\n"}, "60,050 pods; a sandbox holds at most 60,000"),
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
