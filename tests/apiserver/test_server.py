"""Writes by the API server: what is decided is stored, or decided again."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import pytest

from simulator.api import Admission, ApiError, Manifest
from simulator.apiserver.commit import ATTEMPTS, ReadAgain, write
from simulator.apiserver.component_writes import ComponentWrites
from simulator.apiserver.new_cluster import bootstrap
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.request_errors import NotAllowedWhileTerminating
from simulator.apiserver.request_options import DeleteOptions, WriteOptions
from simulator.apiserver.resource import CRDS
from simulator.apiserver.resources import PODS, defined_resources, find_built_in
from simulator.apiserver.server import ApiServer
from simulator.apiserver.status import AlreadyExists, Conflict, NotFound, ServiceUnavailable
from simulator.apiserver.updated_objects import Intent
from simulator.memory import MemoryStorage
from simulator.objects.metadata import uid_of, with_metadata
from simulator.versions.features import DEFAULT_FEATURES
from tests.apiserver.cluster import NOW, pod

DEFINITIONS = find_built_in("apiextensions.k8s.io", "customresourcedefinitions")
assert DEFINITIONS is not None
WEB = RequestPlace(PODS, "default", "web")


class Served:
    """A storage in memory with the API server before it. ``refusals``: what the next commits raise."""

    def __init__(self) -> None:
        self.storage = MemoryStorage()
        self.storage.commit(bootstrap(NOW))
        self.refusals: list[Exception] = []
        self.decided = 0

    def serve(self) -> ApiServer:
        self.decided += 1
        return ApiServer(self.storage, lambda: NOW, DEFAULT_FEATURES, lambda: f"test/{self.storage.version}")

    def store(self, admitted: Admission) -> Sequence[int]:
        if self.refusals:
            raise self.refusals.pop(0)
        return self.storage.commit(admitted.changes)

    def hold(self) -> AbstractContextManager[object]:
        return nullcontext()

    def create(self, *documents: Manifest) -> list[Manifest]:
        return write(self, lambda server: server.create_all(documents), WriteOptions()).objects


@pytest.fixture
def served() -> Served:
    return Served()


def labelled(old: Manifest) -> Manifest:
    return with_metadata(old, labels={"a": "b"})


def test_a_write_is_decided_again_when_what_it_read_has_changed(served: Served) -> None:
    served.create(pod())
    served.decided = 0
    served.refusals = [ReadAgain(), ApiError("Conflict", "pods", "default/web")]
    written = write(served, lambda server: server.update(WEB, labelled, WriteOptions()), WriteOptions())
    assert (served.decided, written.object["metadata"]["labels"]) == (3, {"a": "b"})
    served.refusals = [ReadAgain() for _ in range(ATTEMPTS)]
    with pytest.raises(ServiceUnavailable):
        write(served, lambda server: server.delete(WEB, DeleteOptions()), WriteOptions())
    served.refusals = [ApiError("Conflict", "pods", "default/web") for _ in range(ATTEMPTS)]
    with pytest.raises(Conflict):
        write(served, lambda server: server.delete(WEB, DeleteOptions()), WriteOptions())


def test_a_creation_is_decided_again_only_if_another_name_or_an_update_may_follow(served: Served) -> None:
    exists = ApiError("AlreadyExists", "pods", "default/web")
    served.refusals = [exists]
    with pytest.raises(AlreadyExists):
        served.create(pod())
    served.refusals = [exists]
    [generated] = served.create({**pod(), "metadata": {"generateName": "web-"}})
    assert generated["metadata"]["name"].startswith("web-")
    served.refusals, served.decided = [exists], 0
    intent, options = Intent({**pod(), "metadata": {"name": "web", "labels": {"a": "b"}}}), WriteOptions("me")
    applied = write(served, lambda server: server.apply(WEB, intent, options), options)
    assert (served.decided, applied.is_created) == (2, True)


def test_a_dry_run_stores_nothing_and_says_what_would_be(served: Served) -> None:
    dry = WriteOptions(dry_run=True)
    written = write(served, lambda server: server.create_all([pod()], dry), dry)
    assert written.is_created
    assert served.storage.get("pods", "default/web") is None
    [real] = served.create(pod())
    assert uid_of(real) != uid_of(written.object)
    with pytest.raises(AlreadyExists):
        write(served, lambda server: server.create_all([pod()], dry), dry)
    dry_deletion = DeleteOptions(dry_run=True)
    gone = write(served, lambda server: server.delete(WEB, dry_deletion), dry_deletion)
    assert gone.is_gone
    assert served.storage.get("pods", "default/web") == real


def test_a_write_of_what_is_there_already_returns_it(served: Served) -> None:
    [made] = served.create(pod())
    same = write(served, lambda server: server.update(WEB, dict, WriteOptions()), WriteOptions())
    assert (same.changes, same.object) == ((), made)


def test_the_options_of_a_deletion_are_preconditions(served: Served) -> None:
    [made] = served.create(pod())
    other = DeleteOptions(uid="another")
    with pytest.raises(Conflict, match="the UID in the precondition"):
        write(served, lambda server: server.delete(WEB, other), WriteOptions())
    same = DeleteOptions(uid=uid_of(made))
    assert write(served, lambda server: server.delete(WEB, same), WriteOptions()).is_gone
    with pytest.raises(NotFound):
        write(served, lambda server: server.delete(WEB, DeleteOptions()), WriteOptions())


def test_a_component_changes_only_what_it_is_there_to_change() -> None:
    metadata = {"name": "web", "namespace": "default", "resourceVersion": "7", "generation": 2}
    old = {**pod(), "metadata": metadata}
    update = ComponentWrites.update_by_component
    assert update("pods", old, old) == []
    [status] = update("pods", old, {**old, "status": {"phase": "Running"}})
    assert (status.expected, (status.object or {})["metadata"]["generation"]) == (7, 2)
    [spec] = update("pods", old, {**old, "spec": {**old["spec"], "hostname": "a"}})
    assert (spec.object or {})["metadata"]["generation"] == 3
    ending = with_metadata(old, deletionTimestamp="2025-01-01T00:00:00Z", finalizers=["a/b"])
    [kept] = update("pods", ending, with_metadata(ending, labels={}))
    [gone] = update("pods", ending, with_metadata(ending, finalizers=[]))
    assert kept.object is not None
    assert (gone.object, gone.expected) == (None, 7)
    last, removed = ComponentWrites.remove_by_component("pods", old, {**old, "status": {"phase": "Failed"}})
    assert (last.expected, removed.object, removed.expected) == (7, None, None)


def test_a_definition_is_established_and_deleted_with_its_objects(served: Served) -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "gadgets", "kind": "Gadget"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }
    served.create(definition)
    [stored] = served.storage.list(CRDS).items
    states = {each["type"]: each["status"] for each in stored["status"]["conditions"]}
    assert states == {"NamesAccepted": "True", "Established": "True"}
    gadget = {"apiVersion": "example.com/v1", "kind": "Gadget"}
    kept = {"name": "kept", "finalizers": ["example.com/kept"]}
    served.create(*({**gadget, "metadata": each} for each in ({"name": "first"}, kept)))
    [resource] = defined_resources([stored])
    options = WriteOptions()
    place = RequestPlace(DEFINITIONS, "", "gadgets.example.com")
    # The first request ends before the objects are deleted; the next one goes on.
    marking = served.serve().delete(place, DeleteOptions())
    served.store(marking)
    assert len(served.storage.names(resource.id)) == 2
    assert not write(served, lambda server: server.delete(place, DeleteOptions()), options).is_gone
    assert served.storage.names(resource.id) == ["default/kept"]
    later, manifest = RequestPlace(resource, "default", ""), {**gadget, "metadata": {"name": "later"}}
    with pytest.raises(NotAllowedWhileTerminating):
        write(served, lambda server: server.create(later, manifest, options), options)
    last = RequestPlace(resource, "default", "kept")
    write(served, lambda server: server.update(last, without_finalizers, options), options)
    assert served.storage.names(CRDS) == served.storage.names(resource.id) == []


def without_finalizers(old: Manifest) -> Manifest:
    return with_metadata(old, finalizers=[])
