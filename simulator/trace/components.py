"""Trace events of the worker that leads the sandbox, of kubelets and evictions, and of controllers and the
timetable."""

from typing import Literal

from msgspec import UNSET, UnsetType

from simulator.trace.event import Event


class LeaderElected(Event, frozen=True, tag=True):
    """A worker became the sandbox's leader and rebuilt the queue from the store."""

    holder: str
    epoch: int


class SchedulerConfigured(Event, frozen=True, tag=True):
    """The scheduler was restarted with another configuration."""

    fields: list[str]
    """The paths of the fields that differ; the first twenty."""
    stands_down: bool | UnsetType = UNSET
    """Whether it leaves all pods to outside schedulers from now on; UNSET = that did not change."""


class WatchRelisted(Event, frozen=True, tag=True):
    """The watch ended, because a user broke it or because its events were no longer available. All objects
    were listed again."""

    version: int
    objects: int
    gone: int
    """Number of objects that were deleted in the meantime."""


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


class CreateRefused(Event, frozen=True, tag=True):
    """The object of a timetable's entry could not be created: admission refused it, or the name already
    exists."""

    timetable: str
    entry: int
    """The index of the entry, from 0."""
    message: str


class ObjectsCreated(Event, frozen=True, tag=True):
    """A controller created objects of one kind."""

    controller: str
    """Kind and key of the object that was reconciled: ``ReplicaSet default/web``."""
    resource: str
    keys: list[str]


class ObjectsDeleted(Event, frozen=True, tag=True):
    """A controller deleted objects. Pods are deleted when their grace period is over."""

    controller: str
    resource: str
    keys: list[str]
    reason: str


class ReplicaSetScaled(Event, frozen=True, tag=True):
    """The Deployment controller changed the number of replicas of a ReplicaSet."""

    controller: str
    replica_set: str
    before: int
    after: int


class JobFinished(Event, frozen=True, tag=True):
    job: str
    succeeded: bool
    reason: str


class VolumeBound(Event, frozen=True, tag=True):
    """A claim was bound to a volume."""

    claim: str
    volume: str


class ControllerFailed(Event, frozen=True, tag=True):
    """A component failed to reconcile one object: the API server refused a write, or the object is not as the
    component expects. It retries with increasing delays, and reports no further failure until it has
    succeeded. Everything else continues."""

    controller: str
    """The component and the object: ``ReplicaSet default/web``."""
    message: str


class ControllerPostponed(Event, frozen=True, tag=True):
    """A component reconciled one object too often at one point in time. It continues at ``until``, so that
    simulated time can advance."""

    controller: str
    runs: int
    """Number of runs at this point in time."""
    until: int


class ObjectUnreadable(Event, frozen=True, tag=True):
    """A stored object does not fit its schema. All components ignore it until it changes."""

    resource: str
    key: str
    message: str
