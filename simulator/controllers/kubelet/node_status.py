"""The kubelets' reports of their nodes' status (pkg/kubelet/nodestatus/setters.go).

Nothing is measured: two annotations of the node say what is reported."""

from simulator.api import Manifest
from simulator.controllers.controller import Controller, ControllerContext
from simulator.objects.addresses import NODE_NETWORK, AddressPool, internal_addresses
from simulator.objects.conditions import condition
from simulator.objects.metadata import annotations_of, with_metadata
from simulator.objects.node_status import (
    FAILED_SINCE,
    is_broken,
    joined_node,
    pressures,
    with_internal_address,
    with_node_condition,
)
from simulator.objects.timestamps import timestamp

SHORTAGES = {
    "memory": ("MemoryPressure", "InsufficientMemory", "SufficientMemory", "memory available"),
    "disk": ("DiskPressure", "DiskPressure", "NoDiskPressure", "disk space available"),
    "pid": ("PIDPressure", "InsufficientPID", "SufficientPID", "PID available"),
}
"""Word of the annotation -> the condition, its reason after KubeletHas with and without the shortage, and the
resource's name in its message."""


class NodeStatusReporter(Controller):
    component = "Kubelet"
    resource = "nodes"
    watches = ("nodes",)

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._addresses = AddressPool(NODE_NETWORK)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if new is not None:
            self._addresses.use(internal_addresses(new))
        if old is not None:
            self._addresses.release(internal_addresses(old))

    def sync(self, key: str, manifest: Manifest) -> None:
        self.patch("nodes", manifest, self._with_failure_time if is_broken(manifest) else self._reported)

    def _with_failure_time(self, node: Manifest) -> Manifest:
        if FAILED_SINCE in annotations_of(node):
            return node
        stamp = {FAILED_SINCE: timestamp(self._world.now)}
        return with_metadata(node, annotations={**stamp, **annotations_of(node)})

    def _reported(self, node: Manifest) -> Manifest:
        now, short = self._world.now, pressures(node)
        if condition(node, "Ready") is None:
            # Created as a plain object, by a client of the API: its kubelet joins.
            node = joined_node(node, timestamp(now), self._world.features)
        node = with_internal_address(node, self._addresses)
        for word, (kind, shortage, plenty, what) in SHORTAGES.items():
            if word in short:
                reason, message = f"KubeletHas{shortage}", f"kubelet has insufficient {what}"
                node = with_node_condition(node, now, kind, "True", reason=reason, message=message)
            elif (condition(node, kind) or {}).get("reason") == f"KubeletHas{shortage}":
                reason, message = f"KubeletHas{plenty}", f"kubelet has sufficient {what}"
                node = with_node_condition(node, now, kind, "False", reason=reason, message=message)
        if FAILED_SINCE in annotations_of(node):
            kept = {name: value for name, value in annotations_of(node).items() if name != FAILED_SINCE}
            ready = "kubelet is posting ready status"
            node = with_node_condition(node, now, "Ready", "True", reason="KubeletReady", message=ready)
            node = with_metadata(node, annotations=kept)
        return node
