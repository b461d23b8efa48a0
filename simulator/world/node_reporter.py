"""What the kubelets report of their nodes, beside their pods: that they are there, and whether anything is
short.

Nobody measures anything here: two annotations on the node say what is to be reported."""

from simulator.api import Manifest
from simulator.apiserver.timestamps import timestamp
from simulator.controllers.controller import Controller
from simulator.objects.node_conditions import (
    FAILED_SINCE,
    is_broken,
    node_condition,
    short_of,
    with_node_condition,
)

SHORTAGES = {
    "memory": ("MemoryPressure", "InsufficientMemory", "SufficientMemory", "memory available"),
    "disk": ("DiskPressure", "DiskPressure", "NoDiskPressure", "disk space available"),
    "pid": ("PIDPressure", "InsufficientPID", "SufficientPID", "PID available"),
}
"""Word of the annotation -> the condition, what follows KubeletHas in its reason when the node is short of it
and when not, and what it is."""


class NodeReporter(Controller):
    resource = "nodes"
    kind = "Kubelet"
    dependents = ()

    def sync(self, key: str, manifest: Manifest) -> None:
        self.patch("nodes", manifest, self._broken if is_broken(manifest) else self._reported)

    def _broken(self, node: Manifest) -> Manifest:
        """Note since when nothing is heard of it."""
        metadata = node["metadata"]
        annotations = {FAILED_SINCE: timestamp(self._world.now), **metadata["annotations"]}
        if annotations == metadata["annotations"]:
            return node
        return {**node, "metadata": {**metadata, "annotations": annotations}}

    def _reported(self, node: Manifest) -> Manifest:
        now, metadata = self._world.now, node["metadata"]
        annotations = dict(metadata.get("annotations") or {})
        short = short_of(node)
        for word, (kind, shortage, plenty, what) in SHORTAGES.items():
            if word in short:
                reason, message = f"KubeletHas{shortage}", f"kubelet has insufficient {what}"
                node = with_node_condition(node, now, kind, "True", reason=reason, message=message)
            elif (node_condition(node, kind) or {}).get("reason") == f"KubeletHas{shortage}":
                reason, message = f"KubeletHas{plenty}", f"kubelet has sufficient {what}"
                node = with_node_condition(node, now, kind, "False", reason=reason, message=message)
        if FAILED_SINCE in annotations:
            del annotations[FAILED_SINCE]
            ready = "kubelet is posting ready status"
            node = with_node_condition(node, now, "Ready", "True", reason="KubeletReady", message=ready)
            node = {**node, "metadata": {**metadata, "annotations": annotations}}
        return node
