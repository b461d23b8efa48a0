"""What a plugin registers with the queue: events that may undo its verdicts, each with a queueing hint."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from simulator.api import Manifest
from simulator.framework.interface import Plugin
from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import NODE, ActionType, ClusterEvent

QueueingHint = Callable[[Pod, Any, Any], bool]
"""``hint(pod, old, new)``: whether a pod that the plugin turned away is worth another attempt after an object
changed from ``old`` to ``new`` (None = it was not there, or is gone). Pods and nodes come parsed, other
objects as manifests."""


class Registered(NamedTuple):
    """ClusterEventWithHint."""

    event: ClusterEvent
    hint: QueueingHint


class EnqueueExtensions(Plugin):
    """For a plugin of one's own that says what may undo its verdicts."""

    @abstractmethod
    def events_to_register(self) -> list[Registered]:
        """The events, each with a hint; asked once, when the scheduler starts."""


def always_queue(pod: Pod, old: Any, new: Any) -> bool:
    return True


def register(resource: str, action: ActionType, hint: QueueingHint = always_queue) -> Registered:
    return Registered(ClusterEvent(resource, action), hint)


def with_node_taint_updates(registered: list[Registered]) -> list[Registered]:
    """Whoever registers Node/Add hears of taint updates too (buildQueueingHintMap,
    pkg/scheduler/scheduler.go): a node that was kept out of sight by a taint may show up by losing it."""
    node = [r.event.action for r in registered if r.event.resource == NODE]
    if any(a & ActionType.ADD for a in node) and not any(a & ActionType.UPDATE_NODE_TAINT for a in node):
        return [*registered, register(NODE, ActionType.UPDATE_NODE_TAINT)]
    return registered


def left_room(pod: Pod) -> bool:
    """Whether a pod that is gone took room on some node: by running there, or by being nominated to it.

    Only NodeResourcesFit, NodePorts and NodeVolumeLimits count nominated pods in their hints; to the other
    plugins only those with a node matter.
    """
    return bool(pod.node_name or pod.nominated_node_name)


def same_namespace(pod: Pod, manifest: Manifest) -> bool:
    namespace: str = manifest["metadata"].get("namespace") or "default"
    return namespace == pod.namespace
