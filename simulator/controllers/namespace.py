"""The namespace controller: deletes the objects in a terminating namespace, pods first, then the namespace
(pkg/controller/namespace/deletion/namespaced_resources_deleter.go, with OrderedNamespaceDeletion)."""

from simulator.api import SECOND, ApiError, Manifest
from simulator.apiserver.component_writes import finalized_namespace
from simulator.controllers.controller import Controller
from simulator.controllers.work_queue import ObjectKey
from simulator.objects.metadata import finalizers_of, is_terminating, namespace_of_key

NAMESPACES = "namespaces"
DELETED_AT_ONCE = 500
"""Number of objects that one run deletes. A commit of so many blocks the store for about 10 ms."""
FINALIZER_SECONDS = 15
"""The estimated number of seconds that finalizers take (finalizerEstimateSeconds)."""


class NamespaceController(Controller):
    component = "Namespace"
    resource = NAMESPACES
    watches = (NAMESPACES,)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if new is not None and is_terminating(new):
            self.enqueue(key)

    def sync(self, key: str, manifest: Manifest) -> None:
        if not manifest.get("spec", {}).get("finalizers"):
            return
        try:
            left = self._delete_contents(key, manifest)
            if left is None:
                self.patch(NAMESPACES, manifest, finalized_namespace)
                return
        except ApiError:
            # Others may delete them too: a page does it at once.
            left = 0
        # Upstream waits for half of the time that the objects need, and a second.
        self.enqueue(key, self._world.now + left * SECOND // 2 + SECOND)

    def _delete_contents(self, namespace: str, manifest: Manifest) -> int | None:
        """Delete what is in the namespace. Return the seconds for which some of it is expected to stay; None
        if nothing was left."""
        for resources in (("pods",), self._world.informer.resources()):
            found = [self._items(resource, namespace) for resource in resources]
            left = [item for items in found for item in items]
            if not left:
                continue
            room = DELETED_AT_ONCE
            for items in found:
                live = [item for item in items if not is_terminating(item)]
                if live[:room]:
                    self.delete(manifest, live[:room], "its namespace is being deleted", "Background")
                if len(live) > room:
                    self.go_on(ObjectKey(self.resource, namespace), len(left))
                    break
                room -= len(live)
            return max(map(_estimate, left))
        return None

    def _items(self, resource: str, namespace: str) -> list[Manifest]:
        objects = self._world.informer.of(resource)
        return [item for key, item in objects.items() if namespace_of_key(key) == namespace]


def _estimate(manifest: Manifest) -> int:
    """Return the seconds for which an object is expected to stay."""
    if finalizers_of(manifest):
        return FINALIZER_SECONDS
    metadata, spec = manifest["metadata"], manifest.get("spec", {})
    own: int = spec.get("terminationGracePeriodSeconds", 0)
    return metadata.get("deletionGracePeriodSeconds", own) if spec.get("nodeName") else 0
