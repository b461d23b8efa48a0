"""The types of trace events. The trace is append-only; the store numbers its events from 1.

Every event has ``t``, the simulated time in microseconds. Pods are named ``namespace/name``.
The modules of this package have the types by what they are about; all are imported from here.
"""

from simulator.trace.components import (
    ContainersFailed,
    ContainersRestarted,
    ControllerFailed,
    ControllerPostponed,
    CreateRefused,
    JobFinished,
    LeaderElected,
    NodeChanged,
    ObjectsCreated,
    ObjectsDeleted,
    ObjectUnreadable,
    PodEvicted,
    PodFinished,
    PodReady,
    PodRemoved,
    PodStarted,
    ReplicaSetScaled,
    SchedulerConfigured,
    VolumeBound,
    WatchRelisted,
)
from simulator.trace.cycles import (
    IN_FLIGHT,
    BindFailed,
    Bound,
    CycleCutOff,
    CycleStarted,
    DevicesAwaited,
    Filtered,
    Lane,
    Nominated,
    OutsideBound,
    OutsideFailed,
    OutsideNominated,
    OutsidePreempted,
    QueueMoved,
    QueuePlace,
    SchedulerError,
    Scored,
    Unschedulable,
    VictimDeleted,
    VolumesAwaited,
)
from simulator.trace.event import Event, encode_numbered
from simulator.trace.pod_groups import (
    PLACEMENTS_AT_MOST,
    PODS_AT_MOST,
    UNITS_AT_MOST,
    GroupVerdict,
    MemberOutcome,
    MemberTried,
    PlacementScore,
    PlacementsScored,
    PodGroupCycleEnded,
    PodGroupCycleStarted,
    PodGroupPreempted,
    PodGroupRetried,
    PodGroupTried,
    UnitTried,
)
from simulator.trace.verdicts import BindingJudged, FailureJudged, PreemptionJudged, VictimReplaced

__all__ = [
    "IN_FLIGHT",
    "PLACEMENTS_AT_MOST",
    "PODS_AT_MOST",
    "UNITS_AT_MOST",
    "AnyEvent",
    "BindFailed",
    "BindingJudged",
    "Bound",
    "ContainersFailed",
    "ContainersRestarted",
    "ControllerFailed",
    "ControllerPostponed",
    "CreateRefused",
    "CycleCutOff",
    "CycleStarted",
    "DevicesAwaited",
    "Event",
    "FailureJudged",
    "Filtered",
    "GroupVerdict",
    "JobFinished",
    "Lane",
    "LeaderElected",
    "MemberOutcome",
    "MemberTried",
    "NodeChanged",
    "Nominated",
    "ObjectUnreadable",
    "ObjectsCreated",
    "ObjectsDeleted",
    "OutsideBound",
    "OutsideFailed",
    "OutsideNominated",
    "OutsidePreempted",
    "PlacementScore",
    "PlacementsScored",
    "PodEvicted",
    "PodFinished",
    "PodGroupCycleEnded",
    "PodGroupCycleStarted",
    "PodGroupPreempted",
    "PodGroupRetried",
    "PodGroupTried",
    "PodReady",
    "PodRemoved",
    "PodStarted",
    "PreemptionJudged",
    "QueueMoved",
    "QueuePlace",
    "ReplicaSetScaled",
    "SchedulerConfigured",
    "SchedulerError",
    "Scored",
    "UnitTried",
    "Unschedulable",
    "VictimDeleted",
    "VictimReplaced",
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
    | DevicesAwaited
    | VolumesAwaited
    | Bound
    | BindFailed
    | Unschedulable
    | SchedulerError
    | Nominated
    | VictimDeleted
    | PodGroupCycleStarted
    | PodGroupTried
    | PlacementsScored
    | PodGroupPreempted
    | PodGroupCycleEnded
    | PodGroupRetried
    | OutsideBound
    | OutsideNominated
    | OutsideFailed
    | OutsidePreempted
    | BindingJudged
    | FailureJudged
    | PreemptionJudged
    | VictimReplaced
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
