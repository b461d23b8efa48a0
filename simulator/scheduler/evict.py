"""Preemption carried out: the victims are deleted (prepareCandidateAsync in
pkg/scheduler/framework/preemption/preemption.go).

The scheduler goes on meanwhile. PreEnqueue of DefaultPreemption gates the preemptor until the last victim is
deleted, so that it is not tried again for each victim that leaves."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from msgspec import UNSET

from simulator import trace
from simulator.api import Change, Manifest
from simulator.client.event_recorder import PREEMPTED, Note
from simulator.client.world import Patch
from simulator.kernel.containment import Actor
from simulator.kernel.environment import Turn
from simulator.kernel.requests import Refused, Steps, Wait, Write
from simulator.objects.conditions import with_condition
from simulator.objects.pod import GRACE_SECONDS, Pod
from simulator.objects.pod_group import PodGroup
from simulator.objects.status import with_status
from simulator.scheduler.scheduler import Scheduler

REASON: Final = "PreemptionByScheduler"


class Preemptor(NamedTuple):
    """For whom victims are evicted: a pod, or a pod group."""

    pods: Sequence[Pod]
    """The pods that are tried again when the evictions are over: the pod, or those of the group's cycle."""
    uid: str
    group: str
    """The key of the PodGroup; "" = it is a pod."""
    text: str
    """What an Event calls it."""
    node: str
    """The node for which it preempts; that of a group is the cluster."""


def prepare_group_candidate(
    scheduler: Scheduler, group: PodGroup, pods: Sequence[Pod], victims: Sequence[Pod], cycle: int
) -> Callable[[], None]:
    """The same for a group, all pods of which are gated (actuatePodGroupPreemption)."""
    preemptor = Preemptor(pods, group.uid, group.key, f"podgroup {group.uid}", "cluster")
    return _prepare(scheduler, preemptor, victims, cycle)


def prepare_candidate(
    scheduler: Scheduler, preemptor: Pod, node: str, victims: Sequence[Pod], cycle: int
) -> Callable[[], None]:
    """Gate the preemptor. Return the function that starts the eviction of the victims,
    to be called when the preemptor is back in the queue. Victims that are being deleted already are left
    alone."""
    found = Preemptor([preemptor], preemptor.uid, "", f"pod {preemptor.uid}", node)
    return _prepare(scheduler, found, victims, cycle)


def _prepare(
    scheduler: Scheduler, preemptor: Preemptor, victims: Sequence[Pod], cycle: int
) -> Callable[[], None]:
    left = [victim for victim in victims if not victim.terminating]
    if not left:
        return lambda: None
    first = preemptor.pods[0]
    scheduler.frameworks[first.scheduler_name].preempting.add(preemptor.uid)
    steps = preempt_pods(scheduler, preemptor, left, cycle)
    return scheduler.world.process(Turn.EVICTION, Actor("Scheduler", "pods", first.key), steps).start


def preempt_pods(
    scheduler: Scheduler, preemptor: Preemptor, victims: Sequence[Pod], cycle: int
) -> Steps[None]:
    """Delete the victims, the last one when the preemptor's gate has been opened."""
    world, first = scheduler.world, preemptor.pods[0]

    def start(victim: Pod) -> None:
        actor = Actor("Scheduler eviction", "pods", victim.key)
        world.process(Turn.EVICTION, actor, preempt_pod(scheduler, preemptor, victim, cycle)).start()

    yield Wait(world.now)
    if not preemptor.group:  # preemption for a group leaves the nominations of others
        actor = Actor("Scheduler", "pods", first.key)
        world.containment.run(actor, partial(clear_nominations, scheduler, first, preemptor.node))
    for victim in victims[:-1]:
        start(victim)
    # What the deletion of these leads to is seen while the preemptor is still gated.
    yield Wait(world.now)
    scheduler.frameworks[first.scheduler_name].preempting.discard(preemptor.uid)
    start(victims[-1])


def clear_nominations(scheduler: Scheduler, preemptor: Pod, node: str) -> None:
    """Clear the nominations of pods of lower priority to this node, so that they look for another one."""
    for pod in scheduler.queue.nominated_pods_for_node(node):
        if pod.priority < preemptor.priority:
            scheduler.world.update("pods", pod.key, pod.uid, _without_nomination)


def _without_nomination(pod: Manifest) -> Manifest:
    if not (pod.get("status") or {}).get("nominatedNodeName"):
        return pod
    return with_status(pod, nominatedNodeName=None)


def preempt_pod(scheduler: Scheduler, preemptor: Preemptor, victim: Pod, cycle: int) -> Steps[None]:
    """Set the victim's DisruptionTarget condition and delete it, with its own grace period (PreemptPod). A
    victim that waits on Permit, or since v1.36 in PreBind, only loses its node: it is tried again after a
    backoff. Until v1.35 one that waits is rejected (kubernetes#135719, kubernetes#135502)."""
    world, first = scheduler.world, preemptor.pods[0]
    note = Note(PREEMPTED, f"Preempted by {preemptor.text} on node {preemptor.node}", victim, first)
    waiting = scheduler.waiting_pod(victim.uid)
    if waiting is not None:
        if scheduler.features.version.preempted_pods_are_retried:
            waiting.preempt("preempted")
        else:
            waiting.reject("DefaultPreemption", "preempted")
        world.record(note)
        return
    in_pre_bind = scheduler.pods_in_pre_bind.get(victim.uid)
    if in_pre_bind is not None:
        in_pre_bind.fire("preempted by DefaultPreemption")
        world.record(note)
        return
    event = trace.VictimDeleted(
        t=world.now,
        cycle=cycle,
        pod=victim.key,
        node=victim.node_name,
        preemptor=first.key,
        grace_seconds=victim.spec.get("terminationGracePeriodSeconds", GRACE_SECONDS),
        group=preemptor.group or UNSET,
    )
    delete = partial(_delete, scheduler, first)
    outcome = yield Write(Patch("pods", victim.key, victim.uid, delete, event, note))
    if isinstance(outcome, Refused) and outcome.reason != "NotFound":
        # The victim stays, so that the preemptor would wait for nothing.
        scheduler.queue.activate(preemptor.pods)


def _delete(scheduler: Scheduler, preemptor: Pod, victim: Manifest) -> list[Change]:
    now = scheduler.world.now
    message = f"{preemptor.scheduler_name}: preempting to accommodate a higher priority pod"
    marked = with_condition(victim, now, "DisruptionTarget", "True", reason=REASON, message=message)
    return scheduler.world.server.delete_by_component(marked)
