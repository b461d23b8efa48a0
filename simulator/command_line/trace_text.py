"""The trace as text: a line for each event, with the time since the start, the subject, and what happened."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from simulator import trace
from simulator.api import Micros
from simulator.command_line.tables import join_names
from simulator.objects.durations import format_duration
from simulator.trace import Event

SUBJECTS: Final = ("pod", "group", "node", "controller", "job", "claim", "timetable", "key", "holder")
"""The fields of events that name a subject; the first that an event has is its subject."""

MAX_SUBJECT: Final = 48
"""Maximum width of the column of subjects; a longer one moves its text to the right."""

TEXTS: Final[dict[type[Event], str]] = {
    trace.LeaderElected: "becomes the leader (epoch {epoch})",
    trace.SchedulerConfigured: "the scheduler is configured: {fields}",
    trace.WatchRelisted: "all {objects} objects are listed again, {gone} are gone",
    trace.NodeChanged: "{change} {events}",
    trace.CycleStarted: "cycle {cycle} begins: attempt {attempt}, priority {priority}",
    trace.CycleCutOff: "cycle {cycle} is cut off before {point}",
    trace.Filtered: "{feasible} of {nodes} nodes fit {reasons}",
    trace.Scored: "{node} is selected",
    trace.VolumesAwaited: "is bound to {node} when these claims are: {claims}",
    trace.DevicesAwaited: "is bound to {node} when the devices of these claims are ready: {claims}",
    trace.Bound: "is bound to {node}",
    trace.BindFailed: "is not bound to {node}: {message}",
    trace.Unschedulable: "fits nowhere: {message}",
    trace.SchedulerError: "the attempt ends with an error: {message}",
    trace.Nominated: "is nominated to {node} (candidates: {candidates}); victims: {victims}",
    trace.VictimDeleted: "is deleted on {node} for {preemptor}, with a grace period of {grace_seconds}s",
    trace.PodGroupCycleStarted: "cycle {cycle} of the group begins: {pods}",
    trace.PodGroupTried: "{verdict}",
    trace.PlacementsScored: "{chosen} is the best placement",
    trace.PodGroupPreempted: "preempts {victims} {message}",
    trace.PodGroupCycleEnded: "cycle {cycle} ends: {verdict}",
    trace.PodGroupRetried: "was tried again {count} times while nothing changed",
    trace.OutsideBound: "is bound to {node} by {scheduler}",
    trace.OutsideNominated: "is nominated to {node} by {scheduler}",
    trace.OutsideFailed: "is not scheduled by {scheduler}: {reason} {message}",
    trace.OutsidePreempted: "is deleted on {node} by {scheduler} for {preemptor}",
    trace.BindingJudged: "{verdict}: bound to {node}",
    trace.FailureJudged: "{verdict}: not scheduled",
    trace.PreemptionJudged: "{verdict}: evicted from {node} for {preemptor}",
    trace.VictimReplaced: "is replaced by {by} on {to}",
    trace.PodStarted: "is started on {node}",
    trace.PodReady: "is ready on {node}",
    trace.ContainersFailed: "its containers fail on {node}",
    trace.ContainersRestarted: "its containers are restarted on {node}, {restarts} times so far",
    trace.PodFinished: "ends on {node}: {phase}",
    trace.PodEvicted: "is evicted from {node}: {reason}",
    trace.PodRemoved: "is removed",
    trace.CreateRefused: "entry {entry} is refused: {message}",
    trace.ObjectsCreated: "creates {resource}: {keys}",
    trace.ObjectsDeleted: "deletes {resource}: {keys} ({reason})",
    trace.ReplicaSetScaled: "scales {replica_set} from {before} to {after}",
    trace.JobFinished: "is finished: {reason}",
    trace.VolumeBound: "is bound to {volume}",
    trace.ControllerFailed: "fails: {message}",
    trace.ControllerPostponed: "is postponed after {runs} runs at this moment",
    trace.ObjectUnreadable: "the {resource} cannot be read: {message}",
}
"""Type of a trace event -> what happened to its subject, with the event's fields; without QueueMoved."""

VERDICTS: Final[dict[trace.GroupVerdict, str]] = {
    "scheduled": "can be scheduled",
    "unschedulable": "cannot be scheduled",
    "waiting": "waits for preemption",
    "error": "fails",
}


def trace_lines(events: Iterable[Event], start: Micros) -> Iterator[str]:
    """Yield a line for each event. start: the simulated time from which times are counted."""
    named = [(event, subject(event)) for event in events]
    width = min(MAX_SUBJECT, max((len(name) for _, name in named), default=0))
    for event, name in named:
        time = format_duration(event.t - start)
        yield f"{time:>10}  {name:<{width}}  {event_text(event)}".rstrip()


def subject(event: Event) -> str:
    return next((str(name) for each in SUBJECTS if (name := getattr(event, each, ""))), "")


def event_text(event: Event) -> str:
    """Return what happened to the subject."""
    if isinstance(event, trace.QueueMoved):
        return _move_text(event)
    if isinstance(event, trace.JobFinished) and event.succeeded:
        return "has succeeded"
    if isinstance(event, trace.Scored) and event.tied > 1:
        return f"{event.node} is drawn among {event.tied} nodes with the highest score, {event.total}"
    if isinstance(event, trace.Scored) and event.total:
        return f"{event.node} is selected with the highest score, {event.total}"
    fields = {name: _field_text(getattr(event, name)) for name in event.__struct_fields__}
    if isinstance(event, trace.PodGroupTried | trace.PodGroupCycleEnded):
        fields["verdict"] = _verdict_text(event)
    return " ".join(TEXTS[type(event)].format(**fields).split())


def _move_text(event: trace.QueueMoved) -> str:
    why = f"{event.event}, {event.plugin}" if event.plugin else event.event
    if not event.target:
        return f"leaves the queue ({why})"
    return (
        f"moves from {event.source} to {event.target} ({why})"
        if event.source
        else f"enters {event.target} ({why})"
    )


def _verdict_text(event: trace.PodGroupTried | trace.PodGroupCycleEnded) -> str:
    where = f" in {event.placement}" if event.placement else ""
    why = f": {event.message}" if event.message else ""
    back = event.taken_back if isinstance(event, trace.PodGroupCycleEnded) else []
    return f"{VERDICTS[event.verdict]}{where}{why}" + (f"; taken back: {join_names(back)}" if back else "")


def _field_text(value: Any) -> str:
    if isinstance(value, list):
        return join_names([str(each) for each in value])
    if isinstance(value, dict):
        return join_names([f"({count} {name})" for name, count in value.items()])
    return str(value)
