"""A cluster with the names that a cloud and the controllers give: nodes such as
``ip-10-0-10-108.eu-west-1.compute.internal``, pods such as ``checkout-7d9f8b6c5-x2x7q``.

``python -m tests.real_cluster > cluster.json`` writes it as ``kubectl get ... -o json`` does."""

import copy
import json
import sys
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.defaults import set_defaults
from simulator.apiserver.resources import find_by_kind
from tests.dumps import BORN, as_list

NODES, PODS, SEED = 30, 200, 11
ZONES = {"a": "10-0-10", "b": "10-0-42", "c": "10-0-74"}
LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""The letters of generated names (k8s.io/apimachinery, pkg/util/rand)."""

WITH_REVISIONS = ("StatefulSet", "DaemonSet")
"""Kinds whose pods have the label of a ControllerRevision. Without it the controllers replace them."""
REVISION_LABEL = "controller-revision-hash"


class Machine(NamedTuple):
    """A kind of node. ``cpu``: allocatable, in millicores."""

    kind: str
    cpu: int
    memory_mib: int
    gpus: int = 0


GENERAL = Machine("m5.2xlarge", 7910, 30_500)
LARGE = Machine("r5.4xlarge", 15_890, 122_000)
WITH_GPU = Machine("g5.2xlarge", 7910, 30_500, gpus=1)


class Workload(NamedTuple):
    kind: str
    name: str
    replicas: int
    cpu: int
    memory_mib: int
    priority: str = ""
    namespace: str = "shop"


WORKLOADS = (
    Workload("DaemonSet", "aws-node", NODES, 50, 64, "system-node-critical", "kube-system"),
    Workload("DaemonSet", "kube-proxy", NODES, 100, 0, "system-node-critical", "kube-system"),
    Workload("Deployment", "coredns", 2, 100, 70, "system-cluster-critical", "kube-system"),
    Workload("Deployment", "ingress-nginx-controller", 3, 500, 512, "business-critical", "ingress-nginx"),
    Workload("Deployment", "checkout", 14, 1000, 2048, "business-critical"),
    Workload("Deployment", "cart", 10, 500, 1024, "business-critical"),
    Workload("Deployment", "catalog", 12, 750, 1536),
    Workload("Deployment", "frontend", 14, 500, 768),
    Workload("Deployment", "recommendations", 10, 1500, 4096),
    Workload("Deployment", "payments-gateway", 8, 1000, 1024, "business-critical"),
    Workload("Deployment", "search-indexer", 9, 2000, 6144),
    Workload("StatefulSet", "kafka", 5, 2000, 8192, "platform"),
    Workload("StatefulSet", "postgres-primary", 3, 2500, 12_288, "platform"),
    Workload("StatefulSet", "redis-cluster", 6, 500, 4096, "platform"),
    Workload("StatefulSet", "elasticsearch-data", 6, 2000, 12_288, "platform"),
    Workload("Job", "report-daily-29391040", 12, 1500, 2048, "batch", "analytics"),
)
CLASSES = {"business-critical": 100_000, "platform": 50_000, "batch": -10}
SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
PENDING = (
    ("model-training-5c8d7f9b64", "analytics", {"cpu": "6", "memory": "24Gi", "nvidia.com/gpu": "2"}),
    ("warehouse-import-6f7b9d8c44", "analytics", {"cpu": "14", "memory": "160Gi"}),
)
"""Deployments of which two pods wait: they fit no node."""


def real_cluster(seed: int = SEED) -> list[Manifest]:
    """NODES nodes in three zones, PODS pods and their owners."""
    random = Random(seed)
    nodes = [_node(random, number) for number in range(NODES)]
    classes = [
        _object("scheduling.k8s.io/v1", "PriorityClass", name, "", value=value)
        for name, value in CLASSES.items()
    ]
    free = {node["metadata"]["name"]: _free(node) for node in nodes}
    rest: list[Manifest] = []
    for each in WORKLOADS:
        rest += _workload(random, each, free)
    for name, namespace, requests in PENDING:
        rest += _pending(random, name, namespace, requests)
    waits = PODS - sum(each["kind"] == "Pod" for each in rest)
    rest += _surge(random, waits)
    return [*classes, *nodes, *rest]


def _surge(random: Random, count: int) -> Iterator[Manifest]:
    """Pods of a Deployment that has just been scaled up: the scheduler has not tried them yet."""
    burst = Workload("Deployment", "load-generator", count, 250, 256, "batch", "analytics")
    yield from _owners(burst, (name := f"{burst.name}-{_letters(random, 9)}"))
    for _ in range(count):
        yield _pod(burst, f"{name}-{_letters(random, 5)}", ("ReplicaSet", name), "")


def _node(random: Random, number: int) -> Manifest:
    zone = "abc"[number % 3]
    machine = WITH_GPU if number >= NODES - 3 else LARGE if number >= NODES - 6 else GENERAL
    host = f"ip-{ZONES[zone]}-{8 * (number // 3) + random.randrange(4, 12) + 100}"
    name = f"{host}.eu-west-1.compute.internal"
    amounts = {"cpu": f"{machine.cpu}m", "memory": f"{machine.memory_mib}Mi", "pods": "58"}
    if machine.gpus:
        amounts["nvidia.com/gpu"] = str(machine.gpus)
    labels = {
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": machine.kind,
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": f"eu-west-1{zone}",
    }
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": BORN}
    made = _object("v1", "Node", name, "", spec={"taints": [TAINT]} if machine.gpus else {})
    made["metadata"]["labels"] = labels
    made["status"] = {"allocatable": amounts, "capacity": amounts, "conditions": [ready]}
    return made


def _free(node: Manifest) -> list[int]:
    amounts = node["status"]["allocatable"]
    if "nvidia.com/gpu" in amounts:
        return [150, 500]  # for the pods of DaemonSets
    return [int(amounts["cpu"][:-1]), int(amounts["memory"][:-2])]


def _workload(random: Random, each: Workload, free: dict[str, list[int]]) -> Iterator[Manifest]:
    owner, stem = (each.kind, each.name), each.name
    if each.kind == "Deployment":
        stem = f"{each.name}-{_letters(random, 9)}"
        owner = "ReplicaSet", stem
    yield from _owners(each, stem)
    names = list(free)
    for number in range(each.replicas):
        end = str(number) if each.kind == "StatefulSet" else _letters(random, 5)
        on = names[number] if each.kind == "DaemonSet" else _place(random, each, free)
        if on:
            free[on][0] -= each.cpu
            free[on][1] -= each.memory_mib
        yield _pod(each, f"{stem}-{end}", owner, on)


def _place(random: Random, each: Workload, free: dict[str, list[int]]) -> str:
    """A node with room: the fullest of three random ones, so that some nodes stay nearly empty."""
    fitting = [name for name, (cpu, memory) in free.items() if cpu >= each.cpu and memory >= each.memory_mib]
    if not fitting:
        return ""
    return min(random.sample(fitting, min(3, len(fitting))), key=lambda name: free[name][0])


def _owners(each: Workload, stem: str) -> Iterator[Manifest]:
    selector = {"matchLabels": {"app": each.name}}
    template = {"metadata": {"labels": {"app": each.name}}, "spec": _spec(each)}
    spec: Manifest = {"replicas": each.replicas, "selector": selector, "template": template}
    if each.kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
        spec = {"parallelism": each.replicas, "completions": each.replicas, "template": template}
        yield _object("batch/v1", "Job", each.name, each.namespace, spec=spec)
        return
    if each.kind == "DaemonSet":
        del spec["replicas"]
        template["spec"]["tolerations"] = [{"operator": "Exists"}]
    if each.kind == "StatefulSet":
        spec["serviceName"] = each.name
    owner = _object("apps/v1", each.kind, each.name, each.namespace, spec=spec)
    yield owner
    if each.kind in WITH_REVISIONS:
        yield _revision(each, owner)
    if each.kind == "Deployment":
        of_revision = {"app": each.name, "pod-template-hash": stem.rpartition("-")[2]}
        spec = {
            "replicas": each.replicas,
            "selector": {"matchLabels": of_revision},
            "template": {"metadata": {"labels": of_revision}, "spec": _spec(each)},
        }
        replica_set = _object("apps/v1", "ReplicaSet", stem, each.namespace, spec=spec)
        replica_set["metadata"]["labels"] = of_revision
        replica_set["metadata"]["ownerReferences"] = [_owner("Deployment", each.name, each.namespace)]
        yield replica_set


def _revision(each: Workload, owner: Manifest) -> Manifest:
    """What the controllers of StatefulSets and DaemonSets keep of a template, with its defaults."""
    complete = copy.deepcopy(owner)
    resource = find_by_kind("apps/v1", each.kind)
    assert resource is not None
    set_defaults(resource, complete)
    data = {"spec": {"template": {**complete["spec"]["template"], "$patch": "replace"}}}
    name = f"{each.name}-{_revision_hash(each)}"
    made = _object("apps/v1", "ControllerRevision", name, each.namespace, data=data, revision=1)
    made["metadata"]["labels"] = {"app": each.name, REVISION_LABEL: _revision_hash(each)}
    made["metadata"]["ownerReferences"] = [_owner(each.kind, each.name, each.namespace)]
    return made


def _revision_hash(each: Workload) -> str:
    return _letters(Random(each.name), 10)


def _pod(each: Workload, name: str, owner: tuple[str, str], on: str) -> Manifest:
    made = _object("v1", "Pod", name, each.namespace, spec=_spec(each))
    labels = {"app": each.name}
    if each.kind == "Deployment":
        labels["pod-template-hash"] = owner[1].rpartition("-")[2]
    if each.kind in WITH_REVISIONS:
        labels[REVISION_LABEL] = _revision_hash(each)
    made["metadata"]["labels"] = labels
    made["metadata"]["ownerReferences"] = [_owner(*owner, each.namespace)]
    if each.kind == "DaemonSet":
        made["spec"]["tolerations"] = [{"operator": "Exists"}]
    made["status"] = {"phase": "Pending"}
    if on:
        made["spec"]["nodeName"] = on
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": BORN}
        made["status"] = {"phase": "Running", "startTime": BORN, "conditions": [ready]}
    return made


def _pending(random: Random, stem: str, namespace: str, requests: dict[str, str]) -> Iterator[Manifest]:
    name = stem.rpartition("-")[0]
    each = Workload("Deployment", name, 2, 0, 0, "batch", namespace)
    made = [*_owners(each, stem)]
    made += [_pod(each, f"{stem}-{_letters(random, 5)}", ("ReplicaSet", stem), "") for _ in range(2)]
    for manifest in made:
        spec = manifest["spec"].get("template", manifest)["spec"]
        spec["containers"][0]["resources"] = {"requests": requests, "limits": requests}
        spec["tolerations"] = [{"key": TAINT["key"], "operator": "Exists"}]
    yield from made


def _spec(each: Workload) -> dict[str, Any]:
    requests = {"cpu": _cpu(each.cpu), "memory": _memory(each.memory_mib)}
    limits = {"memory": _memory(each.memory_mib)}
    container: dict[str, Any] = {"name": "main", "image": f"registry.example.com/{each.name}:1.4.2"}
    container["resources"] = {"requests": requests, "limits": limits} if each.memory_mib else {}
    if not each.memory_mib:
        container["resources"] = {"requests": {"cpu": _cpu(each.cpu)}}
    spec: dict[str, Any] = {"containers": [container], "terminationGracePeriodSeconds": 30}
    if each.priority:
        spec["priorityClassName"] = each.priority
        spec["priority"] = {**CLASSES, **SYSTEM_CLASSES}[each.priority]
    return spec


def _cpu(milli: int) -> str:
    """A quantity as the API server writes it."""
    return f"{milli}m" if milli % 1000 else str(milli // 1000)


def _memory(mebi: int) -> str:
    return f"{mebi}Mi" if mebi % 1024 or not mebi else f"{mebi // 1024}Gi"


def _owner(kind: str, name: str, namespace: str) -> Manifest:
    api = "batch/v1" if kind == "Job" else "apps/v1"
    return {
        "apiVersion": api,
        "kind": kind,
        "name": name,
        "uid": _uid(kind, namespace, name),
        "controller": True,
    }


def _object(api: str, kind: str, name: str, namespace: str, **rest: Any) -> Manifest:
    metadata = {"name": name, "uid": _uid(kind, namespace, name), "creationTimestamp": BORN}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


def _uid(*parts: str) -> str:
    return "-".join(part.lower() for part in parts if part)


def _letters(random: Random, count: int) -> str:
    return "".join(random.choice(LETTERS) for _ in range(count))


if __name__ == "__main__":
    json.dump(json.loads(as_list(real_cluster())), sys.stdout)
