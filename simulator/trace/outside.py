"""Trace events of what outside schedulers do."""

from simulator.trace.event import Event


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
