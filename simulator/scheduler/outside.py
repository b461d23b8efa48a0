"""The bindings and reports of outside schedulers, as their writes show them: they bind pods through the API
that no profile of this scheduler is for.

Their writes and Events are inputs of the simulation, so the trace events that are made of them here are the
same in a replay.
"""

from collections.abc import Container
from typing import Final, NamedTuple, Protocol

from simulator.api import Manifest, Micros
from simulator.objects.conditions import condition
from simulator.objects.metadata import created_at
from simulator.objects.pod import Pod
from simulator.scheduler.evict import REASON as PREEMPTION
from simulator.trace import (
    Event,
    OutsideBound,
    OutsideFailed,
    OutsideNominated,
    OutsidePreempted,
    QueuePlace,
)

GATES: Final = "SchedulingGates"
CUT_OFF: Final = " ..."
"""The end of an Event's note that was truncated (truncateMessage in pkg/scheduler/schedule_one.go)."""


class ObservedCluster(Protocol):
    """What the acts are read from, and where they are noted."""

    @property
    def now(self) -> Micros: ...

    def emit(self, event: Event) -> None: ...

    def get(self, resource: str, key: str) -> Manifest | None:
        """Return an object as it was last observed."""


class WaitingOutside(NamedTuple):
    """A pod that waits for an outside scheduler."""

    pod: Pod
    since: Micros
    """Time at which the pod was created, or its last scheduling gate was removed, in simulated time."""
    since_wall: int | None
    """Wall time of ``since``, in microseconds; None for a pod of the first list."""
    failure: str = ""
    """The last message of its scheduler that was reported."""


class OutsideSchedulers:
    """Follows the pods whose schedulerName is not in ``profiles``, and emits the trace events."""

    def __init__(self, world: ObservedCluster, profiles: Container[str]) -> None:
        self._world = world
        self._profiles = profiles
        self._waiting: dict[str, WaitingOutside] = {}
        self._preempted: set[str] = set()
        """The uids of pods whose preemption was reported, until they are removed."""
        self._changed: dict[str, None] = {}  # a set in the order of insertion
        self.started = False
        """Whether the first list was taken in. What it contains has happened before."""
        self.wall: int | None = None
        """The wall time in microseconds at which the last watch events were received; None = not known."""

    @property
    def is_empty(self) -> bool:
        """Whether no pod waits."""
        return not self._waiting

    @property
    def only_gated(self) -> bool:
        """Whether all pods that wait have a scheduling gate."""
        return all(each.pod.scheduling_gates for each in self._waiting.values())

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Note a pod's new version, or (``new`` None) its deletion, when the informer shows it."""
        if old is not None and new is not None and old.uid != new.uid:
            # Deleted and created again; only a relist shows that as one change.
            self.pod_changed(old, None)
            self.pod_changed(None, new)
            return
        if old is not None:
            self._find_preemption(old, new)
        pod = new or old
        assert pod is not None, "a change has an object before or after it"
        if pod.scheduler_name in self._profiles:
            return
        known = self._waiting.get(pod.key)
        if new is not None and not new.node_name and not new.finished:
            self._waits(known, new)
        elif known is not None:
            del self._waiting[pod.key]
            self._changed[pod.key] = None
            if new is not None and new.node_name:
                self._bound(known, new)

    def event_changed(self, event: Manifest | None) -> None:
        """Note a new version of an Event, or its deletion, when the informer shows it.

        One that repeats another keeps the note of the first (recordToSink and getKey in
        staging/src/k8s.io/client-go/tools/events/event_broadcaster.go), which need not hold any more."""
        if event is None or not self.started or event.get("series"):
            return
        regarding = event.get("involvedObject") or {}
        if regarding.get("kind") != "Pod":
            return
        key, uid = _pod_key(regarding), regarding.get("uid", "")
        reporter = event.get("reportingComponent") or (event.get("source") or {}).get("component", "")
        match event.get("reason"):
            case "FailedScheduling":
                known = self._waiting.get(key)
                if known is not None and uid in ("", known.pod.uid):
                    self._failed(known, "", event.get("message", ""))
            case "Preempted" if reporter and reporter not in self._profiles:
                self._preempted_by_event(key, uid, reporter, _pod_key(event.get("related") or {}))

    def last_failure(self, key: str) -> str:
        """Return the last message about a pod that waits; "" = there was none."""
        known = self._waiting.get(key)
        return "" if known is None else known.failure

    def take_queue_places(self) -> dict[str, QueuePlace | None]:
        """Return the places that have changed since the last call; None = the pod does not wait any more."""
        changed, self._changed = self._changed, {}
        return {key: self._entry(key) for key in changed}

    # Pods

    def _waits(self, known: WaitingOutside | None, pod: Pod) -> None:
        before = known.pod.nominated_node_name if known is not None else ""
        if known is None and not self.started:
            known = WaitingOutside(pod, created_at(pod.manifest) or self._world.now, None)
        elif known is None or (known.pod.scheduling_gates and not pod.scheduling_gates):
            known = WaitingOutside(pod, self._world.now, self.wall)
        known = self._waiting[pod.key] = known._replace(pod=pod)
        self._changed[pod.key] = None
        if pod.nominated_node_name and pod.nominated_node_name != before and self.started:
            self._world.emit(
                OutsideNominated(
                    t=self._world.now,
                    pod=pod.key,
                    node=pod.nominated_node_name,
                    scheduler=pod.scheduler_name,
                )
            )
        scheduled = condition(pod.manifest, "PodScheduled") or {}
        if scheduled.get("status") == "False" and scheduled.get("reason") != "SchedulingGated":
            self._failed(known, scheduled.get("reason", ""), scheduled.get("message", ""))

    def _bound(self, known: WaitingOutside, pod: Pod) -> None:
        wall = None
        if self.wall is not None and known.since_wall is not None:
            wall = max(0, self.wall - known.since_wall)
        self._world.emit(
            OutsideBound(
                t=self._world.now,
                pod=pod.key,
                node=pod.node_name,
                scheduler=pod.scheduler_name,
                waited=max(0, self._world.now - known.since),
                waited_wall=wall,
            )
        )

    def _failed(self, known: WaitingOutside, reason: str, message: str) -> None:
        """Emit the scheduler's message, unless it is the last one again: the condition and the Event of one
        attempt have the same."""
        begins = message.removesuffix(CUT_OFF)
        if (
            not message
            or known.failure == message
            or (begins != message and known.failure.startswith(begins))
        ):
            return
        self._waiting[known.pod.key] = known._replace(failure=message)
        if self.started:
            self._world.emit(
                OutsideFailed(
                    t=self._world.now,
                    pod=known.pod.key,
                    scheduler=known.pod.scheduler_name,
                    reason=reason,
                    message=message,
                )
            )

    # Preemption

    def _find_preemption(self, old: Pod, new: Pod | None) -> None:
        """Emit the preemption if the pod is being deleted now, and has the condition of a victim."""
        if new is None and old.uid in self._preempted:
            self._preempted.discard(old.uid)
            return
        pod = new or old
        if old.terminating or not (new is None or new.terminating) or not self.started:
            return
        marked = condition(pod.manifest, "DisruptionTarget") or {}
        if marked.get("status") != "True" or marked.get("reason") != PREEMPTION:
            return
        scheduler = str(marked.get("message", "")).partition(":")[0]
        if scheduler in self._profiles:
            return
        nominated = [
            each.pod.key
            for each in self._waiting.values()
            if each.pod.nominated_node_name == pod.node_name and each.pod.scheduler_name == scheduler
        ]
        self._emit_preemption(pod, scheduler, nominated[0] if len(nominated) == 1 else "")
        if new is not None:
            self._preempted.add(pod.uid)

    def _preempted_by_event(self, key: str, uid: str, scheduler: str, preemptor: str) -> None:
        manifest = self._world.get("pods", key)
        if manifest is None or uid in self._preempted or manifest["metadata"].get("uid") != uid:
            return
        pod = Pod.parse(manifest)
        if pod.terminating:
            self._preempted.add(uid)
            self._emit_preemption(pod, scheduler, preemptor)

    def _emit_preemption(self, pod: Pod, scheduler: str, preemptor: str) -> None:
        grace = pod.manifest["metadata"].get("deletionGracePeriodSeconds")
        self._world.emit(
            OutsidePreempted(
                t=self._world.now,
                pod=pod.key,
                node=pod.node_name,
                scheduler=scheduler,
                preemptor=preemptor,
                grace_seconds=grace or 0,
            )
        )

    # Places

    def _entry(self, key: str) -> QueuePlace | None:
        known = self._waiting.get(key)
        if known is None:
            return None
        pod = known.pod
        scheduled = condition(pod.manifest, "PodScheduled") or {}
        gated = bool(pod.scheduling_gates)
        return QueuePlace(
            pod=key,
            uid=pod.uid,
            lane="gated" if gated else "outside",
            priority=pod.priority,
            since=known.since,
            queued=known.since,
            attempts=0,
            message="" if gated else scheduled.get("message", "") or known.failure,
            gate=GATES if gated else "",
            nominated_node=pod.nominated_node_name,
            scheduler=pod.scheduler_name,
        )


def _pod_key(reference: Manifest) -> str:
    """Return the key of the pod that an Event names; "" if it names none."""
    name = reference.get("name", "")
    return f"{reference.get('namespace') or 'default'}/{name}" if name else ""
