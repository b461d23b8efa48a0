"""Creates a Cluster from the manifests of all objects, for one scheduling decision or what-if analysis."""

from collections.abc import Generator, Iterable, Mapping
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.cluster.cluster import Cluster
from simulator.framework.runtime import Framework
from simulator.objects.node import Node
from simulator.objects.pod import Pod

READ_AT_ONCE: Final = 500
"""Objects between two times at which a caller of :func:`read_in_pieces` may stop."""


def read(
    objects: Iterable[tuple[Resource, Manifest]], frameworks: Mapping[str, Framework]
) -> tuple[Cluster, dict[str, list[Pod]]]:
    """Return the cluster and the nominated pods by node name. Set the cluster of all ``frameworks``. Raises
    the errors of Pod.parse and Node.parse."""
    cluster = Cluster()
    pieces = read_in_pieces(cluster, objects, frameworks)
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            return cluster, end.value


def read_in_pieces(
    cluster: Cluster, objects: Iterable[tuple[Resource, Manifest]], frameworks: Mapping[str, Framework]
) -> Generator[None, None, dict[str, list[Pod]]]:
    """Do what :func:`read` does with an empty cluster, and yield often. Return the nominated pods by node
    name.

    Gated pods, and pods whose schedulerName has no framework, do not count as nominated, because they are not
    in the scheduling queue."""
    for framework in frameworks.values():
        framework.cluster = cluster
    pending: list[Pod] = []
    for number, (resource, manifest) in enumerate(objects, 1):
        if number % READ_AT_ONCE == 0:
            yield
        if resource.id == "nodes":
            cluster.add_node(Node.parse(manifest))
        elif resource.id == "pods":
            pod = Pod.parse(manifest)
            if pod.finished:
                continue
            if pod.pod_group and (pod.node_name or pod.scheduler_name in frameworks):
                cluster.pod_groups.set_pod(pod)
            if pod.node_name:
                cluster.add_pod(pod)
            else:
                pending.append(pod)
        else:
            metadata = manifest["metadata"]
            key = resource.key(metadata.get("namespace") or "default", metadata["name"])
            cluster.set_object(resource.id, key, manifest)
    return _nominated(pending, frameworks)


def _nominated(pending: Iterable[Pod], frameworks: Mapping[str, Framework]) -> dict[str, list[Pod]]:
    nominated: dict[str, list[Pod]] = {}
    for pod in pending:
        framework = frameworks.get(pod.scheduler_name)
        if not pod.nominated_node_name or framework is None or framework.run_pre_enqueue(pod) is not None:
            continue
        nominated.setdefault(pod.nominated_node_name, []).append(pod)
    return nominated
