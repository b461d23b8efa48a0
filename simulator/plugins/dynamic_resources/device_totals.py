"""The devices of a class on each node, for the scores of extended resources that the class serves
(calculateDRAResourceTotals in pkg/scheduler/framework/plugins/noderesources/resource_allocation.go)."""

from collections.abc import Sequence

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.plugins.dynamic_resources.allocated_devices import AllocatedDevices, AllocatedState
from simulator.plugins.dynamic_resources.allocator_rules import allocator_rules
from simulator.plugins.dynamic_resources.device_selectors import AllocationError, class_expressions, matches
from simulator.plugins.dynamic_resources.extended_resources import GATE, serving_classes
from simulator.plugins.dynamic_resources.node_devices import NodeDevices
from simulator.versions.features import Features


class DeviceTotals:
    """The totals of the resources that classes serve."""

    def __init__(self, cluster: Cluster, features: Features) -> None:
        self._cluster = cluster
        self._classes = serving_classes(cluster)
        self._expressions = class_expressions(cluster)
        self._devices = cluster.object_index(NodeDevices)
        self._allocated = AllocatedState(cluster.object_index(AllocatedDevices), allocator_rules(features))

    def of(self, resource: str, rows: Rows) -> tuple[Ints, Ints]:
        """Return int64[n] twice: the number of devices of the class on each node, and of those that claims
        have. Both are 0 for a resource that no class serves, and where a selector fails."""
        device_class = self._classes.get(resource)
        found: Ints = np.zeros((2, len(rows)), dtype=np.int64)
        if device_class is not None:
            for index, row in enumerate(rows.tolist()):
                found[:, index] = self._count(row, self._expressions[device_class])
        return found[0], found[1]

    def _count(self, row: int, expressions: tuple[str, ...]) -> tuple[int, int]:
        total = allocated = 0
        try:
            for device_id, device in self._devices.published_devices(row):
                if matches(device.value.alone, (("", expressions),)):
                    total += 1
                    allocated += self._allocated.is_allocated(device_id)
        except AllocationError:
            return 0, 0
        return total, allocated


def device_totals(cluster: Cluster, features: Features, resources: Sequence[str]) -> DeviceTotals | None:
    """Return the totals; None if no class serves one of the resources."""
    if not features.enabled(GATE) or serving_classes(cluster).keys().isdisjoint(resources):
        return None
    return DeviceTotals(cluster, features)
