"""Random tiny clusters with rules about nodes and other pods, for the exhaustive tests."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from simulator.api import Manifest
from simulator.objects.node import ZONE
from simulator.questions.answer import AskedCluster
from tests.questions.clusters import make_node
from tests.questions.exhaustive import Search

HOSTNAME: Final = "kubernetes.io/hostname"


def terms(kind: str, app: str, key: str = HOSTNAME) -> Manifest:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def spread(app: str) -> Manifest:
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }
    return {"topologySpreadConstraints": [constraint]}


RULES: Final[Mapping[str, Callable[[str], Manifest]]] = {
    "none": lambda app: {},
    "spread": spread,
    "apart": lambda app: terms("podAntiAffinity", app),
    "together": lambda app: terms("podAffinity", app),
    "away": lambda app: terms("podAntiAffinity", "old", ZONE),
    "near": lambda app: terms("podAffinity", "old"),
    "tolerates": lambda app: {"tolerations": [{"operator": "Exists"}]},
    "selects": lambda app: {"nodeSelector": {ZONE: "a"}},
}
"""What pods require, by a name; ``app``: the label of the pods that it is about."""


def nodes_of(random: Random, count: int) -> list[Manifest]:
    """Return nodes in two zones, of which some are cordoned or tainted."""
    found = []
    for i in range(count):
        spec: Manifest = {}
        if random.random() < 0.2:
            spec["unschedulable"] = True
        elif random.random() < 0.2:
            spec["taints"] = [{"key": "gpu", "effect": "NoSchedule"}]
        found.append(make_node(f"node-{i}", random.choice(("1", "2", "3")), "ab"[i % 2], **spec))
    return found


def pod_of(workload: Manifest) -> Manifest:
    template: Manifest = workload["spec"]["template"]
    return {"metadata": template["metadata"], "spec": template["spec"]}


def running(cluster: AskedCluster) -> list[tuple[Manifest, str]]:
    pods = cluster.objects.get("pods", {}).values()
    return [(pod, pod["spec"]["nodeName"]) for pod in pods if pod["spec"].get("nodeName")]


def search_of(cluster: AskedCluster) -> Search:
    return Search(cluster.objects["nodes"].values())
