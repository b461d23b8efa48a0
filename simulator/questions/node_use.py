"""What pods request of each node, read from the columns of a cluster."""

from collections.abc import Container, Mapping

import msgspec

from simulator.cluster.cluster import Cluster
from simulator.objects.node import ZONE
from simulator.objects.pod_requests import CPU, MEMORY
from simulator.questions.answer import NodeChange, NodeUse

RESOURCES = (CPU, MEMORY)
PODS = "pods"


class Used(msgspec.Struct, frozen=True):
    """A node at one moment."""

    zone: str
    allocatable: dict[str, int]
    requested: dict[str, int]


def read_use(cluster: Cluster) -> dict[str, Used]:
    """Return all nodes by name, in the scheduler's order."""
    allocatable = {resource: cluster.allocatable.column(resource) for resource in RESOURCES}
    requested = {resource: cluster.requested.column(resource) for resource in RESOURCES}
    return {
        cluster.node(row).name: Used(
            cluster.node(row).labels.get(ZONE, ""),
            {
                **{name: int(column[row]) for name, column in allocatable.items()},
                PODS: int(cluster.allowed_pods[row]),
            },
            {
                **{name: int(column[row]) for name, column in requested.items()},
                PODS: int(cluster.pod_count[row]),
            },
        )
        for row in cluster.order().tolist()
    }


def compare_use(
    before: Mapping[str, Used],
    after: Mapping[str, Used],
    *,
    drained: Container[str] = (),
    removed: Container[str] = (),
) -> list[NodeUse]:
    """Return what has changed of each node."""
    nothing = dict.fromkeys((*RESOURCES, PODS), 0)
    return [
        NodeUse(
            name,
            node.zone,
            node.allocatable,
            before[name].requested if name in before else nothing,
            after[name].requested if name in after else nothing,
            _change(name, before, drained, removed),
        )
        for name, node in {**before, **after}.items()
    ]


def _change(
    node: str, before: Container[str], drained: Container[str], removed: Container[str]
) -> NodeChange:
    if node not in before:
        return "added"
    if node in removed:
        return "removed"
    return "drained" if node in drained else ""
