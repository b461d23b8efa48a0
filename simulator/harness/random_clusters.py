"""Random clusters, and random pods most of which do not fit: for the benchmark of what-if, and for tests.

A random.Random with the same seed gives the same manifests."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from simulator.api import Manifest

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
ZONES = ("a", "b", "c")
SIZES = (("4", "16Gi"), ("8", "32Gi"), ("16", "64Gi"))
CLASSES = {"low": 10, "middle": 100, "high": 1000}
NON_PREEMPTING = {"priorityClassName": "polite", "priority": 500, "preemptionPolicy": "Never"}
APPS = tuple(f"app-{i}" for i in range(12))
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
STARTED = "2025-01-01T00:{:02}:00Z"


class ClusterMixture(NamedTuple):
    """Parameters of random clusters: ``full`` is the range of the requested share of a node's cpu, ``odd``
    the probability that a node or a pod has a property that makes it harder to place the pod."""

    full: tuple[float, float] = (0.6, 1.0)
    odd: float = 0.25


USUAL_MIXTURE = ClusterMixture()
NOMINATED_PODS = 2
"""Mean number of nominated pods in a cluster."""


def random_cluster(random: Random, nodes: int, mixture: ClusterMixture = USUAL_MIXTURE) -> Iterator[Manifest]:
    """Yield nodes, bound and nominated pods, PriorityClasses and PodDisruptionBudgets."""
    for name, value in CLASSES.items():
        yield _object("scheduling.k8s.io/v1", "PriorityClass", name, value=value)
    polite = _object("scheduling.k8s.io/v1", "PriorityClass", "polite", value=NON_PREEMPTING["priority"])
    yield polite | {"preemptionPolicy": "Never"}
    for app in APPS[:3]:
        spec = {"selector": {"matchLabels": {"app": app}}, "minAvailable": 1}
        status = {"disruptionsAllowed": random.randrange(2)}
        yield _object("policy/v1", "PodDisruptionBudget", app, "default", spec=spec, status=status)
    number = 0
    for i in range(nodes):
        node = _random_node(random, f"node-{i}", mixture.odd)
        yield node
        left = int(node["status"]["allocatable"]["cpu"]) * 1000 * random.uniform(*mixture.full)
        while left >= 500:
            cpu = min(random.choice((500, 1000, 2000)), int(left) // 100 * 100)
            left -= cpu
            pod = _random_pod(random, f"pod-{number}", cpu, mixture.odd / 3)
            pod["spec"]["nodeName"] = node["metadata"]["name"]
            pod["status"] = {"phase": "Running", "startTime": STARTED.format(number % 60)}
            yield pod
            number += 1
        if random.random() < NOMINATED_PODS / nodes:
            nominated = _random_pod(random, f"nominated-{i}", 1000, 0)
            yield nominated | {"status": {"phase": "Pending", "nominatedNodeName": node["metadata"]["name"]}}


def random_pending_pod(random: Random, name: str, mixture: ClusterMixture = USUAL_MIXTURE) -> Manifest:
    """Return a pending pod with large requests, and often with constraints."""
    pod = _random_pod(random, name, random.choice((500, 1000, 2000, 4000, 9000, 20000)), mixture.odd)
    spec = pod["spec"]
    odd = mixture.odd
    if random.random() < odd:
        spec["nodeSelector"] = {random.choice(("disk", "gpu")): random.choice(("ssd", "yes"))}
    if random.random() < odd:
        expression = {
            "key": ZONE,
            "operator": random.choice(("In", "NotIn")),
            "values": [random.choice(ZONES)],
        }
        terms = [
            {"matchExpressions": [expression, {"key": "disk", "operator": "Exists"}][: random.randint(1, 2)]}
        ]
        spec.setdefault("affinity", {})["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": terms}}
    if random.random() < odd:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": random.choice((ZONE, HOSTNAME)),
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": pod["metadata"]["labels"]["app"]}},
            }
        ]
    if random.random() < odd / 2:
        spec |= NON_PREEMPTING
    if random.random() < odd / 4:
        spec["schedulingGates"] = [{"name": "example.com/wait"}]
    return pod


def _random_node(random: Random, name: str, odd: float) -> Manifest:
    cpu, memory = random.choice(SIZES)
    labels = {HOSTNAME: name, ZONE: random.choice(ZONES)}
    if random.random() < 0.3:
        labels["disk"] = "ssd"
    if random.random() < odd / 5:
        del labels[ZONE]
    spec: Manifest = {}
    if random.random() < odd:
        value = random.choice(("one", "two", ""))
        spec["taints"] = [{"key": "dedicated", **({"value": value} if value else {}), "effect": "NoSchedule"}]
    if random.random() < odd / 2:
        spec["unschedulable"] = True
    node = _object("v1", "Node", name, spec=spec)
    node["metadata"]["labels"] = labels
    amounts = {"cpu": cpu, "memory": memory, "pods": "110"}
    return node | {"status": {"allocatable": amounts, "capacity": amounts}}


def _random_pod(random: Random, name: str, cpu: int, odd: float) -> Manifest:
    app = random.choice(APPS)
    memory = random.choice(("256Mi", "1Gi", "2Gi"))
    container: Manifest = {
        "name": "main",
        "image": "app",
        "resources": {"requests": {"cpu": f"{cpu}m", "memory": memory}},
    }
    chosen = random.choice([*CLASSES])
    spec: Manifest = {
        "containers": [container],
        "priorityClassName": chosen,
        "priority": CLASSES[chosen],
        "preemptionPolicy": "PreemptLowerPriority",
    }
    if random.random() < odd:
        container["ports"] = [{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}]
    if random.random() < odd:
        term = {
            "topologyKey": random.choice((ZONE, HOSTNAME)),
            "labelSelector": {"matchLabels": {"app": app}},
        }
        spec["affinity"] = {"podAntiAffinity": {REQUIRED: [term]}}
    pod = _object("v1", "Pod", name, "default", spec=spec)
    pod["metadata"] |= {"labels": {"app": app}, "uid": name}
    return pod


def _object(api_version: str, kind: str, name: str, namespace: str = "", **fields: object) -> Manifest:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
