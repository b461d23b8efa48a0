"""The pools of devices of each node, kept up to date with the ResourceSlices and the nodes."""

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.cluster.node_selectors import match_node_selector
from simulator.plugins.dynamic_resources.allocated_devices import AllocatedDevices, AllocatedState
from simulator.plugins.dynamic_resources.allocator_rules import DEFAULT_RULES, AllocatorRules
from simulator.plugins.dynamic_resources.counters import available_counters
from simulator.plugins.dynamic_resources.device import Device
from simulator.plugins.dynamic_resources.device_selectors import AllocationError
from simulator.plugins.dynamic_resources.node_selection import NodeSelection
from simulator.plugins.dynamic_resources.pool import (
    Pool,
    ServingSlice,
    gather_pools,
    has_binding_conditions,
    serve,
)
from simulator.plugins.dynamic_resources.resource_claim import DeviceID
from simulator.plugins.dynamic_resources.resource_slice import ResourceSlice, parse_slice
from simulator.plugins.dynamic_resources.verdict_cache import VerdictCache

RESOURCE_SLICES = "resourceslices.resource.k8s.io"
PoolKey = tuple[str, str]
"""The driver and the name of a pool."""
UNKNOWN = -1
MAX_SITUATIONS = 100_000
"""Maximum number of situations. Beyond it, all are computed again."""


class NodeDevices:
    """The pools of each node; and the *situation* of each node, a number that two nodes share if the
    allocator does the same on both: their pools have equal devices, of which the same are in use."""

    resources: ClassVar[tuple[str, ...]] = (RESOURCE_SLICES,)

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.rules = DEFAULT_RULES
        self._slices: dict[str, tuple[int, ResourceSlice]] = {}
        """Key -> the slice, and its place in the order in which slices were added."""
        self._last_place = 0
        self._of_node: dict[str, list[str]] = {}
        """Keys of the slices with a nodeName, by that name."""
        self._shared: list[str] = []
        """Keys of the other slices."""
        self._of_pool: dict[PoolKey, dict[str, ResourceSlice]] = {}
        """Driver and name of a pool -> its slices by key."""
        self._counters: dict[PoolKey, dict[str, ResourceSlice]] = {}
        """The slices with shared counters among them, which count for every node."""
        self._faulty: dict[PoolKey, Pool] = {}
        """The pools with counters that are incomplete or invalid also for nodes without their devices."""
        self._pools: dict[str, tuple[Pool, ...]] = {}
        """Node name -> its pools, where they are computed."""
        self._numbers: dict[str, tuple[int, ...]] = {}
        """Node name -> a number for the content of each of its pools."""
        self._gathered: dict[object, tuple[Pool, ...]] = {}
        """What counts of the shared slices -> their pools, for nodes without slices of their own."""
        self._contents: dict[Any, int] = {}
        self._situations: dict[Any, int] = {}
        self.verdicts = VerdictCache()
        self._situation: Ints = np.full(0, UNKNOWN, dtype=np.int64)
        """The situation of each row; UNKNOWN where it must be computed again."""
        self._nodes_seen = 0
        self._changes_seen = 0
        self._users: dict[PoolKey, set[str]] = {}
        """Driver and name of a pool -> the nodes that see it."""

    def use(self, rules: AllocatorRules) -> None:
        """See the slices as a version does, from now on."""
        if rules != self.rules:
            self.rules = rules
            self._forget_all()
            self._clear_situations()
            for key in self._counters:
                self._find_fault(key)

    # Slices

    def object_set(self, resource: str, key: str, before: Manifest | None, after: Manifest | None) -> None:
        place = self._remove(key)
        if after is None:
            return
        parsed = parse_slice(after)
        if place is None:
            self._last_place += 1
            place = self._last_place
        self._slices[key] = (place, parsed)
        self._of_pool.setdefault(parsed.pool_key, {})[key] = parsed
        if parsed.counter_sets:
            self._counters.setdefault(parsed.pool_key, {})[key] = parsed
        if parsed.nodes.node_name:
            self._of_node.setdefault(parsed.nodes.node_name, []).append(key)
        else:
            self._shared.append(key)
        self._forget_users(parsed)

    def _remove(self, key: str) -> int | None:
        """Remove a slice. Return its place."""
        place, old = self._slices.pop(key, (None, None))
        if old is None:
            return None
        for index in (self._of_pool, self._counters):
            index.get(old.pool_key, {}).pop(key, None)
            if not index.get(old.pool_key):
                index.pop(old.pool_key, None)
        if old.nodes.node_name:
            self._of_node[old.nodes.node_name].remove(key)
        else:
            self._shared.remove(key)
        self._forget_users(old)
        return place

    def _forget_users(self, changed: ResourceSlice) -> None:
        """Forget the pools of the nodes that see a slice, or another slice of its pool."""
        if not changed.nodes.node_name:
            self._forget_all()
        else:
            self._forget_node(changed.nodes.node_name)
            if self.rules.version.device_pools_are_whole:
                self._gathered.clear()
                for name in self._users.get(changed.pool_key, ()):
                    self._forget_node(name)
        if changed.counter_sets or changed.pool_key in self._counters:
            self._find_fault(changed.pool_key)

    def _find_fault(self, key: PoolKey) -> None:
        """Find out whether a pool with counters is incomplete or invalid for nodes without its devices."""
        before = self._faulty.pop(key, None)
        keys = sorted(self._counters.get(key, ()), key=lambda each: self._slices[each][0])
        serving = [serve(self._slices[each][1], _no_node, self.rules) for each in keys]
        for pool in gather_pools([each for each in serving if each is not None], self._slices_of, self.rules):
            if pool.incomplete or pool.invalid:
                self._faulty[key] = pool
        if before != self._faulty.get(key):
            self._forget_all()

    def _slices_of(self, key: PoolKey) -> list[ResourceSlice]:
        slices = self._of_pool.get(key, {})
        return [slices[each] for each in sorted(slices, key=lambda each: self._slices[each][0])]

    def _forget_node(self, name: str) -> None:
        self._pools.pop(name, None)
        self._numbers.pop(name, None)
        row = self._cluster.rows.get(name)
        if row is not None and row < len(self._situation):
            self._situation[row] = UNKNOWN

    def _forget_all(self) -> None:
        self._pools.clear()
        self._numbers.clear()
        self._gathered.clear()
        self._users.clear()
        self._situation[:] = UNKNOWN

    # Pools

    def pools(self, row: int) -> tuple[Pool, ...]:
        """Return the pools of the node in a row of the cluster. Raises AllocationError."""
        name = self._cluster.node(row).name
        found = self._pools.get(name)
        if found is None:
            found = self._pools[name] = self._gather(name, row)
        return found

    def _gather(self, name: str, row: int) -> tuple[Pool, ...]:
        own = self._of_node.get(name, ())
        found = [(key, self._serve(self._slices[key][1], row)) for key in (*own, *self._shared)]
        serving = {key: each for key, each in found if each is not None}
        pool_keys = {each.slice.pool_key for each in serving.values()}
        for key in pool_keys:
            self._users.setdefault(key, set()).add(name)
        shared = None
        if not own:
            shared = tuple((key, each.here) for key, each in serving.items())
            if shared in self._gathered:
                return self._gathered[shared]
        if self.rules.partitionable_devices and self.rules.version.device_pools_are_whole:
            # A slice with counters counts for every node, if also for nothing where no device of its pool is.
            for key in pool_keys:
                for slice_key, each in self._counters.get(key, {}).items():
                    serving[slice_key] = ServingSlice(each, None)
        ordered = sorted(serving, key=lambda key: self._slices[key][0])
        pools = gather_pools([serving[key] for key in ordered], self._slices_of, self.rules)
        faulty = [pool for key, pool in self._faulty.items() if key not in pool_keys]
        if faulty:
            pools = tuple(sorted((*pools, *faulty), key=_place_in_order))
        if shared is not None:
            self._gathered[shared] = pools
        return pools

    def _serve(self, of: ResourceSlice, row: int) -> ServingSlice | None:
        """Return the slice as it counts for a node. Counters are added later, where they count."""
        if of.counter_sets and self.rules.version.device_pools_are_whole:
            return None
        return serve(of, partial(self._matches, of, row), self.rules)

    def _matches(self, of: ResourceSlice, row: int, nodes: NodeSelection) -> bool:
        if nodes.node_name:
            return nodes.node_name == self._cluster.node(row).name
        if nodes.all_nodes:
            return True
        if nodes.fault:
            raise AllocationError(
                f"gather pool information: node selector in resource slice {of.name}: {nodes.fault}"
            )
        return nodes.selector is not None and bool(match_node_selector(self._cluster, nodes.selector)[row])

    def published_devices(self, row: int) -> Iterator[tuple[DeviceID, Device]]:
        """Yield the devices of all slices that name the node, or no nodes, of any generation. Raises
        AllocationError."""
        for key in (*self._of_node.get(self._cluster.node(row).name, ()), *self._shared):
            each = self._slices[key][1]
            if each.per_device or not each.nodes.is_given or self._matches(each, row, each.nodes):
                for device in each.devices:
                    if not each.per_device or self._matches(each, row, device.nodes):
                        yield DeviceID(*each.pool_key, device.name), device

    # Situations

    def situations(self, rows: Rows) -> Ints:
        """Return int64[n]: the situation of the nodes in these rows, which must have nodes."""
        self._see_changes()
        if len(self._situations) > MAX_SITUATIONS:
            self._clear_situations()
        for row in rows[self._situation[rows] == UNKNOWN].tolist():
            self._situation[row] = self._find_situation(row)
        found: Ints = self._situation[rows]
        return found

    def _clear_situations(self) -> None:
        self._situations.clear()
        self._contents.clear()
        self._numbers.clear()
        self.verdicts.clear()
        self._situation[:] = UNKNOWN

    def _see_changes(self) -> None:
        cluster = self._cluster
        if len(self._situation) < cluster.width:
            grown: Ints = np.full(len(cluster.exists), UNKNOWN, dtype=np.int64)
            grown[: len(self._situation)] = self._situation
            self._situation = grown
        changed_at = cluster.node_changed_at[: cluster.width]
        for row in np.flatnonzero(changed_at > self._nodes_seen).tolist():
            node = cluster.nodes[row]
            if node is not None:
                self._forget_node(node.name)
        self._nodes_seen = max(self._nodes_seen, int(changed_at.max(initial=0)))
        allocated = cluster.object_index(AllocatedDevices)
        for key, change in reversed(allocated.changed.items()):
            if change <= self._changes_seen:
                break
            self._mark_users(key)
        self._changes_seen = allocated.changes

    def _mark_users(self, key: tuple[str, str]) -> None:
        for name in self._users.get(key, ()):
            row = self._cluster.rows.get(name)
            if row is not None:
                self._situation[row] = UNKNOWN

    def _find_situation(self, row: int) -> int:
        try:
            pools = self.pools(row)
        except AllocationError as error:
            return self._situations.setdefault(str(error), len(self._situations))
        allocated = AllocatedState(self._cluster.object_index(AllocatedDevices), self.rules)
        names = [pool.name for pool in pools]
        contents = self._contents_of(row, pools)
        key = tuple(
            (content, names.index(pool.name), *_in_use(pool, allocated))
            for content, pool in zip(contents, pools, strict=True)
        )
        return self._situations.setdefault(key, len(self._situations))

    def _contents_of(self, row: int, pools: tuple[Pool, ...]) -> tuple[int, ...]:
        """Return a number for the content of each of the node's pools."""
        name = self._cluster.node(row).name
        found = self._numbers.get(name)
        if found is None:
            numbers = self._contents
            found = tuple(numbers.setdefault(pool.content(), len(numbers)) for pool in pools)
            self._numbers[name] = found
        return found


def _no_node(nodes: NodeSelection) -> bool:
    return False


def _place_in_order(pool: Pool) -> tuple[bool, PoolKey]:
    return has_binding_conditions(pool), pool.key


def _in_use(pool: Pool, allocated: AllocatedState) -> Iterator[object]:
    """Yield all that the allocator reads of the use of a pool's devices: the devices that claims have alone,
    what is left of the counters, and what is consumed of the capacity of shared devices."""
    bits = 0
    for i, device in enumerate(pool.devices):
        if allocated.is_in_use(device.id):
            bits |= 1 << i
    yield bits
    if pool.counter_sets:
        yield tuple(available_counters(pool, allocated.is_allocated).values())
    if allocated.rules.consumable_capacity:
        for i, device in enumerate(pool.devices):
            consumed = allocated.consumed(device.id) if device.device.shareable else None
            if consumed is not None:
                yield i, tuple(sorted((name, nanos) for name, nanos in consumed.items() if nanos))


def distinct_situations(situations: Ints) -> tuple[Ints, Ints]:
    """Return the distinct situations, and the index of the first node of each, in the order of these
    nodes."""
    # Of several assignments to one place the last one stays. There are few numbers, so nothing is sorted.
    first: Ints = np.full(int(situations.max(initial=0)) + 1, -1, dtype=np.int64)
    first[situations[::-1]] = np.arange(len(situations) - 1, -1, -1)
    found = np.sort(first[first >= 0])
    return situations[found], found
