"""The pools of devices of each node, kept up to date with the ResourceSlices and the nodes, and the
allocator's earlier results for claims that request the same and nodes in the same situation."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.cluster.node_selectors import match_node_selector
from simulator.framework.status import Status
from simulator.plugins.dynamic_resources.allocated_devices import AllocatedDevices
from simulator.plugins.dynamic_resources.device_selectors import AllocationError
from simulator.plugins.dynamic_resources.pool import Pool, gather_pools
from simulator.plugins.dynamic_resources.resource_claim import ResourceClaim
from simulator.plugins.dynamic_resources.resource_slice import ResourceSlice, parse_slice

MAX_VERDICTS: Final = 200_000
"""The maximum number of verdicts: some 20 MB. Beyond it, all are computed again."""


class CachedVerdict(NamedTuple):
    status: Status | None
    """The reason for which the claims cannot be allocated; None if they can."""


class VerdictCache:
    """The verdicts by the requests of the claims, and the situation of a node
    (:class:`simulator.plugins.dynamic_resources.node_devices.NodeDevices`).

    Errors are not kept, as they name claims and pools."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._verdicts: dict[tuple[int, int], CachedVerdict] = {}
        self._classes: Mapping[str, tuple[str, ...]] | None = None

    def number_of(self, claims: Sequence[ResourceClaim], classes: Mapping[str, tuple[str, ...]]) -> int:
        """Return a number for what the claims request. ``classes``: DeviceClass -> its CEL expressions,
        another mapping whenever a class has changed."""
        if classes is not self._classes or len(self._verdicts) > MAX_VERDICTS:
            self.clear()
            self._classes = classes
        requested = tuple((claim.requests, claim.constraints) for claim in claims)
        return self._numbers.setdefault(requested, len(self._numbers))

    def find(self, number: int, situation: int) -> CachedVerdict | None:
        return self._verdicts.get((number, situation))

    def keep(self, number: int, situation: int, status: Status | None) -> CachedVerdict:
        found = self._verdicts[number, situation] = CachedVerdict(status)
        return found

    def clear(self) -> None:
        self._numbers.clear()
        self._verdicts.clear()


RESOURCE_SLICES = "resourceslices.resource.k8s.io"
UNKNOWN = -1
MAX_SITUATIONS = 100_000
"""Maximum number of situations. Beyond it, all are computed again."""


class NodeDevices:
    """The pools of each node; and the *situation* of each node, a number that two nodes share if the
    allocator does the same on both: their pools have equal devices, of which the same are in use."""

    resources: ClassVar[tuple[str, ...]] = (RESOURCE_SLICES,)

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._slices: dict[str, tuple[int, ResourceSlice]] = {}
        """Key -> the slice, and its place in the order in which slices were added."""
        self._last_place = 0
        self._of_node: dict[str, list[str]] = {}
        """Keys of the slices with a nodeName, by that name."""
        self._shared: list[str] = []
        """Keys of the other slices."""
        self._pools: dict[str, tuple[Pool, ...]] = {}
        """Node name -> its pools, where they are computed."""
        self._gathered: dict[tuple[int, ...], tuple[Pool, ...]] = {}
        """Places of shared slices -> their pools, for nodes without slices of their own."""
        self._contents: dict[Any, int] = {}
        self._situations: dict[Any, int] = {}
        self.verdicts = VerdictCache()
        self._situation: Ints = np.full(0, UNKNOWN, dtype=np.int64)
        """The situation of each row; UNKNOWN where it must be computed again."""
        self._nodes_seen = 0
        self._changes_seen = 0
        self._users: dict[tuple[str, str], set[str]] = {}
        """Driver and name of a pool -> the nodes that see it."""

    # Slices

    def object_set(self, resource: str, key: str, before: Manifest | None, after: Manifest | None) -> None:
        place = self._remove(key)
        parsed = None if after is None else parse_slice(after)
        if parsed is None:
            return
        if place is None:
            self._last_place += 1
            place = self._last_place
        self._slices[key] = (place, parsed)
        if parsed.node_name:
            self._of_node.setdefault(parsed.node_name, []).append(key)
            self._forget_node(parsed.node_name)
        else:
            self._shared.append(key)
            self._forget_all()

    def _remove(self, key: str) -> int | None:
        """Remove a slice. Return its place."""
        place, old = self._slices.pop(key, (None, None))
        if old is None:
            return None
        if old.node_name:
            self._of_node[old.node_name].remove(key)
            self._forget_node(old.node_name)
        else:
            self._shared.remove(key)
            self._forget_all()
        return place

    def _forget_node(self, name: str) -> None:
        self._pools.pop(name, None)
        row = self._cluster.rows.get(name)
        if row is not None and row < len(self._situation):
            self._situation[row] = UNKNOWN

    def _forget_all(self) -> None:
        self._pools.clear()
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
            for pool in found:
                self._users.setdefault(pool.key, set()).add(name)
        return found

    def _gather(self, name: str, row: int) -> tuple[Pool, ...]:
        shared = [self._slices[key] for key in self._shared]
        own = [self._slices[key] for key in self._of_node.get(name, ())]
        counting = own + [(place, each) for place, each in shared if self._counts(each, row)]
        counting.sort(key=lambda each: each[0])
        if own:
            return gather_pools([each for _, each in counting])
        places = tuple(place for place, _ in counting)
        if places not in self._gathered:
            self._gathered[places] = gather_pools([each for _, each in counting])
        return self._gathered[places]

    def _counts(self, of: ResourceSlice, row: int) -> bool:
        if of.all_nodes:
            return True
        if of.fault:
            raise AllocationError(f"gather pool information: {of.fault}")
        assert of.node_selector is not None
        return bool(match_node_selector(self._cluster, of.node_selector)[row])

    # Situations

    def situations(self, rows: Rows) -> Ints:
        """Return int64[n]: the situation of the nodes in these rows, which must have nodes."""
        self._see_changes()
        if len(self._situations) > MAX_SITUATIONS:
            self._situations.clear()
            self._contents.clear()
            self.verdicts.clear()
            self._situation[:] = UNKNOWN
        for row in rows[self._situation[rows] == UNKNOWN].tolist():
            self._situation[row] = self._find_situation(row)
        found: Ints = self._situation[rows]
        return found

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
        allocated = self._cluster.object_index(AllocatedDevices)
        try:
            pools = self.pools(row)
        except AllocationError as error:
            return self._situations.setdefault(str(error), len(self._situations))
        key = tuple(
            (
                self._content(pool),
                sum(1 << i for i, device in enumerate(pool.devices) if allocated.is_in_use(device.id)),
            )
            for pool in pools
        )
        return self._situations.setdefault(key, len(self._situations))

    def _content(self, pool: Pool) -> int:
        return self._contents.setdefault(pool.content(), len(self._contents))


def distinct_situations(situations: Ints) -> tuple[Ints, Ints]:
    """Return the distinct situations, and the index of the first node of each, in the order of these
    nodes."""
    # Of several assignments to one place the last one stays. There are few numbers, so nothing is sorted.
    first: Ints = np.full(int(situations.max(initial=0)) + 1, -1, dtype=np.int64)
    first[situations[::-1]] = np.arange(len(situations) - 1, -1, -1)
    found = np.sort(first[first >= 0])
    return situations[found], found
