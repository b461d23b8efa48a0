"""What happened, as typed events. The trace is append-only; the store numbers its events from 1.

Every event carries ``t``, the simulated time in microseconds. Pods are named ``namespace/name``.
"""

from typing import Literal

import msgspec

Lane = Literal["activeQ", "backoffQ", "unschedulable", "gated", "inFlight", "waiting"]


class Event(msgspec.Struct, frozen=True, tag=True, tag_field="type"):
    t: int


def numbered(number: int, event: Event) -> bytes:
    """The line of JSON that says it, with its number."""
    return msgspec.json.encode({"seq": number, **msgspec.to_builtins(event)}) + b"\n"


class LeaderElected(Event, frozen=True, tag=True):
    """A worker took over the sandbox and rebuilt its queue from the store."""

    holder: str
    epoch: int


class SchedulerConfigured(Event, frozen=True, tag=True):
    """The scheduler was given another configuration; it starts anew with it."""

    fields: list[str]
    """What is different in it, by path; the first twenty."""


class NodeChanged(Event, frozen=True, tag=True):
    node: str
    change: Literal["added", "updated", "deleted"]
    events: list[str]
    """The scheduler's labels for an update: UpdateNodeTaint, UpdateNodeAllocatable, ..."""


class QueueMoved(Event, frozen=True, tag=True):
    """A pod changed its place in the scheduling queue."""

    pod: str
    source: Lane | Literal[""]
    target: Lane | Literal[""]
    event: str
    """What caused it, in the scheduler's words: PodAdd, NodeAdd, BackoffComplete, ScheduleAttemptFailure,
    ..."""
    plugin: str = ""
    """The plugin whose queueing hint said so, where one did."""
    backoff_until: int | None = None


class CycleStarted(Event, frozen=True, tag=True):
    cycle: int
    pod: str
    attempt: int
    priority: int


class WatchRelisted(Event, frozen=True, tag=True):
    """The watch broke, by hand or as its log did not reach back any more: everything was listed anew."""

    version: int
    objects: int
    gone: int
    """Objects that had been known and are no more."""


class CycleCutOff(Event, frozen=True, tag=True):
    """The leader was lost while the cycle stood between two points. Nothing of it was written: the pod is
    tried again."""

    cycle: int
    pod: str
    point: str
    """The extension point that would have come next."""


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
    """How many nodes shared the top total."""


class VolumesAwaited(Event, frozen=True, tag=True):
    """PreBind has asked for the pod's volumes; it is bound to the node when all of these claims are bound."""

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
    """The attempt failed by a fault, not by a verdict; the loop went on."""

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
    """A victim was marked for deletion; it goes when its grace period is over."""

    cycle: int
    pod: str
    node: str
    preemptor: str
    grace_seconds: int


class PodStarted(Event, frozen=True, tag=True):
    pod: str
    node: str


class PodReady(Event, frozen=True, tag=True):
    """A running pod became ready later than it started, or is again."""

    pod: str
    node: str


class ContainersFailed(Event, frozen=True, tag=True):
    """A pod's containers failed; they are started again at ``restart_at``."""

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
    """A pod has to go because of the state of its node: it is deleted for a taint, or ended for a
    shortage."""

    pod: str
    node: str
    reason: str


class PodRemoved(Event, frozen=True, tag=True):
    """The pod object is gone. ``node`` is empty where it never had one."""

    pod: str
    node: str


class CreateRefused(Event, frozen=True, tag=True):
    """A timetable's entry could not be created: admission refused it, or the name was taken."""

    timetable: str
    entry: int
    """Counted from 0."""
    message: str


class ObjectsCreated(Event, frozen=True, tag=True):
    """A controller made objects of one kind."""

    controller: str
    """Kind and key of the object that it did this for: ``ReplicaSet default/web``."""
    resource: str
    keys: list[str]


class ObjectsDeleted(Event, frozen=True, tag=True):
    """A controller had objects deleted; pods go when their grace period is over."""

    controller: str
    resource: str
    keys: list[str]
    reason: str


class ReplicaSetScaled(Event, frozen=True, tag=True):
    """A Deployment changed how many pods one of its ReplicaSets has."""

    controller: str
    replica_set: str
    before: int
    after: int


class JobFinished(Event, frozen=True, tag=True):
    job: str
    succeeded: bool
    reason: str


class VolumeBound(Event, frozen=True, tag=True):
    """A claim got its volume."""

    claim: str
    volume: str


class ControllerFailed(Event, frozen=True, tag=True):
    """What a controller wanted to do was refused. It tries again, ever more slowly, and says no more until
    it got on."""

    controller: str
    message: str


class LaneEntry(msgspec.Struct, frozen=True):
    """A pending pod's place in the queue, as the page shows it (not a trace event: the state that moves lead
    to)."""

    pod: str
    uid: str
    lane: Lane
    priority: int
    since: int
    """Simulated microseconds at which it came into this lane."""
    queued: int
    """The queue's own timestamp, which orders pods of equal priority."""
    attempts: int
    place: int = 0
    """Its place in the line of a queue that knows no priority: the smallest is next. 0 in the others."""
    backoff_until: int | None = None
    message: str = ""
    plugins: list[str] = []
    """The plugins whose events the pod waits for."""
    gate: str = ""
    nominated_node: str = ""
    wait_until: int | None = None
    """When the wait on Permit ends, by the first of its plugins' timeouts; None in other lanes."""


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
)
