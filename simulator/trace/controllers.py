"""Trace events of controllers and the timetable, and of what they cannot do."""

from simulator.trace.event import Event


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
