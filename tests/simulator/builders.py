"""Small manifests for tests of the scheduling core."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.framework.runtime import Framework
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.scheduler.attempt import Attempt
from simulator.versions.features import DEFAULT_FEATURES, Features

Manifest = dict[str, Any]


def a_node(name: str, cpu: str = "4", *, pods: str = "110", labels: Any = None, **spec: Any) -> Manifest:
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": pods}},
    }


def a_pod(name: str, cpu: str = "", *, labels: Any = None, status: Any = None, **spec: Any) -> Manifest:
    requests = {"cpu": cpu} if cpu else {}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels or {}},
        "spec": {"containers": [{"name": "c", "resources": {"requests": requests}}], **spec},
        "status": status or {},
    }


def a_cluster(nodes: Iterable[Manifest], pods: Iterable[Manifest] = ()) -> Cluster:
    cluster = Cluster()
    for manifest in nodes:
        cluster.add_node(Node.parse(manifest))
    for manifest in pods:
        cluster.add_pod(Pod.parse(manifest))
    return cluster


def a_framework(*, features: Features = DEFAULT_FEATURES, **profile: Any) -> Framework:
    """The default profile with some settings of its own."""
    return profiles(load({"profiles": [profile]}, features=features))["default-scheduler"]


def attempt(
    cluster: Cluster,
    pod: Manifest,
    framework: Framework | None = None,
    nominated: Mapping[str, Sequence[Pod]] | None = None,
    **options: Any,
) -> Attempt:
    """A finished attempt."""
    made = Attempt(framework or a_framework(), cluster, Pod.parse(pod), nominated or {}, **options)
    made.complete()
    return made


def reasons(made: Attempt) -> dict[str, list[str]]:
    """The reason for which each node was rejected."""
    found = {}
    for name, row in made.cluster.rows.items():
        code = int(made.diagnosis.codes[row])
        if code > 0:
            found[name] = list(made.diagnosis.statuses[code - 1].reasons)
    return found


def selected(made: Attempt) -> str:
    return "" if made.selected is None else made.cluster.node(made.selected).name
