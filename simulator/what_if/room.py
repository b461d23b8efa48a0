"""Room on nodes, by columns."""

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools
from simulator.framework.runtime import Framework
from simulator.objects.pod import Pod
from simulator.plugins.node_resources_fit import NodeResourcesFit
from simulator.preemption.pod_columns import PodColumns


def after_preemption(cluster: Cluster, framework: Framework, pod: Pod, priority: int | None = None) -> Bools:
    """bool[width]: nodes that hold pods of a lower priority (than the pod's own, unless another is given),
    and would have room for the pod without them. On no other node can preemption help."""
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
        line = cluster.resources.get(resource)
        if line is None or not wanted or fit.ignores(resource):
            continue
        free = (cluster.allocatable - cluster.requested)[line, : cluster.width]
        if line < len(index.requests):
            free = free + np.where(lifted, index.requests[line][slots], 0).sum(axis=1)
        enough &= free >= wanted
    return enough
