"""The writes of components, which must stay cheap."""

from collections.abc import Callable

from simulator.api import Change, Manifest, Micros
from simulator.apiserver.binding import admit_binding
from simulator.apiserver.delete_options import Propagation
from simulator.apiserver.deletion import admit_delete, is_removed
from simulator.apiserver.generation import with_next_generation
from simulator.apiserver.resource import Resource
from simulator.objects.metadata import key_of, version_of


class ComponentWrites:
    """The fast paths of the API server, for the scheduler, the kubelets and the controllers.

    They skip what cannot fail or change nothing, as a component writes an object that it has read from this
    server, and only the fields that it is there to write: decoding, defaults and validation (the object had
    them when it was created), admission (no plugin looks at these fields), quotas (the amounts that are
    charged stay), and managedFields (components own no fields). Each method says what it does not skip. A
    component may change an object by the write that deletes it: ``manifest`` is then the changed object, with
    the resourceVersion of the stored one. Upstream sends two requests."""

    def __init__(self, clock: Callable[[], Micros]) -> None:
        self.now = clock

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
        return [Change(resource, key, with_next_generation(old, new), version)]

    def delete_by_component(
        self, resource: Resource, manifest: Manifest, propagation: Propagation | None = None
    ) -> list[Change]:
        """Delete an object with its own grace period: see :func:`admit_delete`. There is no change if it is
        marked already, and no write of the last state before an object is removed."""
        change = admit_delete(resource, manifest, self.now(), propagation=propagation)
        return [] if change is None else [change]

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

    def bind_by_component(self, pod: Manifest, node: str) -> list[Change]:
        """Assign a pod to a node: see :func:`admit_binding`. The scheduler has seen that the namespace
        exists."""
        return [admit_binding(pod, {"target": {"kind": "Node", "name": node}}, self.now())]
