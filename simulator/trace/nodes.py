"""Trace events of nodes, and of what kubelets and evictions do with the pods on them."""

from typing import Literal

from simulator.trace.event import Event


class NodeChanged(Event, frozen=True, tag=True):
    node: str
    change: Literal["added", "updated", "deleted"]
    events: list[str]
    """The labels of the scheduler's cluster events for an update: UpdateNodeTaint, UpdateNodeAllocatable,
    ..."""


class PodStarted(Event, frozen=True, tag=True):
    pod: str
    node: str


class PodReady(Event, frozen=True, tag=True):
    """A running pod became ready after it had started, or became ready again."""

    pod: str
    node: str


class ContainersFailed(Event, frozen=True, tag=True):
    """A pod's containers failed. They are restarted at ``restart_at``."""

    pod: str
    node: str
    restart_at: int


class ContainersRestarted(Event, frozen=True, tag=True):
    pod: str
    node: str
    restarts: int


class PodFinished(Event, frozen=True, tag=True):
    pod: str
    node: str
    phase: Literal["Succeeded", "Failed"]


class PodEvicted(Event, frozen=True, tag=True):
    """A pod was evicted because of its node: deleted because of a taint, or terminated because of a lack of
    resources."""

    pod: str
    node: str
    reason: str


class PodRemoved(Event, frozen=True, tag=True):
    """The pod object was deleted. ``node`` is empty if the pod had no node."""

    pod: str
    node: str
