"""The write path with concurrent writes, and without the store."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.test import RequestFactory

from schedviz.api import removal, views, write
from schedviz.api.admitted_write import write_admitted
from schedviz.cache import default_caches
from schedviz.store import Commit, Sandbox, Store
from simulator.api import Admission, Manifest
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.request_options import DeleteOptions, WriteOptions
from simulator.apiserver.resources import NAMESPACES
from simulator.apiserver.server import ApiServer
from simulator.apiserver.status import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NamespaceTerminating,
    StatusError,
)
from tests.api.asking import request


def default_class(number: int) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": f"class-{number}"},
        "value": number,
        "globalDefault": True,
    }


def pod(**metadata: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "main", "image": "web:1"}]},
    }


def all_at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """The result of each call, or the StatusError that it raised."""

    def outcome(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except StatusError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return [*pool.map(outcome, calls)]


def test_the_writes_of_a_process_to_a_sandbox_wait_for_each_other(store: Store, cluster: str) -> None:
    sandbox = store.sandbox(cluster)
    inside: list[str] = []
    decided: list[str] = []

    def created(name: str) -> None:
        def decide(server: ApiServer) -> Admission:
            inside.append(name)
            admitted = server.create_all([pod(name=name)])
            decided.append(name)
            assert inside == [name], "no other one is in here"
            inside.clear()
            return admitted

        write_admitted(sandbox, decide)

    names = [f"web-{number}" for number in range(8)]
    assert all_at_once([lambda name=name: created(name) for name in names]) == [None] * 8
    assert sorted(decided) == names, "each is decided once"


def test_a_write_is_decided_again_when_another_process_wrote_what_it_read(store: Store, cluster: str) -> None:
    sandbox = store.sandbox(cluster)
    versions: list[int] = []

    def decide(server: ApiServer) -> Admission:
        admitted = server.create_all([default_class(1)])
        versions.append(sandbox.version())
        if len(versions) == 1:
            other = server.create_all([default_class(2)], source="other process")
            sandbox.commit(Commit(other.changes, unchanged=other.unchanged))
        return admitted

    with pytest.raises(Forbidden):
        write_admitted(sandbox, decide)
    assert len(versions) == 1, "the second decision is the refusal"
    classes = sandbox.list("priorityclasses.scheduling.k8s.io").items
    assert [item["metadata"]["name"] for item in classes if item.get("globalDefault")] == ["class-2"]


@pytest.mark.parametrize("cached", [False, True], ids=["from the store", "cached"])
@pytest.mark.parametrize("written", ["namespaces", "limitranges"])
def test_a_pod_is_decided_again_when_its_namespace_or_what_is_in_it_changed(
    store: Store, cluster: str, written: str, cached: bool
) -> None:
    sandbox = store.sandbox(cluster)
    write.create(sandbox, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}])
    if cached:
        default_caches().read(cluster)
    spec = {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}
    metadata = {"name": "l", "namespace": "team"}
    limit_range = {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec}

    changes: dict[str, Callable[[ApiServer], Admission]] = {
        "namespaces": lambda server: server.delete(RequestPlace(NAMESPACES, "", "team"), DeleteOptions()),
        "limitranges": lambda server: server.create_all([limit_range], source="other"),
    }
    decided: list[int] = []

    def decide(server: ApiServer) -> Admission:
        admitted = server.create_all([pod(name="web", namespace="team")])
        decided.append(sandbox.version())
        if len(decided) == 1:
            sandbox.commit(Commit(changes[written](server).changes))
        return admitted

    with pytest.raises(Forbidden if written == "limitranges" else NamespaceTerminating):
        write_admitted(sandbox, decide)
    assert sandbox.get("pods", "team/web") is None


def test_a_decision_that_is_repeated_warns_once(store: Store, cluster: str) -> None:
    sandbox, options = store.sandbox(cluster), WriteOptions(warnings=["of the request"])
    decided: list[int] = []

    def decide(server: ApiServer) -> Admission:
        decided.append(sandbox.version())
        options.warnings.append("of the kind")
        if len(decided) == 3:
            raise BadRequest("no")
        admitted = server.create_all([default_class(len(decided))])
        if len(decided) == 1:
            other = {**default_class(9), "globalDefault": False}
            sandbox.commit(Commit(server.create_all([other], source="other").changes))
        return admitted

    write_admitted(sandbox, decide, options)
    assert len(decided) == 2
    assert options.warnings == ["of the request", "of the kind"]
    with pytest.raises(BadRequest) as error:
        write_admitted(sandbox, decide, options)
    assert error.value.warnings == ["of the request", "of the kind", "of the kind"]


def test_of_many_concurrent_default_classes_one_is_created(store: Store, cluster: str) -> None:
    sandbox = store.sandbox(cluster)
    outcomes = all_at_once(
        [lambda n=number: write.create(sandbox, [default_class(n)]) for number in range(8)]
    )
    assert sum(isinstance(outcome, Forbidden) for outcome in outcomes) == 7
    classes = sandbox.list("priorityclasses.scheduling.k8s.io").items
    assert sum(bool(item.get("globalDefault")) for item in classes) == 1


def test_of_many_concurrent_pods_as_many_are_created_as_a_quota_allows(store: Store, cluster: str) -> None:
    sandbox = store.sandbox(cluster)
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}}
    limits = {"hard": {"pods": "3"}}
    [made] = write.create(sandbox, [{**quota, "spec": limits}])
    used = {**made, "status": {**limits, "used": {"pods": "0"}}}
    write.replace(sandbox, "resourcequotas", "default/q", used, subresource="status")
    write.create(sandbox, [pod(name="dry")], dry_run=True)
    outcomes = all_at_once([lambda n=n: write.create(sandbox, [pod(name=f"p{n}")]) for n in range(8)])
    refused = [outcome for outcome in outcomes if isinstance(outcome, Forbidden)]
    assert len(refused) == 5
    assert "exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3" in str(refused[0])
    assert [len(outcome) for outcome in outcomes if isinstance(outcome, list)] == [1, 1, 1], "the pod alone"
    [charged] = sandbox.list("resourcequotas").items
    assert charged["status"]["used"] == {"pods": "3"}
    with pytest.raises(Forbidden):
        write.create(sandbox, [pod(name="dry")], dry_run=True)


def test_concurrent_changes_are_all_stored(store: Store, cluster: str) -> None:
    sandbox = store.sandbox(cluster)
    write.create(sandbox, [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}])
    all_at_once(
        [
            lambda n=number: write.patch(sandbox, "nodes", "n", {"metadata": {"labels": {f"l{n}": "x"}}})
            for number in range(8)
        ]
    )
    node = sandbox.get("nodes", "n")
    assert node
    assert {f"l{number}" for number in range(8)} <= node["metadata"]["labels"].keys()


def test_generated_names_never_conflict_and_given_ones_do(store: Store, cluster: str) -> None:
    sandbox = store.sandbox(cluster)
    outcomes = all_at_once([lambda: write.create(sandbox, [pod(generateName="web-")] * 5)] * 8)
    names = {item["metadata"]["name"] for outcome in outcomes for item in outcome}
    assert len(names) == 40
    given = all_at_once([lambda: write.create(sandbox, [pod(name="web")])] * 4)
    assert sum(isinstance(outcome, AlreadyExists) for outcome in given) == 3


def test_all_objects_of_a_request_are_stored_or_none(store: Store, cluster: str) -> None:
    sandbox = store.sandbox(cluster)
    write.create(sandbox, [pod(name="there")])
    with pytest.raises(AlreadyExists):
        write.create(sandbox, [pod(name="new"), pod(name="there")])
    assert [item["metadata"]["name"] for item in sandbox.list("pods").items] == ["there"]


def test_an_unavailable_store_is_reported_by_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    away = Store("redis://127.0.0.1:1/0")
    monkeypatch.setattr(views, "features_of", away.sandbox)
    response = views.api(RequestFactory().get("/"), name="x", path="api/v1/pods")
    answer = json.loads(response.content)
    assert (response.status_code, answer["reason"]) == (503, "ServiceUnavailable")
    away.close()


def test_a_pod_is_deleted_and_recreated_in_one_commit_or_not_at_all(sandbox: Sandbox) -> None:
    write.create(sandbox, [pod(name="web")])
    [old] = sandbox.list("pods").items
    version = sandbox.version()
    with pytest.raises(Invalid):
        removal.recreate(sandbox, "pods", "default/web", {**pod(name="web"), "spec": {"containers": []}})
    assert sandbox.version() == version
    made = removal.recreate(sandbox, "pods", "default/web", pod(name="web"))
    assert [event.type for event in sandbox.events(version)] == ["MODIFIED", "DELETED", "ADDED"]
    assert sandbox.list("pods").items == [made]
    assert made["metadata"]["uid"] != old["metadata"]["uid"]
    write.patch(sandbox, "pods", "default/web", {"metadata": {"finalizers": ["example.com/kept"]}})
    version = sandbox.version()
    with pytest.raises(Conflict):
        removal.recreate(sandbox, "pods", "default/web", pod(name="web"))
    assert sandbox.version() == version


@pytest.mark.parametrize(
    ("version", "code", "message"),
    [
        ("old", 201, None),
        ("v1", 201, None),
        ("0", 201, None),
        ("", 201, None),
        ("18446744073709551616", 201, None),
        ("7", 500, "resourceVersion should not be set on objects to be created"),
        ("007", 500, "resourceVersion should not be set on objects to be created"),
    ],
)
def test_only_a_number_as_resource_version_is_refused_on_create(
    url: str, version: str, code: int, message: str | None
) -> None:
    body = {"metadata": {"name": "a", "resourceVersion": version}, "data": {"k": "v"}}
    maps = f"{url}/api/v1/namespaces/default/configmaps"
    status, answer = request(maps, "POST", json.dumps(body))
    assert (status, answer.get("message")) == (code, message)
    dry = body | {"metadata": {"name": "b", "resourceVersion": version}}
    assert request(f"{maps}?dryRun=All", "POST", json.dumps(dry))[0] == 201
    if code == 500:
        named = {"name": "a/b", "resourceVersion": version}
        assert request(maps, "POST", json.dumps(body | {"metadata": named}))[0] == 422  # is checked before
    else:
        assert answer["metadata"]["resourceVersion"] not in (version, "")


@pytest.mark.parametrize(
    ("version", "created", "replaced"),
    [("old", 500, 500), ("18446744073709551616", 500, 500), ("1", 201, 409), ("00", 201, 422)],
)
def test_an_update_that_creates_an_object_needs_a_resource_version_that_is_a_number(
    url: str, version: str, created: int, replaced: int
) -> None:
    """PUT and apply, of objects that do not exist and that do."""
    leases = f"{url}/apis/coordination.k8s.io/v1/namespaces/default/leases"
    headers = {"Content-Type": "application/apply-patch+yaml"}
    for name, method, parameters, again in (
        ("put", "PUT", "", replaced),
        ("applied", "PATCH", "?fieldManager=test", {422: 200}.get(replaced, replaced)),
    ):
        metadata = {"name": name, "resourceVersion": version}
        body = json.dumps({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata})
        path, kind = f"{leases}/{name}{parameters}", headers if method == "PATCH" else {}
        status, answer = request(path, method, body, kind)
        assert status == created
        if created == 500:
            assert answer["message"].startswith(f'strconv.ParseUint: parsing "{version}": ')
            assert request(leases, "POST", json.dumps({"metadata": {"name": name}}))[0] == 201
        assert request(path, method, body, kind)[0] == again
