"""Workloads for measuring throughput: those of upstream's scheduler_perf (test/integration/scheduler_perf),
in a form that needs no API server."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from simulator.api import Manifest

ZONES = 3


class Workload(NamedTuple):
    """A workload: ``initial(nodes)`` pods are added to the nodes in turn before the measurement, then up to
    ``measured(nodes)`` pods are scheduled. ``preempts``: each pod needs one attempt that nominates a node and
    one that uses the nomination."""

    initial: Callable[[int], int]
    initial_pod: Callable[[int], Manifest]
    measured: Callable[[int], int]
    pod: Callable[[int], Manifest]
    preempts: bool = False
    objects: Callable[[int], Iterator[tuple[str, str, Manifest]]] = lambda nodes: iter(())
    """Return the other objects: resource, key and manifest."""


def make_node(i: int) -> Manifest:
    """Return a node with 4 CPUs and 32 GiB for 110 pods, in one of three zones."""
    name = f"node-{i}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{i % ZONES}"}
    return {
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110"}},
    }


def make_nodes(count: int) -> Iterator[Manifest]:
    return (make_node(i) for i in range(count))


def make_pod(name: str, cpu: str = "100m", priority: int = 0, **spec: object) -> Manifest:
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu, "memory": "500Mi"}}}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": {"app": "measured"}},
        "spec": {"containers": [container], "priority": priority, **spec},
        "status": {"startTime": "2025-01-01T00:00:00Z"},
    }


SELECTOR = {"matchLabels": {"app": "measured"}}
BY_HOSTNAME = {"topologyKey": "kubernetes.io/hostname", "labelSelector": SELECTOR}


def make_initial_pod(i: int) -> Manifest:
    pod = make_pod(f"initial-{i}")
    pod["metadata"]["labels"] = {"app": "initial"}
    return pod


def make_basic_pod(i: int) -> Manifest:
    return make_pod(f"pod-{i}")


BY_ZONE = {
    "maxSkew": 5,
    "topologyKey": "topology.kubernetes.io/zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": SELECTOR,
}
NOT_TWO_ON_A_NODE = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [BY_HOSTNAME]}}


def make_spreading_pod(i: int) -> Manifest:
    return make_pod(f"pod-{i}", topologySpreadConstraints=[BY_ZONE])


def affinity_pod_maker(prefix: str) -> Callable[[int], Manifest]:
    term = {"weight": 1, "podAffinityTerm": BY_HOSTNAME}
    affinity = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    return lambda i: make_pod(f"{prefix}-{i}", affinity=affinity)


def anti_affinity_pod_maker(prefix: str) -> Callable[[int], Manifest]:
    return lambda i: make_pod(f"{prefix}-{i}", affinity=NOT_TWO_ON_A_NODE)


HOST_PORT = {"containerPort": 80, "hostPort": 80}


def make_low_priority_pod(i: int) -> Manifest:
    """Return a pod of which four fill a node."""
    return make_pod(f"low-{i}", cpu="900m")


def make_mixed_low_priority_pod(i: int) -> Manifest:
    """Return a pod of which four fill a node. Every seventh, at most one on a node, has a host port and the
    label of the measured pods."""
    pod = make_low_priority_pod(i)
    if i % 7:
        pod["metadata"]["labels"] = {"app": "initial"}
    else:
        pod["spec"]["containers"][0]["ports"] = [HOST_PORT]
    return pod


def make_high_priority_pod(i: int, cpu: str = "3", **spec: object) -> Manifest:
    """Return a pod that fits on a node if three pods of low priority are evicted."""
    return make_pod(f"high-{i}", cpu=cpu, priority=10, **spec)


def make_high_priority_pod_with_port(i: int) -> Manifest:
    pod = make_high_priority_pod(i)
    pod["spec"]["containers"][0]["ports"] = [HOST_PORT]
    return pod


def make_spreading_high_priority_pod(i: int) -> Manifest:
    """Return a pod that evicts one pod, so that the number of pods in each zone stays the same."""
    return make_high_priority_pod(i, cpu="1300m", topologySpreadConstraints=[BY_ZONE])


def preemption_workload(low: Callable[[int], Manifest], high: Callable[[int], Manifest]) -> Workload:
    return Workload(lambda nodes: nodes * 4, low, lambda nodes: min(nodes, 1000), high, preempts=True)


def _thousand(_: int) -> int:
    return 1000


WORKLOADS = {
    "basic": Workload(_thousand, make_initial_pod, _thousand, make_basic_pod),
    "topology-spread": Workload(_thousand, make_initial_pod, _thousand, make_spreading_pod),
    "preferred-affinity": Workload(
        _thousand, affinity_pod_maker("initial"), _thousand, affinity_pod_maker("pod")
    ),
    "required-anti-affinity": Workload(
        lambda nodes: nodes // 5,
        anti_affinity_pod_maker("initial"),
        lambda nodes: nodes * 4 // 5,
        anti_affinity_pod_maker("pod"),
    ),
    "preemption": preemption_workload(make_low_priority_pod, make_high_priority_pod),
    "preemption-ports": preemption_workload(make_mixed_low_priority_pod, make_high_priority_pod_with_port),
    "preemption-spreading": preemption_workload(make_low_priority_pod, make_spreading_high_priority_pod),
    "preemption-anti-affinity": preemption_workload(
        make_mixed_low_priority_pod, lambda i: make_high_priority_pod(i, affinity=NOT_TWO_ON_A_NODE)
    ),
    "unschedulable": Workload(
        _thousand, make_initial_pod, _thousand, lambda i: make_pod(f"pod-{i}", cpu="9")
    ),
}
"""The workloads by name. Upstream's names are SchedulingBasic, TopologySpreading,
SchedulingPreferredPodAffinity, SchedulingPodAntiAffinity, PreemptionBasic and Unschedulable. The workloads
with ``preemption-`` are schedviz's own: in them, filter plugins count pods during the dry run of
preemption."""
