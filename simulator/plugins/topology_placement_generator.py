"""TopologyPlacementGenerator (pkg/scheduler/framework/plugins/topologyaware/topology_placement.go, v1.36)."""

from collections.abc import Iterable, Sequence

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.framework.interface import PlacementGeneratePlugin
from simulator.framework.placement import Placement
from simulator.framework.status import Status, error
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup


class TopologyPlacementGenerator(PlacementGeneratePlugin):
    """Divides the nodes by the label that the group names in its topology constraint."""

    name = "TopologyPlacementGenerator"

    def generate_placements(
        self, cluster: Cluster, group: PodGroup, parent: Placement
    ) -> Sequence[Placement] | Status:
        """Return a placement for each value of the label; only that of the pods that have a node already,
        where there are such. Upstream's order is that of a map; here it is that of the values."""
        key = group.topology_key
        if not key:
            return [parent]
        scheduled = cluster.pod_groups.get(group.key).scheduled.values()
        required = _domain_of(cluster, key, scheduled)
        if isinstance(required, Status):
            return required
        column = cluster.label(key)
        numbers = column.ids[parent.rows]
        found = {
            value: parent.rows[numbers == number]
            for number in np.unique(numbers[numbers >= 0]).tolist()
            if (value := column.values[number]) is not None and required in (None, value)
        }
        return [Placement(value, found[value]) for value in sorted(found)]


def _domain_of(cluster: Cluster, key: str, pods: Iterable[Pod]) -> str | Status | None:
    """Return the value of the label on the nodes of these pods, None if there are no pods
    (getScheduledPodsTopologyDomain)."""
    domain: str | None = None
    for pod in pods:
        row = cluster.rows.get(pod.node_name)
        if row is None:
            missing = f'nodeinfo not found for node name "{pod.node_name}"'
            return _undetermined(f"getting node for pod {pod.key}: {missing}")
        found = cluster.node(row).labels.get(key)
        if found is None:
            return _undetermined(f"no topology domain found for pod {pod.key}")
        if domain not in (None, found):
            return _undetermined(f"more than 1 domain found for pod group: {domain}, {found}")
        domain = found
    return domain


def _undetermined(reason: str) -> Status:
    return error(f"cannot determine domain for already scheduled pods: {reason}")
