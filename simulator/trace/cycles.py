"""Trace events of pods on their way to a node: of the scheduling queue, of a scheduling cycle with its
binding cycle and preemption, and of what outside schedulers do."""

from typing import Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from simulator.trace.event import Event


class CycleStarted(Event, frozen=True, tag=True):
    cycle: int
    pod: str
    attempt: int
    priority: int


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


class DevicesAwaited(Event, frozen=True, tag=True):
    """PreBind waits for the devices of these claims, which a driver has to make ready, before it binds the
    pod to the node."""

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
    group: str | UnsetType = UNSET
    """The PodGroup for which it was evicted; ``preemptor`` is then the first pod of the group's cycle."""


Lane = Literal["activeQ", "backoffQ", "unschedulable", "gated", "inFlight", "waiting", "outside"]
"""The parts of the queue. A pod in ``outside`` is in no queue of this scheduler: it waits for an outside
one."""
IN_FLIGHT: Final = ("inFlight", "waiting")
"""The places of a pod whose attempt is under way."""


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


class QueuePlace(msgspec.Struct, frozen=True):
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
    """Time at which the first timeout of a Permit plugin ends; None in other lanes."""
    retry_at: int | UnsetType = UNSET
    """Time at which a pod in ``unschedulable`` is tried again, if no event that it waits for comes before."""
    retried_since: int | UnsetType = UNSET
    """Of a pod of a failed group in ``backoffQ`` for which nothing has changed: the time from which it is
    tried again without pause. These tries are not in ``attempts``."""
    retry_time: int | UnsetType = UNSET
    """The time that each of these tries takes."""
    scheduler: str | UnsetType = UNSET
    """The schedulerName of a pod that an outside scheduler has to schedule."""
    pending_plugins: list[str] | UnsetType = UNSET
    """Those of ``plugins`` that let the pod wait, and did not reject it. Unset = none."""
    unschedulable_count: int | UnsetType = UNSET
    """The number of attempts that ended with a rejection by plugins. Unset = all."""
    consecutive_errors: int | UnsetType = UNSET
    """The number of attempts in succession that ended with an error. Unset = none."""


class OutsideBound(Event, frozen=True, tag=True):
    """An outside scheduler bound the pod through the API."""

    pod: str
    node: str
    scheduler: str
    """The pod's schedulerName."""
    waited: int
    """Simulated microseconds since the pod was created, or its last scheduling gate was removed."""
    waited_wall: int | None
    """Microseconds of wall time between the times at which the leader observed both; None if it did not
    observe the first."""


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
    """The reason of the condition; "" for an Event."""
    message: str


class OutsidePreempted(Event, frozen=True, tag=True):
    """An outside scheduler deleted the pod to make room: the pod has the condition DisruptionTarget of a
    victim, or there is an Event with the reason Preempted."""

    pod: str
    node: str
    scheduler: str
    preemptor: str
    """The pod that the Event names, or the only one that this scheduler has nominated to the node; "" = not
    known."""
    grace_seconds: int
