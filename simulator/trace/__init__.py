"""The types of trace events. The trace is append-only; the store numbers its events from 1.

Every event has ``t``, the simulated time in microseconds. Pods are named ``namespace/name``.
The modules of this package have the types by what they are about; all are imported from here.
"""

from simulator.trace.controllers import (
    ControllerFailed,
    ControllerPostponed,
    CreateRefused,
    JobFinished,
    ObjectsCreated,
    ObjectsDeleted,
    ObjectUnreadable,
    ReplicaSetScaled,
    VolumeBound,
)
from simulator.trace.cycle import (
    BindFailed,
    Bound,
    CycleCutOff,
    CycleStarted,
    Filtered,
    Nominated,
    SchedulerError,
    Scored,
    Unschedulable,
    VictimDeleted,
    VolumesAwaited,
)
from simulator.trace.event import Event, encode_numbered
from simulator.trace.leader import LeaderElected, SchedulerConfigured, WatchRelisted
from simulator.trace.nodes import (
    ContainersFailed,
    ContainersRestarted,
    NodeChanged,
    PodEvicted,
    PodFinished,
    PodReady,
    PodRemoved,
    PodStarted,
)
from simulator.trace.outside import OutsideBound, OutsideFailed, OutsideNominated, OutsidePreempted
from simulator.trace.queue import Lane, LaneEntry, QueueMoved

__all__ = [
    "AnyEvent",
    "BindFailed",
    "Bound",
    "ContainersFailed",
    "ContainersRestarted",
    "ControllerFailed",
    "ControllerPostponed",
    "CreateRefused",
    "CycleCutOff",
    "CycleStarted",
    "Event",
    "Filtered",
    "JobFinished",
    "Lane",
    "LaneEntry",
    "LeaderElected",
    "NodeChanged",
    "Nominated",
    "ObjectUnreadable",
    "ObjectsCreated",
    "ObjectsDeleted",
    "OutsideBound",
    "OutsideFailed",
    "OutsideNominated",
    "OutsidePreempted",
    "PodEvicted",
    "PodFinished",
    "PodReady",
    "PodRemoved",
    "PodStarted",
    "QueueMoved",
    "ReplicaSetScaled",
    "SchedulerConfigured",
    "SchedulerError",
    "Scored",
    "Unschedulable",
    "VictimDeleted",
    "VolumeBound",
    "VolumesAwaited",
    "WatchRelisted",
    "encode_numbered",
]

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
