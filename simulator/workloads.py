"""The workloads by which throughput is measured: those of upstream's scheduler_perf
(test/integration/scheduler_perf) in a form that needs no API server."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from simulator.api import Manifest

ZONES = 3


class Workload(NamedTuple):
    """``initial(nodes)`` pods are put on the nodes in turn before the clock starts, then up to
    ``measured(nodes)`` pods are scheduled. ``preempts``: each of them takes an attempt that ends in a
    nomination, and another one that uses it."""

    initial: Callable[[int], int]
    initial_pod: Callable[[int], Manifest]
    measured: Callable[[int], int]
    pod: Callable[[int], Manifest]
    preempts: bool = False


def node(i: int) -> Manifest:
    """4 CPUs, 32 GiB, 110 pods, in one of three zones."""
    name = f"node-{i}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{i % ZONES}"}
    return {
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110"}},
    }


def nodes(count: int) -> Iterator[Manifest]:
    return (node(i) for i in range(count))


def plain(name: str, cpu: str = "100m", priority: int = 0, **spec: object) -> Manifest:
    container = {"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu, "memory": "500Mi"}}}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": {"app": "measured"}},
        "spec": {"containers": [container], "priority": priority, **spec},
        "status": {"startTime": "2025-01-01T00:00:00Z"},
    }


SELECTOR = {"matchLabels": {"app": "measured"}}
BY_HOSTNAME = {"topologyKey": "kubernetes.io/hostname", "labelSelector": SELECTOR}


def initial(i: int) -> Manifest:
    pod = plain(f"initial-{i}")
    pod["metadata"]["labels"] = {"app": "initial"}
    return pod


def basic(i: int) -> Manifest:
    return plain(f"pod-{i}")


def spreading(i: int) -> Manifest:
    constraint = {
        "maxSkew": 5,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": SELECTOR,
    }
    return plain(f"pod-{i}", topologySpreadConstraints=[constraint])


def preferring(prefix: str) -> Callable[[int], Manifest]:
    term = {"weight": 1, "podAffinityTerm": BY_HOSTNAME}
    affinity = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    return lambda i: plain(f"{prefix}-{i}", affinity=affinity)


def excluding(prefix: str) -> Callable[[int], Manifest]:
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [BY_HOSTNAME]}}
    return lambda i: plain(f"{prefix}-{i}", affinity=affinity)


def thousand(_: int) -> int:
    return 1000


WORKLOADS = {
    "basic": Workload(thousand, initial, thousand, basic),
    "topology-spread": Workload(thousand, initial, thousand, spreading),
    "preferred-affinity": Workload(thousand, preferring("initial"), thousand, preferring("pod")),
    "required-anti-affinity": Workload(
        lambda nodes: nodes // 5, excluding("initial"), lambda nodes: nodes * 4 // 5, excluding("pod")
    ),
    "preemption": Workload(
        lambda nodes: nodes * 4,
        lambda i: plain(f"low-{i}", cpu="900m"),
        lambda nodes: min(nodes, 1000),
        lambda i: plain(f"high-{i}", cpu="3", priority=10),
        preempts=True,
    ),
    "unschedulable": Workload(thousand, initial, thousand, lambda i: plain(f"pod-{i}", cpu="9")),
}
"""By the names of the issue's table; upstream's are SchedulingBasic, TopologySpreading,
SchedulingPreferredPodAffinity, SchedulingPodAntiAffinity, PreemptionBasic and Unschedulable."""
