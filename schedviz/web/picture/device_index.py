"""The devices of the nodes and the claims that have them, as the live page keeps them: updated by watch
events, without the attributes of the devices."""

from collections.abc import Iterable, Set
from typing import Final

import msgspec

from simulator.api import Manifest
from simulator.objects.metadata import name_of, namespace_of
from simulator.objects.node_selector import node_selector_matches
from simulator.objects.status import status_of
from simulator.plugins.dynamic_resources.allocated_devices import devices_in_use
from simulator.plugins.dynamic_resources.pool import Pool, ServingSlice, gather_pools
from simulator.plugins.dynamic_resources.resource_claim import DeviceID
from simulator.plugins.dynamic_resources.resource_slice import ResourceSlice, parse_slice


class Holder(msgspec.Struct, frozen=True):
    """An allocated claim, and the pods for which it is reserved, by their keys."""

    claim: str
    pods: tuple[str, ...]


NODES_REMEMBERED: Final = 20_000
"""Maximum number of nodes of which it is known when their devices changed. With more, all count as
changed."""


class DeviceIndex:
    """The slices by node, and the holder of each device."""

    def __init__(self) -> None:
        self.changes = 0
        """The number of changes of slices and claims."""
        self._changed: dict[str, int] = {}
        """Node -> the number of ``changes`` after the last change of its devices."""
        self._all_changed = 0
        """The number of ``changes`` after the last change that may concern any node."""
        self._own_pools: dict[tuple[str, str], str] = {}
        """Driver and name of a pool -> the node that publishes it."""
        self._slices: dict[str, ResourceSlice] = {}
        self._of_node: dict[str, dict[str, ResourceSlice]] = {}
        """The slices with a nodeName, by that name."""
        self._shared: dict[str, ResourceSlice] = {}
        """The other slices."""
        self._holders: dict[DeviceID, Holder] = {}
        self._held: dict[str, tuple[DeviceID, ...]] = {}
        """The devices of each claim."""

    def changed_since(self, changes: int) -> Set[str] | None:
        """Return the nodes whose devices changed after this number of changes; None if those of any may
        have."""
        if self._all_changed > changes:
            return None
        return {node for node, change in self._changed.items() if change > changes}

    def _mark(self, node: str | None) -> None:
        """Count a change of the devices of a node; None = of any node."""
        self.changes += 1
        if node is None or len(self._changed) >= NODES_REMEMBERED:
            self._changed.clear()
            self._all_changed = self.changes
        else:
            self._changed[node] = self.changes

    def put_slice(self, manifest: Manifest) -> None:
        key, found = name_of(manifest), parse_slice(without_contents(manifest))
        self.remove_slice(key)
        self._slices[key] = found
        node = found.nodes.node_name
        self._mark(node or None)
        if node:
            self._of_node.setdefault(node, {})[key] = found
            self._own_pools[found.driver, found.pool] = node
        else:
            self._shared[key] = found

    def remove_slice(self, key: str) -> None:
        old = self._slices.pop(key, None)
        if old is None:
            return
        self._mark(old.nodes.node_name or None)
        self._shared.pop(key, None)
        self._own_pools.pop((old.driver, old.pool), None)
        own = self._of_node.get(old.nodes.node_name, {})
        own.pop(key, None)
        if not own:
            self._of_node.pop(old.nodes.node_name, None)

    def put_claim(self, manifest: Manifest) -> None:
        key = f"{namespace_of(manifest)}/{name_of(manifest)}"
        self.remove_claim(key)
        devices = tuple(devices_in_use(status_of(manifest).get("allocation")))
        if devices:
            self._held[key] = devices
            self._holders.update(dict.fromkeys(devices, Holder(key, pods_of_claim(manifest))))
            self._mark_pools(devices)

    def _mark_pools(self, devices: Iterable[DeviceID]) -> None:
        for node in {self._own_pools.get((device.driver, device.pool)) for device in devices}:
            self._mark(node)

    def remove_claim(self, key: str) -> None:
        devices = self._held.pop(key, ())
        self._mark_pools(devices)
        for device in devices:
            if device in self._holders and self._holders[device].claim == key:
                del self._holders[device]

    def holder(self, device: DeviceID) -> Holder | None:
        return self._holders.get(device)

    def pools(self, name: str, labels: dict[str, str]) -> tuple[Pool, ...]:
        """Return the pools of devices of a node, as the allocator sees them."""
        own = self._of_node.get(name, {})
        shared = {key: each for key, each in self._shared.items() if counts_for(each, name, labels)}
        if not own and not shared:
            return ()
        return pools_of([*own.values(), *shared.values()])


def pools_of(slices: Iterable[ResourceSlice]) -> tuple[Pool, ...]:
    """Return the pools of slices that count for one node."""
    return gather_pools([ServingSlice(each, None) for each in slices], lambda key: ())


def without_contents(manifest: Manifest) -> Manifest:
    """Return a slice without the attributes and capacity of its devices, so that a process can hold many."""
    spec = manifest["spec"]
    devices = [{"name": each["name"]} for each in spec.get("devices") or ()]
    return {**manifest, "spec": {**spec, "devices": devices}}


def counts_for(of: ResourceSlice, name: str, labels: dict[str, str]) -> bool:
    """Whether the slice publishes devices of the node with this name and these labels."""
    nodes = of.nodes
    if nodes.node_name or nodes.all_nodes:
        return nodes.all_nodes or nodes.node_name == name
    return nodes.selector is not None and node_selector_matches(nodes.selector, name, labels)


def pods_of_claim(claim: Manifest) -> tuple[str, ...]:
    """Return the keys of the pods for which the claim is reserved."""
    return tuple(
        f"{namespace_of(claim)}/{consumer['name']}"
        for consumer in status_of(claim).get("reservedFor") or ()
        if consumer["resource"] == "pods"
    )
