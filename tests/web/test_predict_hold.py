"""The right answer is fixed when a question is asked: only the presenter can change the sandbox, and a guess
counts only for its own question."""

import json
from http import HTTPStatus

import pytest
from django.test import Client

from schedviz.api import write
from schedviz.loop.clock import pause
from schedviz.store import Commit, Sandbox, Store
from simulator.api import Manifest
from tests.web.samples import lane


def pod(name: str) -> Manifest:
    container = {"name": "main", "image": "app:1"}
    spec = {"priorityClassName": "system-cluster-critical", "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def asked(sandbox: Sandbox) -> Sandbox:
    """A paused sandbox in which two pods wait. The question is which of them is next."""
    write.create(sandbox, [pod("a"), pod("b")])
    entries = {f"default/{name}": lane(name, "activeQ", 5, sequence=place) for place, name in enumerate("ab")}
    sandbox.commit(Commit(queue_places=dict(entries)))
    pause(sandbox)
    return sandbox


def post(client: Client, sandbox: Sandbox, path: str, **fields: str) -> int:
    answer = client.post(f"/s/{sandbox.name}/{path}", fields, headers={"HX-Request": "true"})
    return answer.status_code


def question(client: Client, sandbox: Sandbox) -> str:
    view = client.get(f"/s/{sandbox.name}/predict/", headers={"HX-Request": "true"}).context["view"]
    return str(view.question.id)


def test_only_the_presenter_changes_what_is_asked_about(asked: Sandbox, store: Store) -> None:
    presenter, learner = Client(headers={"host": "localhost"}), Client(headers={"host": "localhost"})
    assert post(presenter, asked, "predict/", do="hold") == HTTPStatus.OK
    manifest = json.dumps(pod("urgent"))
    api = f"/s/{asked.name}/api/v1/namespaces/default/pods"
    before = question(learner, asked), asked.version()
    for path, fields in {
        "new/yaml/": {"yaml": manifest},
        "command/": {"line": "delete pod a"},
        "pods/default/a/delete/": {},
        "start-over/": {},
        "clock/": {"do": "cycle"},
        "pods/default/a/whatif/": {"do": "apply", "id": "x", "number": "0"},
        "delete/": {},
    }.items():
        assert post(learner, asked, path, **fields) == HTTPStatus.LOCKED, path
    answer = learner.post(api, manifest, content_type="application/json")
    assert answer.status_code == HTTPStatus.FORBIDDEN
    assert "a presenter hides the answers" in answer.json()["message"]
    assert (question(learner, asked), asked.version()) == before
    # The presenter may change it; everybody may when no answer is hidden any more.
    assert post(presenter, asked, "pods/default/a/delete/") == HTTPStatus.OK
    assert post(presenter, asked, "predict/", do="release") == HTTPStatus.OK
    assert learner.post(api, manifest, content_type="application/json").status_code == HTTPStatus.CREATED


def test_a_hold_of_a_deleted_sandbox_has_no_effect(asked: Sandbox, store: Store) -> None:
    client = Client(headers={"host": "localhost"})
    post(client, asked, "predict/", do="hold")
    meta = asked.meta()
    store.delete(asked.name)
    store.create(type(meta)(asked.name, created=meta.created + 1))
    assert post(Client(headers={"host": "localhost"}), asked, "clock/", do="pause") == HTTPStatus.NO_CONTENT


def test_a_guess_counts_only_for_the_queue_that_it_was_made_for(asked: Sandbox) -> None:
    client = Client(headers={"host": "localhost"})
    before = question(client, asked)
    asked.commit(Commit(queue_places={"default/c": lane("c", "activeQ", 9, sequence=3)}))
    assert question(client, asked) != before
    view = client.post(
        f"/s/{asked.name}/predict/",
        {"do": "guess", "question": before, "pick": "default/a"},
        headers={"HX-Request": "true"},
    ).context["view"]
    assert not asked.clock().steps, "nothing is decided"
    assert view.late
    assert view.question.id == question(client, asked)
    assert not view.guessed
