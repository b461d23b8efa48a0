"""ClusterEventWithHint: a cluster event that a plugin registers with the scheduling queue, and its queueing
hint (staging/src/k8s.io/kube-scheduler/framework/types.go)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from simulator.api import Manifest
from simulator.framework.cluster_event import ALL_RESOURCES, ActionType, ClusterEvent
from simulator.objects.pod import Pod

QueueingHint = Callable[[Pod, Any, Any], bool]
"""``hint(pod, old, new)`` returns True (Queue) if the change of an object from ``old`` to ``new`` can make a
pod that the plugin rejected schedulable, else False (QueueSkip). ``old`` is None if the object was added,
``new`` is None if it was deleted. Pods and nodes are parsed objects, others are manifests."""


class ClusterEventWithHint(NamedTuple):
    event: ClusterEvent
    hint: QueueingHint


def always_queue(pod: Pod, old: Any, new: Any) -> bool:
    """Queue the pod always: the hint of an event that is registered without a hint."""
    return True


def register(resource: str, action: ActionType, hint: QueueingHint = always_queue) -> ClusterEventWithHint:
    return ClusterEventWithHint(ClusterEvent(resource, action), hint)


def every_event() -> list[ClusterEventWithHint]:
    """Return all events of all resources, without hints."""
    return [register(resource, ActionType.ALL) for resource in ALL_RESOURCES]


# Conditions that the hints of several plugins share.


def freed_resources(pod: Pod) -> bool:
    """Whether the deletion of this pod frees resources of a node: the pod was on a node or nominated to one.

    Only the hints of NodeResourcesFit, NodePorts and NodeVolumeLimits include nominated pods.
    """
    return bool(pod.node_name or pod.nominated_node_name)


def same_namespace(pod: Pod, manifest: Manifest) -> bool:
    namespace: str = manifest["metadata"].get("namespace") or "default"
    return namespace == pod.namespace
