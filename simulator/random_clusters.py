"""Random clusters, and random pods that mostly do not fit them: for the benchmark of what-if, and for tests.
The same random.Random gives the same manifests."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from simulator.api import Manifest

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
ZONES = ("a", "b", "c")
SIZES = (("4", "16Gi"), ("8", "32Gi"), ("16", "64Gi"))
CLASSES = {"low": 10, "middle": 100, "high": 1000}
POLITE = {"priorityClassName": "polite", "priority": 500, "preemptionPolicy": "Never"}
APPS = tuple(f"app-{i}" for i in range(12))
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
STARTED = "2025-01-01T00:{:02}:00Z"


class Mixture(NamedTuple):
    """How full nodes are (share of their cpu), and how often a node or a pod has something that stands in the
    way."""

    full: tuple[float, float] = (0.6, 1.0)
    odd: float = 0.25


USUAL = Mixture()
NOMINATED = 2
"""Pods, on average, that wait for their victims to go."""


def cluster(random: Random, nodes: int, mixture: Mixture = USUAL) -> Iterator[Manifest]:
    """Nodes, pods on them and pods nominated to them, PriorityClasses and PodDisruptionBudgets."""
    for name, value in CLASSES.items():
        yield _object("scheduling.k8s.io/v1", "PriorityClass", name, value=value)
    polite = _object("scheduling.k8s.io/v1", "PriorityClass", "polite", value=POLITE["priority"])
    yield polite | {"preemptionPolicy": "Never"}
    for app in APPS[:3]:
        spec = {"selector": {"matchLabels": {"app": app}}, "minAvailable": 1}
        status = {"disruptionsAllowed": random.randrange(2)}
        yield _object("policy/v1", "PodDisruptionBudget", app, "default", spec=spec, status=status)
    number = 0
    for i in range(nodes):
        node = _node(random, f"node-{i}", mixture.odd)
        yield node
        left = int(node["status"]["allocatable"]["cpu"]) * 1000 * random.uniform(*mixture.full)
        while left >= 500:
            cpu = min(random.choice((500, 1000, 2000)), int(left) // 100 * 100)
            left -= cpu
            pod = _pod(random, f"pod-{number}", cpu, mixture.odd / 3)
            pod["spec"]["nodeName"] = node["metadata"]["name"]
            pod["status"] = {"phase": "Running", "startTime": STARTED.format(number % 60)}
            yield pod
            number += 1
        if random.random() < NOMINATED / nodes:
            hopeful = _pod(random, f"nominated-{i}", 1000, 0)
            yield hopeful | {"status": {"phase": "Pending", "nominatedNodeName": node["metadata"]["name"]}}


def pending(random: Random, name: str, mixture: Mixture = USUAL) -> Manifest:
    """A pod that asks for much, and has demands."""
    pod = _pod(random, name, random.choice((500, 1000, 2000, 4000, 9000, 20000)), mixture.odd)
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
        spec |= POLITE
    if random.random() < odd / 4:
        spec["schedulingGates"] = [{"name": "example.com/wait"}]
    return pod


def _node(random: Random, name: str, odd: float) -> Manifest:
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


def _pod(random: Random, name: str, cpu: int, odd: float) -> Manifest:
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
