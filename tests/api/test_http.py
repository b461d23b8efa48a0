"""The API at the level of HTTP: the responses that curl and kubectl get, and the refused requests."""

import gzip
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from schedviz.api import write
from schedviz.loop.clock import pause
from schedviz.loop.doorbell import group
from schedviz.store import Commit, Meta, Sandbox, Store
from schedviz.store.keys import FAILING
from simulator.__main__ import main
from simulator.trace import PodStarted
from tests.api.widget_definition import DEFINITIONS, definition, version
from tests.clocks import at_rest
from tests.loop.conftest import node, pod, until_bound
from tests.processes import Process
from tests.waiting import PATIENCE, eventually

POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: "web:1"}]}
"""
PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
CRON_JOBS = "/apis/batch/v1/namespaces/default/cronjobs"
JOB = '{"metadata": {"name": "j"}, "spec": null}'
TOO_LONG = 1_000_000_000_000
"""A number of seconds whose end in microseconds cannot be stored."""
GRACE = f'"gracePeriodSeconds": {TOO_LONG}'


def request(
    url: str, method: str = "GET", body: str | bytes | None = None, headers: Mapping[str, str] = {}
) -> tuple[int, Any]:
    """The status and the decoded body."""
    data = body.encode() if isinstance(body, str) else body
    asked = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=PATIENCE) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_yaml_is_taken_too(url: str) -> None:
    status, created = request(url + PODS, "POST", POD, {"Content-Type": "application/yaml"})
    assert (status, created["metadata"]["name"]) == (201, "web")


def pod_json(**spec: Any) -> str:
    container = {"name": "main", "image": "web:1"}
    return json.dumps({"metadata": {"name": "web"}, "spec": {"containers": [container], **spec}})


class Refusal(NamedTuple):
    """A request and its response."""

    method: str
    path: str
    status: int
    reason: str
    words: str
    body: str | bytes | None = None
    content_type: str = "application/json"


REFUSALS = [
    Refusal("GET", "/api/v1/widgets", 404, "NotFound", "could not find the requested resource"),
    Refusal("GET", "/apis/apps/v2/deployments", 404, "NotFound", "could not find"),
    Refusal("GET", "/api/v1/pods/web", 404, "NotFound", "could not find"),
    Refusal("GET", "/api/v1/namespaces/default/nodes", 404, "NotFound", "could not find"),
    Refusal("GET", "/api//v1", 404, "NotFound", "could not find"),
    Refusal("GET", PODS + "/web/metrics", 404, "NotFound", "could not find"),
    Refusal("GET", PODS + "/web/log", 404, "NotFound", 'pods "web" not found'),
    Refusal("PUT", PODS, 405, "MethodNotAllowed", "does not allow this method", body="{}"),
    Refusal("POST", "/api/v1/pods", 405, "MethodNotAllowed", "does not allow this method", body=pod_json()),
    Refusal("POST", "/apis", 405, "MethodNotAllowed", "does not allow this method", body="{}"),
    Refusal(
        "POST",
        PODS,
        415,
        "UnsupportedMediaType",
        "yaml",
        body=POD,
        content_type="application/x-www-form-urlencoded",
    ),
    Refusal("PATCH", "/api/v1/nodes/n", 404, "NotFound", 'nodes "n" not found', body="{}"),
    Refusal(
        "PATCH", "/api/v1/namespaces/default", 415, "UnsupportedMediaType", "415: Unsupported", body="{}"
    ),
    Refusal("GET", PODS + "?fieldSelector=spec.image=x", 400, "BadRequest", "field label not supported"),
    Refusal("GET", PODS + "?limit=some", 400, "BadRequest", "invalid syntax"),
    Refusal("POST", PODS + "?dryRun=Some", 422, "Invalid", "dryRun", body=pod_json()),
    Refusal("POST", PODS + "?fieldValidation=Loose", 422, "Invalid", '"Ignore"', body=pod_json()),
    Refusal("POST", PODS + f"?fieldManager={'x' * 129}", 422, "Invalid", "Too long", body=pod_json()),
    Refusal("POST", PODS + "?fieldManager=a%09b", 422, "Invalid", "U+0009", body=pod_json()),
    Refusal("POST", PODS, 400, "BadRequest", "unexpected end of JSON input (<empty>)", body=""),
    Refusal("POST", PODS, 400, "BadRequest", "unexpected end of JSON input", body='{"metadata": '),
    Refusal("POST", PODS, 400, "BadRequest", "invalid character 'a' looking for beginning", body="a: b: c"),
    Refusal("POST", PODS, 400, "BadRequest", "unexpected end of JSON input", body="[" * 30_000),
    Refusal("POST", PODS, 400, "BadRequest", "nested deeper than", body="[" * 30_000 + "]" * 30_000),
    Refusal("POST", PODS, 400, "BadRequest", "nested deeper than", body='{"a":' * 9_000 + "1" + "}" * 9_000),
    Refusal(
        "POST",
        PODS,
        400,
        "BadRequest",
        "yaml: mapping values are not allowed in this context",
        body="a: b: c",
        content_type="application/yaml",
    ),
    Refusal("POST", PODS, 400, "BadRequest", "not UTF-8", body=b"\xff\xfe"),
    Refusal(
        "POST",
        PODS,
        413,
        "RequestEntityTooLarge",
        "larger than",
        body='{"metadata": "' + "x" * 1_000_000 + '"}',
    ),
    Refusal("POST", PODS, 413, "RequestEntityTooLarge", "larger than", body="x" * 5_000_000),
    Refusal(
        "POST",
        PODS,
        400,
        "BadRequest",
        "cannot unmarshal number into Go struct field Pod.metadata of type v1.ObjectMeta",
        body='{"metadata": 5}',
    ),
    Refusal(
        "POST",
        PODS + "?fieldValidation=Strict",
        400,
        "BadRequest",
        'strict decoding error: unknown field "spec.nodName"',
        body=pod_json(nodName="n"),
    ),
    Refusal(
        "POST",
        PODS,
        403,
        "Forbidden",
        "no PriorityClass with name nope",
        body=pod_json(priorityClassName="nope"),
    ),
    Refusal(
        "POST",
        PODS,
        400,
        "BadRequest",
        'Node in version "v1" cannot be handled as a Pod',
        body='{"kind": "Node", "metadata": {"name": "n"}}',
    ),
    Refusal(
        "POST",
        PODS,
        400,
        "BadRequest",
        "does not match the namespace",
        body='{"metadata": {"namespace": "other"}}',
    ),
    Refusal("DELETE", PODS + "/gone", 404, "NotFound", 'pods "gone" not found'),
    Refusal("DELETE", "/api/v1/namespaces/default", 403, "Forbidden", "may not be deleted"),
    Refusal("DELETE", PODS + "/gone", 500, "", 'no kind "Pod" is registered', body='{"kind": "Pod"}'),
    Refusal("DELETE", PODS + "/gone", 500, "", "unexpected end of JSON input", body='{"kind": '),
    Refusal(
        "DELETE", PODS + "/gone", 500, "", "cannot unmarshal string into", body='{"orphanDependents": "a"}'
    ),
    Refusal("DELETE", PODS + "/gone", 404, "NotFound", 'pods "gone" not found', body='{"grace": 1}'),
    Refusal("DELETE", PODS + "/gone?gracePeriodSeconds=soon", 400, "BadRequest", "invalid syntax"),
    Refusal("DELETE", PODS + f"/gone?gracePeriodSeconds={TOO_LONG}", 422, "Invalid", "less than or equal to"),
    Refusal("DELETE", PODS + "/gone", 422, "Invalid", "less than or equal to", body=f"{{{GRACE}}}"),
    Refusal(
        "POST",
        PODS + "/web/eviction",
        422,
        "Invalid",
        "less than or equal to",
        body=f'{{"metadata": {{"name": "web"}}, "deleteOptions": {{{GRACE}}}}}',
    ),
    Refusal("POST", PODS + "/web/eviction", 400, "BadRequest", "deleteOptions", body='{"deleteOptions": 5}'),
    Refusal("POST", PODS + "/web/eviction", 400, "BadRequest", "does not match name in Eviction", body="{}"),
    Refusal(
        "POST",
        PODS + "/web/binding",
        400,
        "BadRequest",
        "Go struct field Binding.target",
        body='{"target": "n"}',
    ),
    Refusal(
        "POST", PODS + "/web/binding", 400, "BadRequest", "target.name", body='{"target": {"name": ["n"]}}'
    ),
    Refusal("POST", PODS + "/web/binding", 400, "BadRequest", "does not match name in Binding", body="{}"),
    Refusal("POST", JOBS, 422, "Invalid", "spec.template.spec.containers: Required", body=JOB),
    Refusal(
        "POST",
        CRON_JOBS,
        422,
        "Invalid",
        "spec.schedule: Required value",
        body='{"metadata": {"name": "c"}, "spec": null}',
    ),
    Refusal(
        "PATCH",
        "/api/v1/namespaces/default",
        422,
        "Invalid",
        "due to an error in our request",
        body='[{"op": "add", "path": 5, "value": 1}]',
        content_type="application/json-patch+json",
    ),
    Refusal(
        "DELETE",
        PODS + "/gone?propagationPolicy=Sideways",
        422,
        "Invalid",
        'propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", ',
    ),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case.method} {case.status} {case.words}")
def test_each_refusal_is_a_status_and_nothing_is_stored(
    store: Store, cluster: str, url: str, case: Refusal
) -> None:
    before = store.sandbox(cluster).version()
    code, answer = request(url + case.path, case.method, case.body, {"Content-Type": case.content_type})
    assert (code, answer["kind"], answer["code"]) == (case.status, "Status", case.status)
    assert answer.get("reason", "") == case.reason
    assert case.words in answer["message"]
    assert store.sandbox(cluster).version() == before


def test_an_unknown_sandbox_is_not_found(server: str) -> None:
    for path in ("/api/v1/pods", "/apis", "/version", "/trace"):
        code, answer = request(f"{server}/s/nowhere{path}")
        assert (code, answer["message"]) == (404, 'sandboxes "nowhere" not found')


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


def test_a_watch_ends_at_its_time_with_a_bookmark(url: str) -> None:
    version = request(url + PODS)[1]["metadata"]["resourceVersion"]
    query = f"?watch=1&resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=1"
    with urllib.request.urlopen(url + PODS + query, timeout=PATIENCE) as response:
        lines = [json.loads(line) for line in response]
    assert [line["type"] for line in lines] == ["BOOKMARK"]
    assert lines[0]["object"]["metadata"]["resourceVersion"] == version


def test_watches_that_end_at_the_same_time_end_all(url: str) -> None:
    version = request(url + PODS)[1]["metadata"]["resourceVersion"]
    query = f"?watch=1&resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=1"

    def watch(_: int) -> int:
        with urllib.request.urlopen(url + PODS + query, timeout=PATIENCE) as response:
            return len(response.readlines())

    with ThreadPoolExecutor(20) as pool:
        assert [*pool.map(watch, range(40))] == [1] * 40


def test_an_initial_list_in_a_watch_ends_with_a_marked_bookmark(url: str) -> None:
    request(url + PODS, "POST", pod_json())
    query = "?watch=1&allowWatchBookmarks=true&timeoutSeconds=1"
    with urllib.request.urlopen(url + PODS + query, timeout=PATIENCE) as response:
        lines = [json.loads(line) for line in response]
    assert [line["type"] for line in lines] == ["ADDED", "BOOKMARK", "BOOKMARK"]
    assert lines[1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_watch_whose_client_disconnects_is_closed(store: Store, url: str) -> None:
    request(url + PODS, "POST", pod_json())
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    connection.request("GET", parts.path + PODS + "?watch=1")
    assert json.loads(connection.getresponse().readline())["type"] == "ADDED"
    eventually(lambda: _followers(store, url) == 1, "the server follows the sandbox")
    connection.close()
    eventually(lambda: _followers(store, url) == 0, "the watch has ended")


def _followers(store: Store, url: str) -> int:
    """The subscribers to changes of the sandbox."""
    name = urlsplit(url).path.split("/")[2]
    ((_, count),) = store.redis.pubsub_numsub(f"schedviz:layer__group__{group(name)}")
    return int(count)


def test_the_trace_comes_as_json_lines(server: str, sandbox: Sandbox) -> None:
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
    return sum(entry.lane == "unschedulable" for entry in sandbox.lanes().values())


def test_a_server_with_a_worker_is_ready(server: str, worker: Process) -> None:
    with urllib.request.urlopen(f"{server}/healthz", timeout=PATIENCE) as response:
        assert response.read() == b"ok\n"
    with urllib.request.urlopen(f"{server}/readyz", timeout=PATIENCE) as response:
        assert response.read().startswith(
            b"[+]redis ok\n[+]redis-writes ok\n[+]sandbox-servers ok\n[+]broker ok\n[+]worker ok\n"
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
