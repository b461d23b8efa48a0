"""Free resources of nodes after preemption, as columns."""

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools
from simulator.cluster.pod_columns import PodColumns
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.plugins.node_resources.fit import NodeResourcesFit


def fits_after_preemption(
    cluster: Cluster, framework: Framework, pod: Pod, priority: int | None = None
) -> Bools:
    """Return bool[width]: the nodes that have pods of lower priority than ``priority`` (default: the pod's
    own), and enough resources for the pod without them. Preemption cannot help on any other node."""
    priority = pod.priority if priority is None else priority
    index = cluster.index(PodColumns)
    slots, there = index.on(np.arange(cluster.width))
    lifted: Bools = there & (index.priority[slots] < priority)
    enough: Bools = np.logical_or.reduce(lifted, axis=1)
    fit = next((plugin for plugin in framework.filter_plugins if isinstance(plugin, NodeResourcesFit)), None)
    if fit is None:
        return enough
    counts = cluster.pod_count[: cluster.width] - np.count_nonzero(lifted, axis=1)
    enough &= counts < cluster.allowed_pods[: cluster.width]
    for resource, wanted in pod.own_requests.items():
        if not wanted or fit.ignores(resource):
            continue
        free = (cluster.allocatable.column(resource) - cluster.requested.column(resource))[: cluster.width]
        enough &= free + np.where(lifted, index.requests.column(resource)[slots], 0).sum(axis=1) >= wanted
    return enough
