"""The pages of questions about a whole cluster: the forms, the progress, the answers and their files."""

import json

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz.jobs.asked_job import ASKED
from schedviz.jobs.asked_work import asked_turns, begin_asked
from schedviz.jobs.job_store import JobStore
from schedviz.store import Meta, Sandbox, Store
from schedviz.web.ask.result import present_table
from simulator.api import Change
from simulator.questions.tables import AnswerTable
from tests.questions.clusters import make_node, make_pod, make_workload, settled
from tests.web.asking import HTMX

PODS = json.dumps(make_workload("Deployment", "new", "1", 2))
NODE = json.dumps(make_node("node-9"))


@pytest.fixture
def asked(store: Store) -> Sandbox:
    """A sandbox with a full node in zone a, an empty one in zone b, and a pod that waits."""
    objects = [
        make_node("node-0", "2", "a"),
        make_workload("ReplicaSet", "web", "1", 2),
        make_pod("huge", "8"),
    ]
    running = settled(objects)
    running.create([make_node("node-1", "4", "b")])
    changes = [
        Change(resource, key, manifest, 0)
        for resource, found in running.list_all().items()
        for key, manifest in found.items()
    ]
    return store.create(Meta("asked", kubernetes="v1.36.2"), changes)


def answered(client: Client, store: Store, **posted: str) -> tuple[str, str]:
    """Ask on the page, and return the address of the answer and its page, with white space made single."""
    answer = client.post("/s/asked/ask/", posted)
    assert answer.status_code == 302, answer.content.decode()
    address = answer.headers["Location"]
    turns = asked_turns(store)
    while turns.run_turn(address.strip("/").rpartition("/")[2]) is not None:
        pass
    return address, " ".join(client.get(address).content.decode().split())


def test_each_question_is_asked_by_its_form_and_answered_on_a_page(
    client: Client, store: Store, asked: Sandbox
) -> None:
    version = asked.version()
    sentences = {
        ("fits", "manifests", PODS): "2 of 2 fit.",
        ("more", "manifests", PODS): "4 more of Deployment new fit, on 1 of 2 nodes.",
        ("drain", "nodes", "node-0"): "Running again: 2; pending: 0",
        ("removable", "seeds", "1"): "1 of 2 nodes can be removed together: node-1.",
        ("add", "shapes", "name=big,cpu=8,memory=8Gi"): "Nodes like big that are needed: 1.",
        ("evictions", "seeds", "1"): "No pod was evicted.",
    }
    for (question, field, value), sentence in sentences.items():
        form = client.get(f"/s/asked/ask/?q={question}").content.decode()
        assert f'name="question" value="{question}"' in form
        address, page = answered(client, store, question=question, **{field: value})
        assert sentence in page
        again = client.get(f"/s/asked/ask/?q={question}&from={address.strip('/').rpartition('/')[2]}")
        assert again.status_code == 200
    assert asked.version() == version


def test_the_answer_has_pictures_tables_and_files(client: Client, store: Store, asked: Sandbox) -> None:
    address, page = answered(client, store, question="drain", zone="a")
    for part in ("Before", "After", "drained", "4 → 2 of 4 free", "created again as"):
        assert part in page
    found = client.get(f"{address}answer.json").json()
    assert (found["question"], found["drained"], found["figure"]) == ("drain", ["node-0"], 2)
    rows = client.get(f"{address}pods.csv").content.decode().splitlines()
    assert len(rows) == 3
    assert rows[0].startswith("pod,owner,priority,node,after,replacement,to")
    assert client.get(f"{address}nothing.csv").status_code == 404
    assert client.get(f"/s/other{address.removeprefix('/s/asked')}").status_code == 404


@pytest.mark.parametrize(
    ("posted", "message"),
    [
        ({"question": "fits"}, "Paste manifests first."),
        ({"question": "fits", "manifests": "a: ["}, "Line 2, column 1: "),
        ({"question": "fits", "manifests": "a: 1"}, "Object 1 has no apiVersion: "),
        ({"question": "more", "manifests": PODS, "sizes": "1 x"}, "A whole number from 1."),
        ({"question": "more", "manifests": PODS, "seeds": "99"}, "A whole number from 1 to 20."),
        ({"question": "drain"}, "Choose nodes: by name, by labels, by zone, or the emptiest ones."),
        ({"question": "drain", "nodes": "node-7"}, "There is no node “node-7”."),
        ({"question": "removable", "selector": "pool in (old"}, "unable to parse requirement"),
        ({"question": "more", "manifests": f"{PODS}\n---\n{NODE}"}, "Document 2: Node has no pod template."),
        ({"question": "add", "shapes": "cpu=1"}, "Line 1: “memory” is missing."),
        ({"question": "best"}, "Choose a question."),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_asked(
    client: Client, asked: Sandbox, posted: dict[str, str], message: str
) -> None:
    answer = client.post("/s/asked/ask/", posted)
    assert answer.status_code == 422
    assert message in answer.content.decode()


def test_manifests_that_the_api_server_refuses_say_so_on_the_page(
    client: Client, store: Store, asked: Sandbox
) -> None:
    wrong = make_workload("Deployment", "new")
    wrong["spec"]["replicas"] = -1
    _, page = answered(client, store, question="fits", manifests=json.dumps(wrong))
    assert "It could not be answered:" in page
    assert "spec.replicas: “-1” is too small: it must be 0 or more." in page
    del wrong["spec"]["selector"]
    _, page = answered(client, store, question="fits", manifests=json.dumps(wrong))
    assert "[spec.replicas: Invalid value: -1" in page, "of several faults, the message of the API server"
    assert "spec.selector: Required value" in page


def test_the_progress_is_asked_for_and_a_stopped_question_keeps_what_it_found(
    client: Client, store: Store, asked: Sandbox
) -> None:
    address = client.post("/s/asked/ask/", {"question": "removable"}).headers["Location"]
    progress = client.get(address, headers=HTMX).content.decode()
    assert "About 0 % is done." in progress
    # What is loaded again has no form: a click on its button would be lost.
    loaded, _, kept = progress.partition("</div>")
    assert "hx-trigger" in loaded
    assert "<form" in kept
    assert "<form" not in loaded
    assert client.get(f"{address}answer.json").status_code == 404
    client.post(f"{address}stop/")
    turns = asked_turns(store)
    key = address.strip("/").rpartition("/")[2]
    assert turns.run_turn(key) is None
    job = JobStore(store, ASKED).read(key)
    assert job is not None
    assert job.state == "stopped"
    work = begin_asked(store, job)
    assert work.result() is None
    next(iter(work.run()))
    JobStore(store, ASKED).save(replace(job, state="running", result=work.result()))
    assert "Until now:" in client.get(address, headers=HTMX).content.decode()
    JobStore(store, ASKED).save(job)
    assert "HX-Refresh" in client.get(address, headers=HTMX).headers
    assert "Stopped before it began." in client.get(address).content.decode()


def test_a_long_reason_is_below_the_row_of_its_pod() -> None:
    why = "0/9 nodes are available: 9 Insufficient cpu. preemption: 0/9 nodes are available: 9 No victims."
    table = AnswerTable("pods", ["pod", "why"], [["default/a", why], ["default/b", ""]])
    assert [(len(row.cells), row.message) for row in present_table(table).rows] == [(1, why), (1, "")]
    short = AnswerTable("pods", ["pod", "why"], [["default/a", "Insufficient cpu"]])
    assert [(len(row.cells), row.message) for row in present_table(short).rows] == [(2, "")]
