"""Small clusters to ask about, as a running sandbox has them."""

from collections.abc import Iterable
from random import Random
from typing import Any

from simulator.api import Manifest
from simulator.memory_sandbox import MemorySandbox, SandboxOptions
from simulator.objects.node import ZONE
from simulator.questions.answer import Answer, AskedCluster
from simulator.questions.ask import AnyParameters, begin
from simulator.versions.features import DEFAULT_FEATURES, Features


def make_node(name: str, cpu: str = "4", zone: str = "", **spec: Any) -> Manifest:
    amounts = {"cpu": cpu, "memory": "32Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, **({ZONE: zone} if zone else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def pod_spec(cpu: str, **more: Any) -> Manifest:
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
    return {"containers": [container], **more}


def make_pod(name: str, cpu: str = "1", node: str = "", **spec: Any) -> Manifest:
    spec = pod_spec(cpu, **spec)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {**spec, "nodeName": node} if node else spec,
    }


def make_workload(kind: str, name: str, cpu: str = "1", replicas: int = 1, **spec: Any) -> Manifest:
    labels = {"app": name}
    own: Manifest = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod_spec(cpu, **spec)},
    }
    if kind == "DaemonSet":
        del own["replicas"]
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": own}


def priority_class(name: str, value: int) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def budget(name: str, app: str, **spec: Any) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }


def settled(manifests: Iterable[Manifest], features: Features = DEFAULT_FEATURES) -> MemorySandbox:
    """Return a sandbox in which what can run is running."""
    sandbox = MemorySandbox(SandboxOptions("asked", manifests=[*manifests], features=features))
    sandbox.run(f"time {sandbox.now() + 60_000_000}")
    return sandbox


def asked(
    manifests: Iterable[Manifest], seed: int = 0, features: Features = DEFAULT_FEATURES
) -> AskedCluster:
    sandbox = settled(manifests, features)
    return AskedCluster(sandbox.list_all(), seed=seed, now=sandbox.now(), features=features)


def ask(cluster: AskedCluster, parameters: AnyParameters, seeds: int = 1) -> Answer:
    question = begin(cluster, parameters, seeds)
    shares = [*question.run()]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    return question.answer()


def said(answer: Answer) -> str:
    return " ".join(map(str, answer.summary))


def random_objects(random: Random, nodes: int) -> list[Manifest]:
    """Return nodes in two zones with ReplicaSets and pods of their own, budgets and local storage."""
    found = [make_node(f"node-{i}", random.choice(("2", "4", "6")), "ab"[i % 2]) for i in range(nodes)]
    for i in range(nodes):
        local = {"volumes": [{"name": "data", "emptyDir": {}}]} if random.random() < 0.2 else {}
        cpu, replicas = random.choice(("500m", "1", "1500m")), random.randint(1, 3)
        found.append(make_workload("ReplicaSet", f"app-{i}", cpu, replicas, **local))
        if random.random() < 0.3:
            found.append(budget(f"app-{i}", f"app-{i}", minAvailable=random.choice((0, replicas))))
    if random.random() < 0.3:
        found.append(make_pod("bare", "500m", "node-0"))
    return found
