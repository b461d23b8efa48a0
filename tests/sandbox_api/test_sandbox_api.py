"""The API for sandboxes, and its OpenAPI document."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.test import Client, RequestFactory, override_settings
from jsonschema import Draft202012Validator

from schedviz.access.links import make_link
from schedviz.access.record import read_record
from schedviz.routes import ApiRoute
from schedviz.sandbox_api.operations import ByMethod, Operation
from schedviz.sandbox_api.urls import urlpatterns
from schedviz.store import Store
from tests.access.conftest import new_client
from tests.access.test_owners import owner_in
from tests.loop.conftest import node, pod
from tests.loop.world import World

from .documented import DocumentedClient, is_path_of

CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


@pytest.fixture
def api(store: Store) -> DocumentedClient:
    return DocumentedClient()


@pytest.fixture
def world(store: Store) -> World:
    """A sandbox in which one pod is bound and another one is pending."""
    world = World(store)
    world.create(node("n1"), pod("web"), pod("big", cpu="100"))
    world.slice()
    world.let_time_pass(5)
    world.slice()
    world.pause()
    return world


@pytest.fixture
def names(store: Store) -> Iterator[list[str]]:
    made: list[str] = []
    yield made
    for name in made:
        store.delete(name)


def template(route: ApiRoute) -> str:
    return "/" + re.sub(r"<\w+:(\w+)>", r"{\1}", route.path)


def operations_of(route: ApiRoute) -> Mapping[str, Operation]:
    assert isinstance(route.view, ByMethod)
    return route.view.operations


def test_the_document_has_each_url_and_each_operation() -> None:
    document = json.loads(Client(headers={"host": "localhost"}).get("/api/openapi.json").content)
    assert document["openapi"].startswith("3.1.")
    assert document["paths"].keys() == {*map(template, urlpatterns)}
    ids = [
        operation["operationId"]
        for path in document["paths"].values()
        for method, operation in path.items()
        if method != "parameters"
    ]
    assert sorted(ids) == sorted(
        {each.name for route in urlpatterns for each in operations_of(route).values()}
    )
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    # Each reference leads somewhere.
    for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)):
        assert name in document["components"]["schemas"]


def test_a_sandbox_is_created_run_read_and_deleted(
    api: DocumentedClient, sandbox_name: str, world: World
) -> None:
    """Each operation once, with its answer."""
    gates = {"StorageCapacityScoring": True}
    asked = {"name": sandbox_name, "scenario": "gang", "paused": True}
    status, made = api.send(
        "POST", "/api/sandboxes", {**asked, "kubernetes": "v1.35", "feature_gates": gates}
    )
    assert (made["kubernetes"], made["feature_gates"]) == ("v1.35.6", gates)
    assert (status, made["name"], made["scenario"], made["right"]) == (201, sandbox_name, "gang", "own")
    assert (made["paused"], made["observed"], made["pace"]) == (True, False, "400ms")
    assert made.pop("notes") == []
    one = f"/api/sandboxes/{sandbox_name}"
    assert api.send("GET", one) == (200, made)
    listed = api.send("GET", "/api/sandboxes")[1]["items"]
    summary = next(each for each in listed if each["name"] == sandbox_name)
    assert summary == {field: made[field] for field in summary}
    created = api.send("POST", f"{one}/objects", {"manifests": [node("n9"), pod("web")]})
    assert created[0] == 201
    assert [each["metadata"]["name"] for each in created[1]["items"]] == ["n9", "web"]
    assert api.send("POST", f"{one}/resume")[1]["paused"] is False
    assert api.send("POST", f"{one}/pause")[1]["paused"] is True
    assert api.send("POST", f"{one}/speed", {"speed": "max"})[1]["speed"] == "max"
    assert api.send("POST", f"{one}/speed", {"speed": 2.5})[1]["speed"] == 2.5
    stepped = api.send("POST", f"{one}/step", {"unit": "point", "count": 3})[1]
    assert stepped["steps"] == 3
    run = api.send("POST", f"{one}/run", {"for": "10s"})[1]
    assert (run["paused"], run["until"]) == (False, f"time {stepped['time'] + 10_000_000}")
    branch = api.send("POST", f"{one}/branches", {"name": f"{sandbox_name[:50]}-b"})
    assert (branch[0], branch[1]["name"]) == (201, f"{sandbox_name[:50]}-b")
    for name in (sandbox_name, branch[1]["name"]):
        assert api.send("DELETE", f"/api/sandboxes/{name}") == (204, None)
        assert api.send("GET", f"/api/sandboxes/{name}")[0] == 404
    assert {each["name"] for each in api.send("GET", "/api/scenarios")[1]["items"]} >= {"gang"}

    led = f"/api/sandboxes/{world.sandbox.name}"
    trace = api.send("GET", f"{led}/trace")[1]
    assert trace["items"][0]["seq"] == 1
    assert trace["items"][-1]["seq"] == trace["last"]
    assert "Bound" in {each["event"]["type"] for each in trace["items"]}
    part = api.send("GET", f"{led}/trace?after=2&limit=3")[1]
    assert part["items"] == trace["items"][2:5]
    web = api.send("GET", f"{led}/pods/default/web/explanation")[1]
    assert (web["state"], web["node"], web["nodes"][0]["verdict"]) == ("bound", "n1", "chosen")
    big = api.send("GET", f"{led}/pods/default/big/explanation")[1]
    assert (big["state"], big["lane"], big["nodes"][0]["reasons"]) == (
        "pending", "unschedulable", ["Insufficient cpu"],
    )  # fmt: skip
    question = f"{led}/pods/default/big/question"
    assert api.send("GET", question)[0] == 404
    status, asked = api.send("POST", question)
    assert (status, asked["state"], asked["answer"]) == (202, "waiting", None)
    assert api.send("GET", question)[1]["state"] == "waiting"
    world.create(pod("urgent", cpu="4", priorityClassName="system-cluster-critical"))
    world.let_time_pass(60)
    world.slice()
    status, asked = api.send("POST", f"{led}/questions", {"question": "drain", "nodes": ["n1"]})
    assert (status, asked["state"], asked["answer"]) == (202, "waiting", None)
    assert api.send("GET", f"{led}/questions/{asked['id']}")[1]["id"] == asked["id"]
    assert api.send("DELETE", f"{led}/questions/{asked['id']}")[0] == 200
    assert api.send("GET", f"{led}/questions/nothing")[0] == 404
    status, refused = api.send("POST", f"{led}/questions", {"question": "add", "shapes": ["cpu=1"]})
    assert (status, refused["message"]) == (400, "shapes[0]: memory is missing")
    preventions = f"{led}/pods/default/web/preventions"
    assert api.send("GET", f"{led}/pods/default/web/explanation")[1]["preemptor"] == "default/urgent"
    assert api.send("POST", preventions)[1]["state"] == "waiting"
    assert api.send("GET", preventions)[1]["preventions"] == []
    files = {"arrivals": "time,name,cpu,memory\n0,a,1,1Gi\n", "nodes": "name,cpu,memory\nn1,4,8Gi\n"}
    status, played = api.send("POST", "/api/played", files)
    assert (status, played["state"]) == (202, "waiting")
    assert api.send("GET", f"/api/played/{played['id']}")[1]["id"] == played["id"]
    assert api.send("DELETE", f"/api/played/{played['id']}")[0] == 200
    api.send("GET", "/api/openapi.json")
    document = api.document["paths"]
    assert api.used == {
        (method, path) for path in document for method in document[path] if method != "parameters"
    }


def test_the_answer_says_what_of_the_arrivals_is_not_played(api: DocumentedClient, names: list[str]) -> None:
    export = """
pods:
  - {metadata: {name: done}, spec: {}, status: {phase: Succeeded}}
  - {metadata: {name: big}, spec: {containers: [{name: main, image: a, resources: {requests: {cpu: 8}}}]}}
nodes: [{metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 9}}}]
schedulerConfig: {}
"""
    status, made = api.send("POST", "/api/sandboxes", {"arrivals": export, "anyway": True, "paused": True})
    assert status == 201, made
    names.append(made["name"])
    left_out, unfit = made["notes"]
    assert left_out == "pods 1: left out: Pod done, which has ended"
    assert unfit.startswith("big: 0/1 nodes are available: ")


def test_a_branch_begins_at_a_past_moment(api: DocumentedClient, world: World, names: list[str]) -> None:
    one = f"/api/sandboxes/{world.sandbox.name}"
    events = api.send("GET", f"{one}/trace")[1]["items"]
    at = next(each["seq"] for each in events if each["event"]["type"] == "Bound")
    status, branch = api.send("POST", f"{one}/branches", {"at": at - 1})
    assert status == 201
    names.append(branch["name"])
    assert branch["origin"]["seq"] == at - 1
    assert (branch["name"], branch["paused"]) == (f"{world.sandbox.name}-at-{at - 1}", True)
    assert (
        api.send("GET", f"/api/sandboxes/{branch['name']}/pods/default/web/explanation")[1]["state"]
        == "pending"
    )
    status, refused = api.send("POST", f"{one}/branches", {"at": 9_999})
    assert (status, refused["message"]) == (
        410,
        f"at: the moment of trace event 9999 is not stored; the stored ones are 0 to {events[-1]['seq']}",
    )
    now = api.send("POST", f"{one}/branches", {})[1]
    names.append(now["name"])
    time = api.send("GET", one)[1]["time"]
    origin = {"sandbox": world.sandbox.name, "seq": events[-1]["seq"], "time": time, "change": ""}
    assert (now["name"], now["origin"], now["time"]) == (f"{world.sandbox.name}-b1", origin, time)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"nmae": "x"}, 400, "Object contains unknown field `nmae`"),
        ({"seed": "one"}, 400, "Expected `int`, got `str` - at `$.seed`"),
        ({"scenario": "nowhere"}, 400, "scenario: there is no 'nowhere'; those are online-vs-offline"),
        ({"name": "No"}, 400, "name: a sandbox's name is at most 63"),
        ({"name": "x" * 64}, 400, "Expected `str` of length <= 63 - at `$.name`"),
        ({"name": "room-cdfghj-1"}, 403, "name: only a room may have a sandbox 'room-cdfghj-1'"),
        ({"pace": "soon"}, 400, "pace: 'soon' is not a duration"),
        ({"kubernetes": "v1.20"}, 400, 'kubernetes: Kubernetes "v1.20" is not modelled; choose v1.36, v1.35'),
        ({"feature_gates": {"No": True}}, 400, "feature_gates: unrecognized feature gate: No"),
        ({"feature_gates": {"No": 1}}, 400, "Expected `bool`, got `int` - at `$.feature_gates[...]`"),
        ({"manifests": "a: ["}, 400, "manifests: "),
        ({"manifests": [{"kind": "Pod"}]}, 400, "the manifest must have an apiVersion and a kind"),
        ({"manifests": [{**pod("a"), "spec": {}}]}, 422, "spec.containers"),
        ({"config": {**CONFIG, "profiles": [{"schedulerName": ""}]}}, 422, "profiles[0].schedulerName"),
        ([], 400, "Expected `object`, got `array`"),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused_and_store_nothing(
    api: DocumentedClient, store: Store, body: Any, code: int, message: str
) -> None:
    before = store.names()
    found = api.send("POST", "/api/sandboxes", body)
    assert found[0] == found[1]["code"] == code
    assert message in found[1]["message"]
    assert store.names() == before


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("run", {"until": "bound"}, "pod: "),
        ("run", {"until": "idle", "pod": "default/web"}, "pod: "),
        ("run", {"until": "bound", "pod": "web"}, "<namespace>/<name>"),
        ("run", {}, "either time or for is wanted"),
        ("run", {"time": 1, "for": "1s"}, "either time or for is wanted"),
        ("run", {"until": "idle", "time": 9_007_199_254_740_991}, "time: the condition idle has none"),
        ("run", {"time": 1}, "time: the sandbox is already at "),
        ("run", {"for": "2000h"}, ""),
        ("run", {"for": "20000h"}, "for: '20000h' is longer than a year"),
        ("run", {"until": "forever"}, "Invalid enum value 'forever' - at `$.until`"),
        ("step", {"count": 0}, "at `$.count`"),
        ("step", {"unit": "year"}, "at `$.unit`"),
        ("speed", {"speed": 1000}, "at `$.speed`"),
        ("speed", {}, "Object missing required field `speed`"),
        ("pause", {"now": True}, "unknown field `now`"),
        ("branches", {"at": 0}, "at `$.at`"),
    ],
)
def test_a_wrong_act_changes_nothing(
    api: DocumentedClient, world: World, path: str, body: Any, message: str
) -> None:
    before = world.sandbox.clock()
    status, found = api.send("POST", f"/api/sandboxes/{world.sandbox.name}/{path}", body)
    if not message:
        assert status == 200
        return
    assert status == 400
    assert message in found["message"]
    assert world.sandbox.clock() == before


@pytest.mark.parametrize(
    ("asked", "classes"),
    [({}, ["standard"]), ({"scenario": "gang"}, []), ({"manifests": [node("n1")]}, [])],
    ids=["empty", "scenario", "manifests"],
)
def test_an_empty_sandbox_has_a_default_class(
    api: DocumentedClient, store: Store, names: list[str], asked: dict[str, Any], classes: list[str]
) -> None:
    names.append(api.send("POST", "/api/sandboxes", asked)[1]["name"])
    listed = store.sandbox(names[0]).list("storageclasses.storage.k8s.io").items
    assert [each["metadata"]["name"] for each in listed] == classes


def test_a_name_that_is_taken_is_refused(api: DocumentedClient, world: World) -> None:
    status, found = api.send("POST", "/api/sandboxes", {"name": world.sandbox.name})
    assert (status, found["reason"]) == (409, "AlreadyExists")


def test_other_requests_are_answered_as_by_kubernetes(api: DocumentedClient, world: World) -> None:
    one = f"/api/sandboxes/{world.sandbox.name}"
    assert api.send("PUT", one)[1]["reason"] == "MethodNotAllowed"
    assert api.send("GET", "/api/sandboxes/nowhere")[1]["message"] == 'sandboxes "nowhere" not found'
    assert api.send("GET", f"{one}/pods/default/nobody/explanation")[0] == 404
    assert api.send("POST", f"{one}/pods/default/nobody/question")[0] == 404
    assert api.send("GET", f"{one}/trace?after=x")[0] == api.send("GET", f"{one}/trace?limit=0")[0] == 400
    client = api.client
    unknown = client.get("/api/nothing")
    assert (unknown.status_code, json.loads(unknown.content)["reason"]) == (404, "NotFound")
    form = client.post("/api/sandboxes", {"name": "x"})
    assert (form.status_code, json.loads(form.content)["reason"]) == (415, "UnsupportedMediaType")
    large = client.post("/api/sandboxes", b"[" * 600_000, "application/json")
    assert large.status_code == 413
    deep = client.post("/api/sandboxes", b"[" * 5_000, "application/json")
    assert deep.status_code == 400


def test_pages_of_other_sites_may_not_write(api: DocumentedClient, world: World) -> None:
    status, found = api.send(
        "POST", f"/api/sandboxes/{world.sandbox.name}/resume", origin="https://example.com"
    )
    assert (status, found["reason"]) == (403, "Forbidden")
    assert world.sandbox.clock().paused


def test_a_sandbox_created_by_the_api_belongs_to_its_creator(
    store: Store, sandbox_name: str, names: list[str]
) -> None:
    with override_settings(ACCESS="owners"):
        owner = DocumentedClient(new_client())
        made = owner.send("POST", "/api/sandboxes", {"name": sandbox_name, "manifests": [pod("web")]})[1]
        names.append(made["name"])
        assert made["right"] == "own"
        sandbox = store.handle(made["name"])
        assert read_record(sandbox.access() or "").owner == owner_in(owner.client)
        one = f"/api/sandboxes/{made['name']}"
        stranger = DocumentedClient(new_client())
        assert stranger.send("GET", one)[0] == 401
        assert made["name"] not in [
            each["name"] for each in stranger.send("GET", "/api/sandboxes")[1]["items"]
        ]
        _, token = make_link(sandbox, "view", "for CI")
        bearer = {"Authorization": f"Bearer {token}"}
        assert stranger.send("GET", one, **bearer)[1]["right"] == "view"
        status, refused = stranger.send("POST", f"{one}/resume", **bearer)
        assert (status, re.sub(r"view:\w+", "view:ID", refused["message"])) == (
            403,
            'forbidden: User "schedviz:view:ID" cannot post path "/resume"',
        )
        branch = stranger.send("POST", f"{one}/branches")[0]
        assert branch == 401
        assert stranger.send("DELETE", one, **bearer)[0] == 403
        assert owner.send("DELETE", one)[0] == 204
        names.clear()


@override_settings(LIMITS={"MAX_SANDBOXES_PER_OWNER": 1})
def test_the_limits_hold(store: Store, names: list[str]) -> None:
    from schedviz.limit_settings import LIMITS

    with override_settings(ACCESS="owners", LIMITS={**LIMITS, "MAX_SANDBOXES_PER_OWNER": 1}):
        owner = DocumentedClient(new_client())
        names.append(owner.send("POST", "/api/sandboxes", {})[1]["name"])
        for path in ("/api/sandboxes", f"/api/sandboxes/{names[0]}/branches"):
            status, refused = owner.send("POST", path, {})
            assert (status, refused["reason"]) == (429, "TooManyRequests")
            assert "MAX_SANDBOXES_PER_OWNER is 1" in refused["message"]


def test_a_template_matches_its_paths_only() -> None:
    assert is_path_of("/api/sandboxes/{name}/trace", "/api/sandboxes/demo/trace")
    assert not is_path_of("/api/sandboxes/{name}", "/api/sandboxes/demo/trace")


def test_the_manual_lists_each_operation_with_its_right() -> None:
    text = (Path(__file__).parent.parent.parent / "docs" / "SANDBOX_API.md").read_text()
    rows = re.findall(r"^\| `(/api/[^`]+)` \| ([A-Z]+) \| .* \| (\w+) \|$", text, re.MULTILINE)
    listed = {(path, method): right for path, method, right in rows}
    assert len(listed) == len(rows)
    expected = {
        (template(route), method.upper()): route.right(RequestFactory().generic(method, "/")).name.lower()
        for route in urlpatterns
        for method in operations_of(route)
    }
    assert listed == expected
