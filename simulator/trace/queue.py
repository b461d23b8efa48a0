"""The scheduling queue in the trace: the moves of pods, and the place of each."""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from simulator.trace.event import Event

Lane = Literal["activeQ", "backoffQ", "unschedulable", "gated", "inFlight", "waiting", "outside"]
"""The parts of the queue. A pod in ``outside`` is in no queue of this scheduler: it waits for an outside
one."""


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
    """Time at which the first timeout of a Permit plugin ends; None in other lanes."""
    retry_at: int | UnsetType = UNSET
    """Time at which a pod in ``unschedulable`` is tried again, if no event that it waits for comes before."""
    scheduler: str | UnsetType = UNSET
    """The schedulerName of a pod that an outside scheduler has to schedule."""
