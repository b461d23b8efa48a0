"""The pod garbage collector: removes the pods of nodes that were deleted (gcOrphaned in
pkg/controller/podgc/gc_controller.go)."""

from functools import partial

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.controller import Controller
from simulator.controllers.work_queue import ObjectKey

QUARANTINE: Micros = 40 * SECOND
"""The time for which a node must be missing before its pods are removed (quarantineTime)."""


class PodGarbageCollector(Controller):
    component = "PodGarbageCollector"
    resource = "nodes"
    watches = ("nodes", "pods")

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if resource == "nodes" and new is None:
            self._quarantine(key)
        elif resource == "pods" and new is not None:
            node = new["spec"].get("nodeName")
            if node and self._world.informer.get("nodes", node) is None:
                self._quarantine(node)

    def _quarantine(self, node: str) -> None:
        self.enqueue(node, self._world.now + QUARANTINE)

    def sync(self, key: str, manifest: Manifest) -> None:
        """Do nothing: the node exists again, so its pods stay."""

    def sync_deleted(self, key: str) -> None:
        pods = [pod for pod in self._pods.values() if pod.node_name == key]
        for pod in self.part_of(ObjectKey(self.resource, key), pods):
            self.write("pods", pod.manifest, partial(self._world.server.remove_by_component, "pods"))
