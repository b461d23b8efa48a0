"""The devices of the nodes and the claims that have them, as the live page keeps them: updated by watch
events, without the attributes of the devices."""

from collections.abc import Iterable, Set
from typing import Final, TypeVar

from schedviz.web.picture.device_use import Holder, Holders, holders_in
from schedviz.web.picture.node_pools import pools_of
from simulator.api import Manifest
from simulator.objects.metadata import name_of, namespace_of
from simulator.plugins.dynamic_resources.allocator_rules import AllocatorRules, allocator_rules
from simulator.plugins.dynamic_resources.pool import Pool
from simulator.plugins.dynamic_resources.resource_claim import DeviceID
from simulator.plugins.dynamic_resources.resource_slice import ResourceSlice, parse_slice
from simulator.versions.features import DEFAULT_FEATURES, Features

K = TypeVar("K")
V = TypeVar("V")
NODES_REMEMBERED: Final = 20_000
"""Maximum number of nodes of which it is known when their devices changed. With more, all count as
changed."""


class DeviceIndex:
    """The slices by node, and the holders of each device."""

    def __init__(self) -> None:
        self.rules: AllocatorRules = allocator_rules(DEFAULT_FEATURES)
        self.changes = 0
        """The number of changes of slices and claims."""
        self._changed: dict[str, int] = {}
        """Node -> the number of ``changes`` after the last change of its devices."""
        self._all_changed = 0
        """The number of ``changes`` after the last change that may concern any node."""
        self._slices: dict[str, ResourceSlice] = {}
        self._of_node: dict[str, dict[str, ResourceSlice]] = {}
        """The slices with a nodeName, by that name."""
        self._shared: dict[str, ResourceSlice] = {}
        """The other slices."""
        self._of_pool: dict[tuple[str, str], dict[str, ResourceSlice]] = {}
        """Driver and name of a pool -> its slices."""
        self._holders: dict[DeviceID, dict[str, Holder]] = {}
        """The holders of each device by the keys of their claims."""
        self._held: dict[str, tuple[DeviceID, ...]] = {}
        """The devices of each claim."""

    def use(self, features: Features) -> None:
        """See the slices as a version does, from now on."""
        rules = allocator_rules(features)
        if rules != self.rules:
            self.rules = rules
            self._mark(None)

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
        """Add a slice, or replace it: it keeps its place among those of its pool."""
        key, found = name_of(manifest), parse_slice(without_contents(manifest))
        old = self._slices.get(key)
        if old is not None and (old.pool_key, old.nodes.node_name) != (found.pool_key, found.nodes.node_name):
            self.remove_slice(key)
        self._slices[key] = found
        self._of_pool.setdefault(found.pool_key, {})[key] = found
        node = found.nodes.node_name
        of_node = self._of_node.setdefault(node, {}) if node else self._shared
        of_node[key] = found
        self._mark_pool(found.pool_key)

    def remove_slice(self, key: str) -> None:
        old = self._slices.pop(key, None)
        if old is None:
            return
        self._mark_pool(old.pool_key)
        self._shared.pop(key, None)
        _drop(self._of_pool, old.pool_key, key)
        _drop(self._of_node, old.nodes.node_name, key)

    def put_claim(self, manifest: Manifest) -> None:
        key = f"{namespace_of(manifest)}/{name_of(manifest)}"
        self.remove_claim(key)
        found = holders_in(manifest)
        if found:
            self._held[key] = tuple(found)
            for device, holder in found.items():
                self._holders.setdefault(device, {})[key] = holder
            self._mark_pools_of(found)

    def _mark_pools_of(self, devices: Iterable[DeviceID]) -> None:
        for key in {(device.driver, device.pool) for device in devices}:
            self._mark_pool(key)

    def _mark_pool(self, key: tuple[str, str]) -> None:
        """Count a change of the devices of all nodes that publish a part of a pool."""
        for node in {each.nodes.node_name for each in self._of_pool.get(key, {}).values()}:
            self._mark(node or None)

    def remove_claim(self, key: str) -> None:
        devices = self._held.pop(key, ())
        self._mark_pools_of(devices)
        for device in devices:
            _drop(self._holders, device, key)

    def holders(self, device: DeviceID) -> Holders:
        """Return the claims that have the device: one, or several that share it."""
        return tuple(self._holders.get(device, {}).values())

    def pools(self, name: str, labels: dict[str, str]) -> tuple[Pool, ...]:
        """Return the pools of devices of a node, as the allocator sees them."""
        own = self._of_node.get(name, {})
        if not own and not self._shared:
            return ()
        pools = dict.fromkeys(each.pool_key for each in (*own.values(), *self._shared.values()))
        slices = [each for key in pools for each in self._of_pool[key].values()]
        return pools_of(slices, name, labels, self.rules)


def _drop(index: dict[K, dict[str, V]], group: K, key: str) -> None:
    """Remove an entry of a group, and the group if it is then empty."""
    entries = index.get(group, {})
    entries.pop(key, None)
    if not entries:
        index.pop(group, None)


def without_contents(manifest: Manifest) -> Manifest:
    """Return a slice without the attributes of its devices, and without the capacity of those that are not
    shared, so that a process can hold many."""
    spec = manifest["spec"]
    devices = [
        {
            field: value
            for field, value in each.items()
            if field != "attributes" and (field != "capacity" or each.get("allowMultipleAllocations"))
        }
        for each in spec.get("devices") or ()
    ]
    return {**manifest, "spec": {**spec, "devices": devices}}
