"""A cluster from the manifests of everything that is in it."""

from collections.abc import Iterable, Mapping

from simulator.api import Manifest
from simulator.apiserver.resources import Resource
from simulator.cluster.cluster import Cluster
from simulator.framework.runtime import Framework
from simulator.objects.node import Node
from simulator.objects.pod import Pod


def read(
    objects: Iterable[tuple[Resource, Manifest]], frameworks: Mapping[str, Framework]
) -> tuple[Cluster, dict[str, list[Pod]]]:
    """The cluster, and its nominated pods by node. Gated pods, and those of a schedulerName without a
    framework, are in no queue and hence not nominated. Raises what parsing a bad Pod or Node raises."""
    cluster = Cluster()
    nominated: dict[str, list[Pod]] = {}
    for resource, manifest in objects:
        if resource.id == "nodes":
            cluster.add_node(Node.parse(manifest))
        elif resource.id == "pods":
            _add_pod(cluster, nominated, Pod.parse(manifest), frameworks)
        else:
            metadata = manifest["metadata"]
            key = resource.key(metadata.get("namespace") or "default", metadata["name"])
            cluster.set_object(resource.id, key, manifest)
    return cluster, nominated


def _add_pod(
    cluster: Cluster, nominated: dict[str, list[Pod]], pod: Pod, frameworks: Mapping[str, Framework]
) -> None:
    if pod.finished:
        return
    if pod.node_name:
        cluster.add_pod(pod)
    elif pod.nominated_node_name:
        framework = frameworks.get(pod.scheduler_name)
        if framework is not None and framework.run_pre_enqueue(pod) is None:
            nominated.setdefault(pod.nominated_node_name, []).append(pod)
