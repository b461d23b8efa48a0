"""A cluster in a dict, to admit objects into."""

import builtins
from collections.abc import Callable, Sequence
from typing import Any

from simulator.api import SECOND, Admission, Change, Manifest
from simulator.apiserver import admission
from simulator.apiserver.admission import Entry
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.new_cluster import bootstrap
from simulator.apiserver.overlay import ObjectList
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import StatusError
from simulator.apiserver.update import admit_update

NOW = 1_700_000_000 * SECOND


class Cluster:
    """Every write gets a version, as in the store. Preconditions are not checked: the store does that."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Manifest]] = {}
        self.version = 0
        self.commit(bootstrap(NOW))

    def list(self, resource: str, namespace: str = "") -> ObjectList:
        return ObjectList.of(self.objects.get(resource, {}), self.version, namespace)

    def find(self, resource: str, key: str) -> ObjectList:
        return ObjectList.with_key(self.objects.get(resource, {}), self.version, key)

    def names(self, resource: str) -> builtins.list[str]:
        return [*self.objects.get(resource, {})]

    def commit(self, changes: Sequence[Change]) -> builtins.list[Manifest]:
        written = []
        for change in changes:
            self.version += 1
            collection = self.objects.setdefault(change.resource, {})
            if change.object is None:
                written.append(collection.pop(change.key))
                continue
            metadata = {**change.object["metadata"], "resourceVersion": str(self.version)}
            collection[change.key] = {**change.object, "metadata": metadata}
            written.append(collection[change.key])
        return written

    def create(self, text: str | builtins.list[Manifest]) -> builtins.list[Manifest]:
        """Admit and store objects. Returns the stored objects."""
        documents = parse_manifests(text) if isinstance(text, str) else text
        return self.commit(self.admit(documents).changes)

    def admit(self, documents: builtins.list[Manifest], entry: Entry = "page") -> Admission:
        return admission.admit(documents, self, NOW, source=f"test/{self.version}", entry=entry)

    def update(self, resource: Resource, old: Manifest, new: Manifest, subresource: str = "") -> Manifest:
        """The object after an update."""
        changes = admit_update(resource, old, new, self, subresource=subresource).changes
        return self.commit(changes)[0] if changes else old


def pod(name: str = "web", **spec: object) -> Manifest:
    container = {"name": "main", "image": "web:1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container], **spec},
    }


def priority_class(name: str, value: int, **fields: object) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **fields,
    }


def refusal(call: Callable[[], Any]) -> StatusError | None:
    """The StatusError that a call raises. Other exceptions are not caught."""
    try:
        call()
    except StatusError as error:
        return error
    return None
