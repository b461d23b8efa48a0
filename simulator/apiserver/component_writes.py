"""The API server as components write to it. Their writes must stay cheap."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Literal

from simulator.api import Admission, Change, Manifest, Micros
from simulator.apiserver.overlay import Reader
from simulator.apiserver.resource import Resource
from simulator.objects.metadata import GENERATION, finalizers_of, is_terminating, key_of, version_of
from simulator.versions.features import Features

Propagation = Literal["Orphan", "Background", "Foreground"]
"""The treatment of an object's dependents: kept, deleted after the object, or deleted before it."""


class ComponentWrites(ABC):
    """The API server for the scheduler, the kubelets and the controllers: what they write by, and which
    resources there are. :class:`simulator.apiserver.server.ApiServer` is it; a component is given it and
    imports nothing of it.

    The fast paths skip what cannot fail or change nothing, as a component writes an object that it has read
    from this server, and only the fields that it is there to write: decoding, defaults and validation (the
    object had them when it was created), admission (no plugin looks at these fields), quotas (the amounts
    that are charged stay), and managedFields (components own no fields). Each method says what it does not
    skip. A component may change an object by the write that deletes it: ``manifest`` is then the changed
    object, with the resourceVersion of the stored one. Upstream sends two requests."""

    @abstractmethod
    def create_all(
        self, documents: Sequence[Manifest], *, namespace: str = "default", source: str = ""
    ) -> Admission:
        """Create the objects of these manifests, all or none. Nothing is skipped. Raises StatusError.
        ``namespace``: that of objects that have none. ``source`` identifies the call: UIDs and generated
        names are computed from it."""

    @abstractmethod
    def delete_by_component(self, manifest: Manifest, propagation: Propagation | None = None) -> list[Change]:
        """Delete an object with its own grace period. There is no change if it is marked already, and no
        write of the last state before an object is removed."""

    @abstractmethod
    def bind_by_component(self, pod: Manifest, node: str) -> list[Change]:
        """Assign a pod to a node. The scheduler has seen that the namespace exists. Raises StatusError."""

    @abstractmethod
    def update_whole(self, resource: Resource, old: Manifest, new: Manifest) -> Sequence[Change]:
        """Update an object together with its status. Nothing is skipped. Raises StatusError."""

    @abstractmethod
    def find_resource(self, resource_id: str) -> Resource | None:
        """Return the resource of this id, built in or defined, or of which objects are stored; None if there
        is none."""

    @abstractmethod
    def find_built_in(self, resource_id: str) -> Resource | None:
        """Return the built-in resource that is stored by this id; None if there is none."""

    @abstractmethod
    def find_kind(self, api_version: str, kind: str) -> Resource | None:
        """Return the resource of a kind, which may have no definition; None for a kind that cannot exist."""

    @staticmethod
    def create_by_component(resource: str, manifest: Manifest) -> Change:
        """Create an object that is complete, with its UID and creationTimestamp: an Event."""
        return Change(resource, key_of(manifest), manifest, expected=0)

    @staticmethod
    def patch_by_component(resource: str, manifest: Manifest) -> Change:
        """Write an object of which no other component writes any field, at any version: an Event."""
        return Change(resource, key_of(manifest), manifest)

    @staticmethod
    def update_by_component(resource: str, old: Manifest, new: Manifest) -> list[Change]:
        """Update an object, or its status. It gets the next generation if its spec has changed, and is
        removed if it waited for nothing but a finalizer that it has no longer. ``new is old``: no change."""
        if new is old:
            return []
        key, version = key_of(old), version_of(old)
        if is_removed(new):
            return [Change(resource, key, None, version)]
        return [Change(resource, key, _with_next_generation(old, new), version)]

    @staticmethod
    def remove_by_component(resource: str, old: Manifest, last: Manifest | None = None) -> list[Change]:
        """Remove an object at once, without its grace period and its finalizers: a pod that has ended.
        ``last``: its last state, which is written before."""
        key, version = key_of(old), version_of(old)
        if last is None or last is old:
            return [Change(resource, key, None, version)]
        return [Change(resource, key, last, version), Change(resource, key, None)]

    @staticmethod
    def remove_at_any_version(resource: str, key: str) -> Change:
        """Remove an object at once which is not read before: one in a namespace that is being deleted, or an
        Event whose time to live is over."""
        return Change(resource, key, None)


MakeServer = Callable[[Reader, Callable[[], Micros], Features], ComponentWrites]
"""Makes the API server that decides on what a reader shows, at the time that a clock shows."""


def is_removed(manifest: Manifest) -> bool:
    """Whether the object waits for nothing any more and so is removed by the write that makes it so: it is
    marked for deletion, its grace period is 0, and it has no finalizer (ShouldDeleteDuringUpdate;
    ShouldDeleteNamespaceDuringUpdate for the finalizers of a namespace's spec)."""
    grace = manifest["metadata"].get("deletionGracePeriodSeconds", 0)
    if not is_terminating(manifest) or grace or finalizers_of(manifest):
        return False
    return not (_is_namespace(manifest) and manifest.get("spec", {}).get("finalizers"))


def finalized_namespace(namespace: Manifest) -> Manifest:
    """Return the namespace without the finalizers of its spec, as its controller writes it when it is
    empty."""
    return {**namespace, "spec": {**namespace.get("spec", {}), "finalizers": []}}


def _is_namespace(manifest: Manifest) -> bool:
    return manifest.get("kind") == "Namespace" and manifest.get("apiVersion") == "v1"


def _with_next_generation(old: Manifest, new: Manifest) -> Manifest:
    """Return ``new`` with the next generation if it has one and its spec is another than that of ``old``: for
    writes of controllers, which change nothing else that counts."""
    spec, metadata = new.get("spec"), new["metadata"]
    if spec is old.get("spec") or GENERATION not in metadata or spec == old.get("spec"):
        return new
    return {**new, "metadata": {**metadata, GENERATION: old["metadata"][GENERATION] + 1}}
