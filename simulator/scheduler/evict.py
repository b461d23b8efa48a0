"""Preemption carried out: victims are told to go (prepareCandidateAsync,
pkg/scheduler/framework/preemption/preemption.go, v1.34).

The scheduler goes on meanwhile. Until the last victim's turn the preemptor is gated (PreEnqueue of
DefaultPreemption), so that it is not tried again for each victim that leaves."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from simulator import trace
from simulator.api import Change, Manifest
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.pod_defaults import GRACE_SECONDS
from simulator.apiserver.resources import PODS
from simulator.objects.pod import Pod
from simulator.objects.pod_status import with_condition, with_status
from simulator.scheduler.event_recorder import PREEMPTED
from simulator.world.agenda import Turn

if TYPE_CHECKING:
    from simulator.scheduler.scheduler import Scheduler

REASON = "PreemptionByScheduler"


def prepare_candidate(
    scheduler: "Scheduler", preemptor: Pod, node: str, victims: Sequence[str], cycle: int
) -> Callable[[], None]:
    """Get ready to evict the victims (``namespace/name``); the returned function sets it going, to be called
    when the preemptor is back in the queue. Victims that are on their way out already are left alone."""
    world = scheduler.world
    pods = [scheduler.cache.pods[key] for key in victims if key in scheduler.cache.pods]
    pods = [pod for pod in pods if not pod.terminating]
    if not pods:
        return lambda: None
    scheduler.preempting.add(preemptor.uid)

    def failed(problem: str) -> None:
        # The preemptor would wait in vain for this victim to go.
        if problem and not problem.endswith("not found"):
            scheduler.queue.activate([preemptor])

    def all_but_the_last() -> None:
        clear_nominations(scheduler, preemptor, node)
        for victim in pods[:-1]:
            evict(scheduler, preemptor, victim, node=node, cycle=cycle, done=failed)

    def the_last() -> None:
        scheduler.preempting.discard(preemptor.uid)
        evict(scheduler, preemptor, pods[-1], node=node, cycle=cycle, done=failed)

    def carry_out() -> None:
        # Two steps, so that what the first victims' going causes is seen while the preemptor is still gated.
        world.agenda.add(world.now, Turn.EVICTION, all_but_the_last)
        world.agenda.add(world.now, Turn.EVICTION, the_last)

    return carry_out


def clear_nominations(scheduler: "Scheduler", preemptor: Pod, node: str) -> None:
    """Pods of lower priority that hoped for the room on this node look for another one the sooner."""
    for pod in scheduler.queue.nominated_pods_for_node(node):
        if pod.priority < preemptor.priority:
            scheduler.world.update("pods", pod.key, pod.uid, _without_nomination)


def _without_nomination(pod: Manifest) -> Manifest:
    if not (pod.get("status") or {}).get("nominatedNodeName"):
        return pod
    return with_status(pod, nominatedNodeName=None)


def evict(
    scheduler: "Scheduler",
    preemptor: Pod,
    victim: Pod,
    *,
    node: str,
    cycle: int,
    done: Callable[[str], None],
) -> None:
    """PreemptPod: say why in the victim's DisruptionTarget condition, and delete it, with its own grace
    period. One that only waits on Permit is sent back instead."""
    world = scheduler.world

    def recorded() -> list[Change]:
        note = f"Preempted by pod {preemptor.uid} on node {node}"
        return world.events.event(PREEMPTED, note, victim, preemptor)

    waiting = scheduler.waiting_pod(victim.uid)
    if waiting is not None:
        waiting.reject("DefaultPreemption", "preempted")
        world.write((), (), recorded())
        return

    def deleted(pod: Manifest) -> Manifest | None:
        message = f"{preemptor.scheduler_name}: preempting to accommodate a higher priority pod"
        marked = with_condition(pod, world.now, "DisruptionTarget", "True", reason=REASON, message=message)
        change = admit_delete(PODS, marked, world.now)
        return pod if change is None else change.object

    def told() -> trace.VictimDeleted:
        return trace.VictimDeleted(
            t=world.now,
            cycle=cycle,
            pod=victim.key,
            node=victim.node_name,
            preemptor=preemptor.key,
            grace_seconds=victim.spec.get("terminationGracePeriodSeconds", GRACE_SECONDS),
        )

    world.update("pods", victim.key, victim.uid, deleted, done, event=told, record=recorded)
