"""The API at the level of HTTP: the responses that curl and kubectl get."""

import gzip
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from schedviz.api import write
from schedviz.loop.clock import pause
from schedviz.store import Commit, Meta, Sandbox, Store
from schedviz.store.keys import FAILING
from simulator.__main__ import main
from simulator.trace import PodStarted
from tests.api.asking import POD, PODS, pod_json, request
from tests.api.widget_definition import DEFINITIONS, definition, version
from tests.clocks import at_rest
from tests.loop.conftest import node, pod, until_bound
from tests.processes import Process
from tests.waiting import PATIENCE, eventually


def test_yaml_is_taken_too(url: str) -> None:
    status, created = request(url + PODS, "POST", POD, {"Content-Type": "application/yaml"})
    assert (status, created["metadata"]["name"]) == (201, "web")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_another_origin_writes_nothing(url: str, headers: Mapping[str, str]) -> None:
    code, answer = request(url + PODS, "POST", pod_json(), headers)
    assert (code, answer["reason"]) == (403, "Forbidden")
    assert request(url + PODS)[1]["items"] == []


def test_a_page_of_the_same_origin_writes(server: str, url: str) -> None:
    headers = {"Origin": server, "Sec-Fetch-Site": "same-origin"}
    assert request(url + PODS, "POST", pod_json(), headers)[0] == 201


def test_the_namespace_of_an_object_without_one_is_ignored(url: str) -> None:
    given = {"metadata": {"name": "n", "namespace": "other"}}
    code, created = request(f"{url}/api/v1/nodes", "POST", json.dumps(given))
    assert (code, "namespace" in created["metadata"]) == (201, False)
    code, replaced = request(f"{url}/api/v1/nodes/n", "PUT", json.dumps(given))
    assert (code, "namespace" in replaced["metadata"]) == (200, False)


@pytest.mark.parametrize(("subresource", "given"), [("binding", {"target": {"name": "n"}}), ("eviction", {})])
def test_pods_are_neither_bound_nor_evicted_in_a_namespace_that_ends_or_is_missing(
    url: str, subresource: str, given: dict[str, object]
) -> None:
    namespaces = f"{url}/api/v1/namespaces"
    body = json.dumps({"metadata": {"name": "web"}, **given})
    code, answer = request(f"{namespaces}/team/pods/web/{subresource}", "POST", body)
    assert (code, answer["message"]) == (404, 'namespaces "team" not found')
    assert request(namespaces, "POST", '{"metadata": {"name": "team"}}')[0] == 201
    assert request(f"{namespaces}/team/pods", "POST", pod_json())[0] == 201
    assert request(f"{namespaces}/team", "DELETE")[0] == 200
    code, answer = request(f"{namespaces}/team/pods/web/{subresource}", "POST", body)
    assert (code, answer["details"]["causes"][0]["reason"]) == (403, "NamespaceTerminating")
    detail = "unable to create new content in namespace team because it is being terminated"
    assert answer["message"] == f'pods "web" is forbidden: {detail}'


def test_discovery_has_the_resources_that_kubectl_needs(url: str) -> None:
    assert request(url + "/api")[1]["versions"] == ["v1"]
    core = {entry["name"]: entry for entry in request(url + "/api/v1")[1]["resources"]}
    assert core["pods"]["shortNames"] == ["po"]
    assert {"pods/status", "pods/binding", "pods/eviction", "nodes", "namespaces"} <= core.keys()
    # With these `kubectl drain` knows that it can evict.
    assert core["pods/eviction"]["group"] == "policy"
    groups = request(url + "/apis")[1]["groups"]
    assert {"name": "policy", "versions": [{"groupVersion": "policy/v1", "version": "v1"}]}.items() <= next(
        group for group in groups if group["name"] == "policy"
    ).items()
    assert request(url + "/apis/scheduling.k8s.io/v1")[1]["resources"][0]["kind"] == "PriorityClass"
    assert request(url + "/version")[1]["minor"] == "34"


def test_a_namespace_that_is_deleted_ends_with_the_finalizers_of_its_spec(url: str) -> None:
    request(url + "/api/v1/namespaces", "POST", '{"metadata": {"name": "team"}}')
    path = url + "/api/v1/namespaces/team"
    status, ending = request(path, "DELETE")
    assert (status, ending["status"]["phase"]) == (200, "Terminating")
    assert request(path + "/pods", "POST", pod_json())[0] == 403
    assert request(path, "PUT", json.dumps({**ending, "spec": {}}))[1]["spec"] == ending["spec"]
    assert request(path + "/finalize", "PUT", json.dumps({**ending, "spec": {}}))[0] == 200
    assert request(path)[0] == 404


def test_the_trace_is_served_as_json_lines(server: str, sandbox: Sandbox) -> None:
    url = f"{server}/s/{sandbox.name}"
    events = [PodStarted(t=number, pod=f"default/web-{number}", node="n") for number in range(1500)]
    sandbox.commit(Commit(trace=events))
    with urllib.request.urlopen(f"{url}/trace?after=3", timeout=PATIENCE) as response:
        lines = [json.loads(line) for line in response]
    assert lines[0] == {"seq": 4, "type": "PodStarted", "t": 3, "pod": "default/web-3", "node": "n"}
    assert [line["seq"] for line in lines] == [*range(4, 1501)]
    with urllib.request.urlopen(f"{url}/trace", timeout=PATIENCE) as response:
        assert len(response.readlines()) == 1500
    code, answer = request(f"{url}/trace?after=9999")
    assert (code, answer["reason"]) == (410, "Expired")


@pytest.mark.long
def test_the_command_replays_a_downloaded_recording(
    stack: str, store: Store, sandbox_name: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    nodes = [node(f"n{i}", cpu="1") for i in range(3)]
    sandbox = write.create_sandbox(store, Meta(sandbox_name, created=time.time()), nodes)
    write.create(sandbox, [pod(f"p{i}", cpu="300m") for i in range(12)])
    eventually(until_bound(sandbox, 9), "all that have room are bound")
    eventually(lambda: waiting(sandbox) == 3, "the others have been tried")
    pause(sandbox)
    write.create(sandbox, [pod("last", schedulingGates=[{"name": "example.com/gate"}])])
    at_rest(sandbox)
    file = tmp_path / "recording.jsonl.gz"
    with urllib.request.urlopen(f"{stack}/s/{sandbox_name}/recording", timeout=PATIENCE) as answer:
        file.write_bytes(answer.read())
    with urllib.request.urlopen(f"{stack}/s/{sandbox_name}/trace?after=0", timeout=PATIENCE) as answer:
        trace = answer.read()
    assert main(["replay", str(file)]) == 0
    assert capsysbinary.readouterr().out == trace
    assert trace.count(b'"Bound"') == 9
    assert b'"Unschedulable"' in trace

    assert request(f"{stack}/s/{sandbox_name}/recording", "DELETE")[0] == 405
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    for what, problem in ((b"".join(lines[1:]), b"begins with"), (lines[0] + b"{}\n", b"line 2"), (b"", b"")):
        file.write_bytes(what)
        assert main(["replay", str(file)]) == (1 if what else 0)
        assert problem in capsysbinary.readouterr().err
    store.delete(sandbox_name)


def waiting(sandbox: Sandbox) -> int:
    return sum(entry.lane == "unschedulable" for entry in sandbox.queue_places().values())


def test_a_server_with_a_worker_is_ready(server: str, worker: Process) -> None:
    with urllib.request.urlopen(f"{server}/healthz", timeout=PATIENCE) as response:
        assert response.read() == b"ok\n"
    with urllib.request.urlopen(f"{server}/readyz", timeout=PATIENCE) as response:
        assert response.read().startswith(
            b"[+]redis ok\n[+]redis-writes ok\n[+]redis-cluster ok\n[+]broker ok\n[+]worker ok\n"
        )


def test_a_server_names_some_of_the_sandboxes_that_fail_and_is_ready(
    server: str, worker: Process, store: Store, sandbox_name: str
) -> None:
    names = [f"0-{sandbox_name[:50]}-{number:02}" for number in range(25)]
    store.redis.sadd(FAILING, *names)
    try:
        with urllib.request.urlopen(f"{server}/readyz", timeout=PATIENCE) as response:
            text = response.read().decode()
    finally:
        store.redis.srem(FAILING, *names)
    assert f"[!]sandboxes failed: {', '.join(names[:20])} and " in text


def test_kubectl_gets_tables_and_the_field_validation_of_the_server(url: str) -> None:
    request(url + PODS, "POST", pod_json(schedulingGates=[{"name": "example.com/quota"}]))
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
    listed = request(url + PODS, headers=accept)[1]
    assert listed["kind"] == "Table"
    columns = [column["name"] for column in listed["columnDefinitions"] if not column["priority"]]
    assert columns == ["Name", "Ready", "Status", "Restarts", "Age"]
    (row,) = listed["rows"]
    assert row["cells"][:4] == ["web", "0/1", "SchedulingGated", "0"]
    assert row["object"]["metadata"]["name"] == "web"
    assert request(url + PODS + "/web", headers=accept)[1]["rows"][0]["cells"] == row["cells"]
    watched = urllib.request.Request(url + PODS + "?watch=1&timeoutSeconds=1", headers=accept)
    with urllib.request.urlopen(watched, timeout=PATIENCE) as response:
        assert json.loads(response.readline())["object"]["rows"][0]["cells"][0] == "web"

    documents = request(url + "/openapi/v3")[1]["paths"]
    place = urlsplit(url)
    root = f"{place.scheme}://{place.netloc}"
    document = request(root + documents["api/v1"]["serverRelativeURL"])[1]
    assert document == request(url + "/openapi/v3/api/v1")[1], "it is that of the sandbox"
    patch = document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {"group": "", "version": "v1", "kind": "Pod"}
    assert "fieldValidation" in [parameter["name"] for parameter in patch["parameters"]]


def test_the_documents_of_custom_resources_are_those_of_their_sandbox(url: str) -> None:
    made = json.dumps(definition(version("v1", storage=True)))
    assert request(url + DEFINITIONS, "POST", made)[0] == 201
    documents = request(url + "/openapi/v3")[1]["paths"]
    place = urlsplit(url)
    found = {
        root: documents[root]["serverRelativeURL"].partition("?")[0]
        for root in ("apis/apps/v1", "apis/example.com/v1")
    }
    assert found == {
        "apis/apps/v1": "/openapi/v3/apis/apps/v1",
        "apis/example.com/v1": f"{place.path}/openapi/v3/apis/example.com/v1",
    }
    for path in found.values():
        assert request(f"{place.scheme}://{place.netloc}{path}")[1]["openapi"] == "3.0.0"
