"""The responses of a simulated pod to log, exec and the like; and requests that the fuzz found."""

import json
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from schedviz.api import write
from schedviz.api.pod_processes import LOG
from schedviz.store import Clock, Meta, Sandbox, Store
from simulator.api import SECOND, Manifest
from simulator.apiserver.new_cluster import new_cluster

CREATED = 1_700_000_000
PODS = "api/v1/namespaces/default/pods"
STATUS = {"name": "main", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
WAITING = {**STATUS, "state": {"waiting": {"reason": "ImagePullBackOff"}}}
RUNNING = {**STATUS, "state": {"running": {}}}


@pytest.fixture
def sandbox(store: Store, sandbox_name: str) -> Sandbox:
    """A sandbox whose time stands still."""
    meta = Meta(name=sandbox_name, created=CREATED)
    clock = Clock(sim=CREATED * SECOND, wall=CREATED, paused=True)
    return store.create(meta, new_cluster([], clock.sim), clock)


def add_pod(sandbox: Sandbox, *containers: str, **status: Any) -> None:
    pod: Manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {"containers": [{"name": name, "image": "i"} for name in containers]},
    }
    if status:
        pod = {**pod, "spec": {**pod["spec"], "nodeName": "n"}, "status": status}
    write.create(sandbox, [pod])


def send(sandbox: Sandbox, method: str, path: str, body: Any = None, kind: str = "json") -> HttpResponse:
    data = b"" if body is None else json.dumps(body).encode()
    response = Client().generic(method, f"/s/{sandbox.name}/{path}", data, f"application/{kind}")
    assert isinstance(response, HttpResponse)
    return response


def message(response: HttpResponse) -> str:
    text: str = json.loads(response.content)["message"]
    return text


def test_the_log_of_a_container_is_one_line_once_it_has_started(sandbox: Sandbox) -> None:
    add_pod(sandbox, "main", phase="Running", containerStatuses=[RUNNING])
    answer = send(sandbox, "GET", f"{PODS}/web/log")
    assert (answer.status_code, answer.content.decode(), answer["Content-Type"]) == (200, LOG, "text/plain")


def test_a_pod_without_a_node_has_an_empty_log(sandbox: Sandbox) -> None:
    add_pod(sandbox, "main")
    answer = send(sandbox, "GET", f"{PODS}/web/log")
    assert (answer.status_code, answer.content) == (200, b"")


def test_the_log_of_a_container_that_waits_says_for_what(sandbox: Sandbox) -> None:
    add_pod(sandbox, "main", phase="Pending", containerStatuses=[WAITING])
    answer = send(sandbox, "GET", f"{PODS}/web/log")
    assert answer.status_code == 400
    assert message(answer) == 'container "main" in pod "web" is waiting to start: ImagePullBackOff'


def test_one_of_several_containers_must_be_named(sandbox: Sandbox) -> None:
    add_pod(sandbox, "main", "side")
    answer = send(sandbox, "GET", f"{PODS}/web/log")
    assert message(answer) == "a container name must be specified for pod web, choose one of: [main side]"
    answer = send(sandbox, "GET", f"{PODS}/web/log?container=other")
    assert message(answer) == "container other is not valid for pod web"
    assert send(sandbox, "GET", f"{PODS}/web/log?container=side").status_code == 200
    assert send(sandbox, "GET", f"{PODS}/gone/log").status_code == 404


@pytest.mark.parametrize("subresource", ["exec", "attach", "portforward", "proxy"])
def test_no_process_can_be_reached(sandbox: Sandbox, subresource: str) -> None:
    add_pod(sandbox, "main", phase="Running", containerStatuses=[RUNNING])
    answer = send(sandbox, "POST", f"{PODS}/web/{subresource}")
    assert answer.status_code == 400
    assert "its containers run no process" in message(answer)


def test_a_pod_without_a_node_cannot_be_reached(sandbox: Sandbox) -> None:
    add_pod(sandbox, "main")
    answer = send(sandbox, "POST", f"{PODS}/web/exec")
    assert (answer.status_code, message(answer)) == (400, "pod web does not have a host assigned")


def test_a_log_has_the_time_of_the_start_and_there_is_no_earlier_container(sandbox: Sandbox) -> None:
    started = {**STATUS, "state": {"running": {"startedAt": "2024-01-01T00:00:00Z"}}}
    add_pod(sandbox, "main", phase="Running", containerStatuses=[started])
    answer = send(sandbox, "GET", f"{PODS}/web/log?timestamps=true")
    assert answer.content.decode() == f"2024-01-01T00:00:00Z {LOG}"
    answer = send(sandbox, "GET", f"{PODS}/web/log?previous=true")
    assert message(answer) == 'previous terminated container "main" in pod "web" not found'


def test_preconditions_may_be_null(sandbox: Sandbox) -> None:
    add_pod(sandbox, "main")
    options = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
    eviction = {**options, "deleteOptions": {"preconditions": None}}
    assert send(sandbox, "POST", f"{PODS}/web/eviction", eviction).status_code == 201
    add_pod(sandbox, "main")
    assert send(sandbox, "DELETE", f"{PODS}/web", {"preconditions": None}).status_code == 200


def test_delete_options_may_be_null(sandbox: Sandbox) -> None:
    add_pod(sandbox, "main")
    response = Client().generic("DELETE", f"/s/{sandbox.name}/{PODS}/web", b"null", "application/json")
    assert response.status_code == 200


def test_warnings_are_sent_in_utf_8_and_without_control_characters(sandbox: Sandbox) -> None:
    pod = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "a", "image": "i"}]}}
    answer = send(sandbox, "POST", PODS, {**pod, "größe": 1, "line\nbreak": 1})
    assert answer.status_code == 201
    assert answer["Warning"].encode("latin-1").decode() == '299 - "unknown field \\"größe\\""'


def test_an_event_may_be_about_nothing(sandbox: Sandbox) -> None:
    event = {"metadata": {"name": "e"}, "eventTime": "2024-01-01T00:00:00.000000Z"}
    answer = send(sandbox, "POST", "apis/events.k8s.io/v1/namespaces/team/events", event)
    assert answer.status_code == 422
    assert "involvedObject.namespace" in message(answer)


def test_a_patch_may_have_a_path_that_it_does_not_use(sandbox: Sandbox) -> None:
    add_pod(sandbox, "main")
    patch = [{"op": "add", "path": "/metadata/labels", "from": "x", "value": {"a": "b"}}]
    answer = send(sandbox, "PATCH", f"{PODS}/web", patch, "json-patch+json")
    assert (answer.status_code, json.loads(answer.content)["metadata"]["labels"]) == (200, {"a": "b"})


def test_bytes_that_are_no_ascii_are_no_base64(sandbox: Sandbox) -> None:
    secret = {"metadata": {"name": "s"}, "data": {"k": "größe"}}
    answer = send(sandbox, "POST", "api/v1/namespaces/default/secrets", secret)
    assert answer.status_code == 400
    assert "illegal base64 data at input byte 2" in message(answer)
