"""Trace events of a scheduling cycle with its binding cycle and preemption: from the pod that is popped to
the node to which it is bound."""

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
