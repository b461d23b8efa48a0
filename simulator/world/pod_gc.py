"""Pods of nodes that are gone are removed (gcOrphaned in pkg/controller/podgc/gc_controller.go, v1.34)."""

from simulator.api import SECOND, Micros
from simulator.objects.pod import Pod
from simulator.world.agenda import Turn
from simulator.world.world import World

QUARANTINE: Micros = 40 * SECOND
"""How long a node may be away before its pods are given up."""


class PodGarbageCollector:
    """``pods`` holds all pods by ``namespace/name``; it is kept up to date by others."""

    def __init__(self, world: World, pods: dict[str, Pod]) -> None:
        self._world = world
        self._pods = pods
        self._quarantined: set[str] = set()

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None and new.node_name and self._world.informer.get("nodes", new.node_name) is None:
            self.node_gone(new.node_name)

    def node_gone(self, name: str) -> None:
        if name not in self._quarantined:
            self._quarantined.add(name)
            time = self._world.now + QUARANTINE
            self._world.agenda.add(time, Turn.CONTROLLER, lambda: self._collect(name))

    def _collect(self, name: str) -> None:
        self._quarantined.discard(name)
        if self._world.informer.get("nodes", name) is None:
            for pod in [pod for pod in self._pods.values() if pod.node_name == name]:
                self._world.update("pods", pod.key, pod.uid, lambda manifest: None)
