"""The types of trace events. The trace is append-only; the store numbers its events from 1.

Every event has ``t``, the simulated time in microseconds. Pods are named ``namespace/name``.
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

Lane = Literal["activeQ", "backoffQ", "unschedulable", "gated", "inFlight", "waiting", "outside"]
"""The parts of the queue. A pod in ``outside`` is in no queue of this scheduler: it waits for an outside
one."""


class Event(msgspec.Struct, frozen=True, tag=True, tag_field="type"):
    t: int


def encode_numbered(number: int, event: Event) -> bytes:
    """Encode an event with its number as one line of JSON."""
    return msgspec.json.encode({"seq": number, **msgspec.to_builtins(event)}) + b"\n"


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


class NodeChanged(Event, frozen=True, tag=True):
    node: str
    change: Literal["added", "updated", "deleted"]
    events: list[str]
    """The labels of the scheduler's cluster events for an update: UpdateNodeTaint, UpdateNodeAllocatable,
    ..."""


class QueueMoved(Event, frozen=True, tag=True):
    """A pod changed its place in the scheduling queue."""

    pod: str
    source: Lane | Literal[""]
    target: Lane | Literal[""]
    event: str
    """The label of the event that caused it: PodAdd, NodeAdd, BackoffComplete, ScheduleAttemptFailure, ..."""
    plugin: str = ""
    """The plugin whose queueing hint caused it; "" if none did."""
    backoff_until: int | None = None


class CycleStarted(Event, frozen=True, tag=True):
    cycle: int
    pod: str
    attempt: int
    priority: int


class WatchRelisted(Event, frozen=True, tag=True):
    """The watch ended, because a user broke it or because its events were no longer available. All objects
    were listed again."""

    version: int
    objects: int
    gone: int
    """Number of objects that were deleted in the meantime."""


class CycleCutOff(Event, frozen=True, tag=True):
    """The leader failed while the cycle was between two extension points. Nothing of the cycle was written;
    the pod is tried again."""

    cycle: int
    pod: str
    point: str
    """The next extension point of the cycle."""


class Filtered(Event, frozen=True, tag=True):
    cycle: int
    pod: str
    nodes: int
    feasible: int
    reasons: dict[str, int]


class Scored(Event, frozen=True, tag=True):
    cycle: int
    pod: str
    node: str
    total: int
    tied: int
    """Number of nodes with the highest total."""


class VolumesAwaited(Event, frozen=True, tag=True):
    """PreBind has requested the pod's volumes. The pod is bound to the node when all of these claims are
    bound."""

    cycle: int
    pod: str
    node: str
    claims: list[str]


class Bound(Event, frozen=True, tag=True):
    cycle: int
    pod: str
    node: str


class BindFailed(Event, frozen=True, tag=True):
    cycle: int
    pod: str
    node: str
    message: str


class Unschedulable(Event, frozen=True, tag=True):
    cycle: int
    pod: str
    message: str
    plugins: list[str]


class SchedulerError(Event, frozen=True, tag=True):
    """The attempt failed because of an error, such as a plugin's status Error. The scheduler continues."""

    cycle: int
    pod: str
    message: str


class Nominated(Event, frozen=True, tag=True):
    """Preemption chose a node; its victims are being deleted."""

    cycle: int
    pod: str
    node: str
    victims: list[str]
    rule: int
    candidates: int


class VictimDeleted(Event, frozen=True, tag=True):
    """A victim was marked for deletion. It is deleted when its grace period is over."""

    cycle: int
    pod: str
    node: str
    preemptor: str
    grace_seconds: int


class OutsideBound(Event, frozen=True, tag=True):
    """An outside scheduler bound the pod through the API."""

    pod: str
    node: str
    scheduler: str
    """The pod's schedulerName."""
    waited: int
    """Simulated microseconds since the pod was created, or its last scheduling gate was removed."""
    waited_wall: int | None
    """The same in microseconds of wall time, between the times at which the leader observed both; None if it
    did not observe the first."""


class OutsideNominated(Event, frozen=True, tag=True):
    """An outside scheduler set the pod's ``status.nominatedNodeName``."""

    pod: str
    node: str
    scheduler: str


class OutsideFailed(Event, frozen=True, tag=True):
    """An outside scheduler reported that it cannot schedule the pod: by the condition PodScheduled, or by an
    Event with the reason FailedScheduling. A message that is repeated is one trace event."""

    pod: str
    scheduler: str
    reason: str
    """Of the condition; "" for an Event."""
    message: str


class OutsidePreempted(Event, frozen=True, tag=True):
    """An outside scheduler deleted the pod to make room: the pod has the condition DisruptionTarget of a
    victim, or an Event with the reason Preempted says so."""

    pod: str
    node: str
    scheduler: str
    preemptor: str
    """The pod that the Event names, or the only one that this scheduler has nominated to the node; "" = not
    known."""
    grace_seconds: int


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


class LaneEntry(msgspec.Struct, frozen=True):
    """The position of a pending pod in the scheduling queue. It is not a trace event, but the state that
    results from the QueueMoved events."""

    pod: str
    uid: str
    lane: Lane
    priority: int
    since: int
    """Simulated time in microseconds at which the pod entered this lane."""
    queued: int
    """The queue's timestamp of the pod, by which pods of equal priority are ordered."""
    attempts: int
    place: int = 0
    """The position in a queue without priorities, where the smallest is popped next; 0 in all other
    queues."""
    sequence: int = 0
    """Orders pods whose sort keys are equal, the smallest first: as the scheduler received them."""
    sort_key: list[int | float | str] = []
    """The key of a QueueSort plugin other than PrioritySort, by which activeQ is sorted. Empty for
    PrioritySort, for queues without plugins, and for a key that has other types."""
    backoff_until: int | None = None
    message: str = ""
    plugins: list[str] = []
    """The plugins whose events the pod waits for."""
    gate: str = ""
    nominated_node: str = ""
    wait_until: int | None = None
    """When the first timeout of a Permit plugin ends; None in other lanes."""
    scheduler: str | UnsetType = UNSET
    """The schedulerName of a pod that an outside scheduler has to schedule."""


AnyEvent = (
    LeaderElected
    | SchedulerConfigured
    | WatchRelisted
    | NodeChanged
    | QueueMoved
    | CycleStarted
    | CycleCutOff
    | Filtered
    | Scored
    | VolumesAwaited
    | Bound
    | BindFailed
    | Unschedulable
    | SchedulerError
    | Nominated
    | VictimDeleted
    | OutsideBound
    | OutsideNominated
    | OutsideFailed
    | OutsidePreempted
    | PodStarted
    | PodReady
    | ContainersFailed
    | ContainersRestarted
    | PodFinished
    | PodEvicted
    | PodRemoved
    | CreateRefused
    | ObjectsCreated
    | ObjectsDeleted
    | ReplicaSetScaled
    | JobFinished
    | VolumeBound
    | ControllerFailed
    | ControllerPostponed
    | ObjectUnreadable
)
