"""The reason for which a pod is where it is: in the queue, outside of it, on a node, or gone.

The conditions below are those of the components that move the pod on: the scheduling queue, the binding
cycle, the kubelet (:mod:`simulator.controllers.kubelet.kubelet`) and the removal of deleted pods."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from msgspec import UNSET

from simulator import words
from simulator.api import Manifest, Micros
from simulator.apiserver.resources import NODES, PODS
from simulator.objects import container_status
from simulator.objects.metadata import annotations_of, finalizers_of, is_terminating
from simulator.objects.node_status import is_unreachable
from simulator.objects.pod import Pod
from simulator.objects.status import FINISHED_PHASES, phase_of, status_of
from simulator.objects.timestamps import micros
from simulator.objects.volumes import (
    PVCS,
    SELECTED_NODE,
    STORAGE_CLASSES,
    WAIT_FOR_FIRST_CONSUMER,
    claim_references,
    is_fully_bound,
    storage_class_name,
)
from simulator.plugins.default_preemption import DefaultPreemption
from simulator.plugins.scheduling_gates import SchedulingGates
from simulator.trace import CycleStarted, DevicesAwaited, Event, Nominated, QueuePlace, Scored, VolumesAwaited
from simulator.words import POD_REASONS, PodReasonKind

Get = Callable[[str, str], Manifest | None]
"""Returns an object by its resource and key; None if it does not exist."""


class PodReason(msgspec.Struct, frozen=True, omit_defaults=True):
    kind: PodReasonKind
    node: str = ""
    names: list[str] = []
    """What it waits for: claims, scheduling gates, plugins, victims or finalizers."""
    what: str = ""
    """The phase of a finished pod, the plugin that gates a pod, or the scheduler that it waits for."""
    until: Micros = 0
    """The simulated time at which it ends, at the latest; 0 = not known."""

    def values(self, *, node: str, names: str, time: str) -> Mapping[str, str]:
        """Return the values of the sentence. time: the time that is left, as text."""
        return {"node": node, "names": names, "what": self.what, "time": time}

    def sentence(self, now: Micros) -> str:
        """Return the reason in English, as of this time."""
        time = words.spoken_duration(self.until - now)
        return POD_REASONS[self.kind] % self.values(node=self.node, names=", ".join(self.names), time=time)


def find_pod_reason(
    manifest: Manifest | None, entry: QueuePlace | None, own: Sequence[Event], get: Get, now: Micros
) -> PodReason:
    """Return the reason of a pod. manifest: None if it was deleted. entry: its queue place. own: the trace
    events of the pod, the oldest first."""
    if manifest is None:
        return PodReason("deleted")
    if is_terminating(manifest):
        return _of_terminating(manifest, get, now)
    if phase_of(manifest) in FINISHED_PHASES:
        return PodReason("finished", what=phase_of(manifest))
    if manifest["spec"].get("nodeName"):
        return _of_bound(manifest, get)
    return _of_pending(manifest, entry, own, get)


def _of_terminating(manifest: Manifest, get: Get, now: Micros) -> PodReason:
    name = manifest["spec"].get("nodeName", "")
    node = get(NODES.id, name) if name else None
    if node is not None and is_unreachable(node):
        return PodReason("terminating-silent", node=name)
    if finalizers_of(manifest):
        return PodReason("finalizers", names=[*finalizers_of(manifest)])
    return PodReason("terminating", until=max(now, micros(manifest["metadata"]["deletionTimestamp"])))


def _of_bound(manifest: Manifest, get: Get) -> PodReason:
    name = manifest["spec"]["nodeName"]
    node = get(NODES.id, name)
    if phase_of(manifest) == "Running":
        restart = container_status.restart_time(manifest)
        return PodReason("running", name) if restart is None else PodReason("restarting", name, until=restart)
    if node is None:
        return PodReason("node-missing", name)
    if is_unreachable(node):
        return PodReason("node-silent", name)
    return next(_unbound_claims(Pod.parse(manifest), get), PodReason("starting", name))


def _unbound_claims(pod: Pod, get: Get) -> Iterator[PodReason]:
    for reference in claim_references(pod):
        claim = get(PVCS, f"{pod.namespace}/{reference.name}")
        if claim is None:
            yield PodReason("claim-missing", pod.node_name, [reference.name])
        elif not is_fully_bound(claim):
            waits = _waits_for_selection(claim, get)
            yield PodReason("claim-unselected" if waits else "claim-unbound", pod.node_name, [reference.name])


def _waits_for_selection(claim: Manifest, get: Get) -> bool:
    """Whether the volume of a claim is bound or provisioned only when the scheduler has selected a node."""
    if claim["spec"].get("volumeName") or SELECTED_NODE in annotations_of(claim):
        return False
    storage_class = get(STORAGE_CLASSES, storage_class_name(claim))
    return (storage_class or {}).get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER


def _of_pending(manifest: Manifest, entry: QueuePlace | None, own: Sequence[Event], get: Get) -> PodReason:
    if entry is None or entry.uid != manifest["metadata"].get("uid", entry.uid):
        return PodReason("arriving")
    match entry.lane:
        case "outside":
            return PodReason("outside", what=entry.scheduler or "")
        case "waiting" if entry.plugins:
            node = next((event.node for event in _last_cycle(own) if isinstance(event, Scored)), "")
            return PodReason("permit", node, entry.plugins, until=entry.wait_until or 0)
        case "inFlight" | "waiting":
            return _of_cycle([*_last_cycle(own)], get)
        case "activeQ":
            return PodReason("activeQ")
        case "backoffQ":
            return _of_backoff(manifest, entry)
    victims = _victims(manifest, entry, own, get)
    if victims:
        return PodReason("victims", status_of(manifest).get("nominatedNodeName", ""), victims)
    if entry.lane == "gated":
        if entry.gate == SchedulingGates.name:
            gates = [gate["name"] for gate in manifest["spec"].get("schedulingGates") or ()]
            return PodReason("gated", names=gates)
        return PodReason("gated-by-plugin", what=entry.gate)
    if not entry.retry_at or not entry.plugins:
        return PodReason("any-event")
    return PodReason("unschedulable", names=entry.plugins, until=entry.retry_at)


def _of_backoff(manifest: Manifest, entry: QueuePlace) -> PodReason:
    group = (manifest["spec"].get("schedulingGroup") or {}).get("podGroupName", "")
    if entry.retried_since is not UNSET:
        return PodReason("group-retried", what=group)
    kind: PodReasonKind = "backoffQ" if entry.plugins else "group-failed" if group else "error"
    return PodReason(kind, what=group, until=entry.backoff_until or 0)


def _last_cycle(own: Sequence[Event]) -> Iterator[Event]:
    """Yield the events of the pod's last cycle, the newest first."""
    for event in reversed(own):
        if isinstance(event, CycleStarted):
            return
        yield event


def _of_cycle(events: Sequence[Event], get: Get) -> PodReason:
    """Return the reason of a pod in its scheduling or binding cycle. events: those of the cycle."""
    for event in events:
        if isinstance(event, VolumesAwaited):
            claims = [key for key in event.claims if not is_fully_bound(get(PVCS, key) or {"spec": {}})]
            if claims:
                return PodReason("binding-claims", event.node, [key.partition("/")[2] for key in claims])
        if isinstance(event, DevicesAwaited):
            names = [key.partition("/")[2] for key in event.claims]
            return PodReason("binding-devices", event.node, names)
        if isinstance(event, Scored):
            return PodReason("binding", event.node)
    return PodReason("cycle")


def _victims(manifest: Manifest, entry: QueuePlace, own: Sequence[Event], get: Get) -> list[str]:
    """Return the victims that have not been removed yet, of the preemption whose nomination the pod has."""
    nominated = status_of(manifest).get("nominatedNodeName")
    last = next((event for event in reversed(own) if isinstance(event, Nominated)), None)
    if not nominated or last is None or last.node != nominated:
        return []
    # A victim whose name another pod has by now is gone.
    found = {key: victim for key in last.victims if (victim := get(PODS.id, key)) is not None}
    existing = {key: each for key, each in found.items() if each["spec"].get("nodeName") == nominated}
    # They are being deleted from the end of the cycle on: no other cycle has begun, and the plugin gates the
    # pod when an event moves it (prepareCandidateAsync in preemption.go).
    deleting = last in _last_cycle(own) or entry.gate == DefaultPreemption.name
    return [key for key, victim in existing.items() if deleting or is_terminating(victim)]
