"""A namespace is deleted with all its objects, for any number of them, while time runs or stands still."""

import threading
from contextlib import suppress

import pytest
from kubernetes import client

from schedviz.api import removal, write
from schedviz.store import Commit, Sandbox, Store
from schedviz.store.bounds import LOG_LENGTH
from simulator.api import Change, Manifest
from simulator.apiserver.status import Forbidden, NotFound
from simulator.trace import ControllerFailed
from tests.loop.conftest import node, pod
from tests.processes import Process
from tests.waiting import eventually

MANY = 10_500
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "big"}}


def config_map(number: int, namespace: str = "big") -> Change:
    metadata = {"name": f"c{number}", "namespace": namespace, "uid": f"{namespace}-{number}"}
    manifest: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    return Change("configmaps", f"{namespace}/c{number}", manifest, expected=0)


def fill(sandbox: Sandbox, count: int) -> None:
    for first in range(0, count, 5_000):
        sandbox.commit(Commit([config_map(number) for number in range(first, min(first + 5_000, count))]))


@pytest.fixture
def paused(store: Store, cluster: str) -> Sandbox:
    sandbox = store.sandbox(cluster)
    write.create(sandbox, [NAMESPACE])
    sandbox.commit(Commit([config_map(1, "default"), config_map(1, "bigger")]))
    return sandbox


def left(sandbox: Sandbox) -> set[str]:
    return set(sandbox.names("configmaps"))


def test_more_objects_than_one_commit_may_have_are_deleted_while_time_stands_still(
    core: client.CoreV1Api, paused: Sandbox
) -> None:
    fill(paused, MANY)
    removal.delete(paused, "namespaces", "big")
    assert left(paused) == {"default/c1", "bigger/c1"}
    with pytest.raises(client.ApiException) as missing:
        core.read_namespace("big")
    assert missing.value.status == 404


def test_a_client_of_the_api_waits_for_the_namespace_controller(
    core: client.CoreV1Api, paused: Sandbox
) -> None:
    fill(paused, 3)
    core.delete_namespace("big")
    ending = core.read_namespace("big")
    assert (ending.status.phase, ending.spec.finalizers) == ("Terminating", ["kubernetes"])
    assert {"big/c0", "big/c1", "big/c2"} <= left(paused)


def test_no_commit_is_large_and_the_first_says_that_the_namespace_ends(
    paused: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedviz.store.commit_script.MAX_CHANGES", 500)
    for first in range(0, 1_500, 500):
        paused.commit(Commit([config_map(number) for number in range(first, first + 500)]))
    before = paused.version()
    deleted = removal.delete(paused, "namespaces", "big").object
    assert deleted["status"]["phase"] == "Terminating"
    first, *rest = paused.events(before, LOG_LENGTH)
    assert (first.type, first.resource, first.object["status"]["phase"]) == (
        "MODIFIED",
        "namespaces",
        "Terminating",
    )
    assert first.object["metadata"]["deletionTimestamp"]
    assert {event.resource for event in rest[:-1]} == {"configmaps"}
    assert {event.type for event in rest} == {"DELETED"}
    assert rest[-1].resource == "namespaces"


def test_a_terminating_namespace_refuses_new_objects_and_waits_for_finalizers(
    paused: Sandbox,
) -> None:
    fill(paused, 3)
    write.patch(paused, "namespaces", "big", {"metadata": {"finalizers": ["example.com/audit"]}})
    removal.delete(paused, "namespaces", "big")
    assert left(paused) == {"default/c1", "bigger/c1"}
    with pytest.raises(Forbidden, match="because it is being terminated"):
        write.create(paused, [{**pod("web"), "metadata": {"name": "web", "namespace": "big"}}])
    write.patch(paused, "namespaces", "big", {"metadata": {"finalizers": None}})
    assert paused.get("namespaces", "big") is None


def test_an_interrupted_deletion_continues_when_it_is_requested_again(paused: Sandbox) -> None:
    fill(paused, 3)
    write.patch(paused, "namespaces", "big", {"metadata": {"finalizers": ["example.com/audit"]}})
    removal.delete(paused, "namespaces", "big")
    fill(paused, 3)  # as if the process had ended after the first commit
    write.patch(paused, "namespaces", "big", {"metadata": {"labels": {"a": "b"}}})
    removal.delete(paused, "namespaces", "big")
    assert left(paused) == {"default/c1", "bigger/c1"}


def test_a_dry_run_deletes_nothing(paused: Sandbox) -> None:
    fill(paused, 3)
    before = paused.version()
    assert (
        removal.delete(paused, "namespaces", "big", dry_run=True).object["status"]["phase"] == "Terminating"
    )
    assert paused.version() == before


def test_others_may_delete_the_same_objects_at_the_same_time(paused: Sandbox) -> None:
    fill(paused, 2_000)

    def delete_each() -> None:
        for number in range(0, 2_000, 7):
            with suppress(NotFound):
                removal.delete(paused, "configmaps", f"big/c{number}")

    other = threading.Thread(target=delete_each)
    other.start()
    removal.delete(paused, "namespaces", "big")
    other.join()
    assert left(paused) == {"default/c1", "bigger/c1"}
    assert paused.get("namespaces", "big") is None


def test_controllers_create_nothing_in_a_terminating_namespace(
    store: Store, sandbox: Sandbox, worker: Process
) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("x")["spec"]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "big"},
        "spec": {"replicas": 5, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
    write.create(sandbox, [node("n"), NAMESPACE, deployment])
    eventually(lambda: sandbox.count("pods") == 5, "the pods are there")
    removal.delete(sandbox, "namespaces", "big")
    after = sandbox.version()
    eventually(lambda: sandbox.progress()[0] >= after, "the loop has seen it")
    names = {name for resource in sandbox.resources() for name in sandbox.names(resource)}
    assert not [name for name in names if name.startswith("big/")]
    assert not [event for _, event in sandbox.trace(0) if isinstance(event, ControllerFailed)]
