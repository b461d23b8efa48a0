"""One pod through the scheduler: the scheduling cycle, the binding cycle, and what follows when one of them
fails.

pkg/scheduler/schedule_one.go, v1.34. The scheduling cycle is a generator that yields the name of each
extension point just before it is run, so that it can be stepped; nothing is written before it ends."""

from collections import Counter
from collections.abc import Generator
from typing import TYPE_CHECKING

from simulator import extender_calls, trace
from simulator.agenda import Turn
from simulator.api import Manifest
from simulator.apiserver.status import StatusError
from simulator.apiserver.subresources import admit_binding
from simulator.attempt import NO_NODES, Attempt
from simulator.decision import Decision
from simulator.evict import prepare_candidate
from simulator.extender import ExtenderError
from simulator.failure_handler import binding_failed, scheduling_failed
from simulator.pod import Pod
from simulator.pod_status import with_condition, with_status
from simulator.queueing.queued_pod import QueuedPod
from simulator.schedule_pod import record
from simulator.world import Refused

if TYPE_CHECKING:
    from simulator.scheduler import Scheduler

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"


def schedule_one(scheduler: "Scheduler", info: QueuedPod, cycle: int) -> Generator[str, None, None]:
    """The scheduling cycle of a pod that was popped (schedulingCycle): choose a node and assume it, or choose
    victims,
    or send the pod back into the queue. A plugin that raises fails this attempt only."""
    attempt = Attempt(
        scheduler.frameworks[info.pod.scheduler_name],
        scheduler.cache.cluster,
        info.pod,
        scheduler.queue.nominated_pods(),
        seed=scheduler.seed,
        cycle=cycle,
    )
    try:
        yield from attempt.run()
        decision = record(attempt, now=scheduler.world.now, attempt=info.attempts)
    except Exception as fault:  # a plugin's fault, whatever it is, must not end the loop
        message = f"{type(fault).__name__}: {fault}"
        _fail(scheduler, info, cycle, message, reason=SCHEDULER_ERROR, nominated_node="")
        return
    scheduler.decisions.append(decision)
    _trace_search(scheduler, decision)
    if decision.outcome == "scheduled":
        _assume(scheduler, info, decision)
    elif decision.outcome == "error":
        _fail(scheduler, info, cycle, decision.message, reason=SCHEDULER_ERROR, nominated_node="")
    else:
        _reject(scheduler, info, decision, attempt.nominated_node)


def _trace_search(scheduler: "Scheduler", decision: Decision) -> None:
    now, cycle, pod = scheduler.world.now, decision.cycle, decision.pod
    if decision.pre_filter is not None:
        verdicts = Counter(decision.verdicts)
        reasons: Counter[str] = Counter()
        for number, failure in enumerate(decision.failures, start=1):
            for reason in failure.reasons:
                reasons[reason] += verdicts[number]
        nodes, feasible = len(decision.nodes), len(decision.feasible)
        scheduler.world.emit(
            trace.Filtered(
                t=now,
                cycle=cycle,
                pod=pod,
                nodes=nodes,
                feasible=feasible,
                reasons=dict(sorted(reasons.items())),
            )
        )
    if decision.selected:
        total = max(decision.totals, default=0)
        tied = max(1, len(decision.tied))
        scheduler.world.emit(
            trace.Scored(t=now, cycle=cycle, pod=pod, node=decision.selected, total=total, tied=tied)
        )


# Success: assume, then bind


def _assume(scheduler: "Scheduler", info: QueuedPod, decision: Decision) -> None:
    """From now on the pod counts on its node; binding goes on beside the next scheduling cycle."""
    assumed = scheduler.cache.assume(info.pod, decision.selected)
    scheduler.queue.nominator.delete(info.pod)
    scheduler.lanes.touched(info.pod.key)
    scheduler.world.agenda.add(
        scheduler.world.now, Turn.BINDING, lambda: _bind(scheduler, info, assumed, decision.cycle)
    )


def _bind(scheduler: "Scheduler", info: QueuedPod, assumed: Pod, cycle: int) -> None:
    """bindingCycle. What fails from here on is an error, no verdict: events that came meanwhile matter no
    more."""
    world = scheduler.world
    scheduler.queue.done(assumed.uid)

    def bound() -> trace.Bound:
        return trace.Bound(t=world.now, cycle=cycle, pod=assumed.key, node=assumed.node_name)

    def ended(problem: str) -> None:
        if not problem:
            return
        world.emit(
            trace.BindFailed(
                t=world.now, cycle=cycle, pod=assumed.key, node=assumed.node_name, message=problem
            )
        )
        info.unschedulable_plugins, info.pending_plugins = set(), set()
        binding_failed(scheduler.cache, scheduler.queue, info, assumed, rejected=False)
        _patch_status(scheduler, info.pod, SCHEDULER_ERROR, f"binding rejected: {problem}", nominated_node="")

    def binding(pod: Manifest) -> Manifest | None:
        try:
            return admit_binding(
                pod, {"target": {"kind": "Node", "name": assumed.node_name}}, world.now
            ).object
        except StatusError as refusal:
            raise Refused(str(refusal)) from None

    try:
        # An extender written for a real cluster has no way into this one: its word is taken, and what it
        # would have written is written below.
        extenders = scheduler.frameworks[assumed.scheduler_name].extenders
        extender_calls.bind(extenders, assumed, assumed.node_name)
    except ExtenderError as fault:
        ended(str(fault))
        return
    world.update("pods", assumed.key, assumed.uid, binding, ended, event=bound)


# Failure: back into the queue


def _reject(scheduler: "Scheduler", info: QueuedPod, decision: Decision, nominated_node: str | None) -> None:
    """No node can take the pod, but evicting others may help."""
    world, preemption = scheduler.world, decision.preemption
    info.unschedulable_plugins = set(decision.unschedulable_plugins)
    found = preemption.candidates if preemption else []
    chosen = next((c for c in found if preemption and c.node == preemption.chosen), None)
    if preemption is None or chosen is None:
        if decision.message == NO_NODES:
            nominated_node = ""
        _fail(
            scheduler,
            info,
            decision.cycle,
            decision.message,
            reason=UNSCHEDULABLE,
            nominated_node=nominated_node,
        )
        return
    victims = [victim.pod for victim in chosen.victims]
    world.emit(
        trace.Nominated(
            t=world.now,
            cycle=decision.cycle,
            pod=decision.pod,
            node=chosen.node,
            victims=victims,
            rule=preemption.rule,
            candidates=len(preemption.candidates),
        )
    )
    carry_out = prepare_candidate(scheduler, info.pod, chosen.node, victims, decision.cycle)
    _requeue(scheduler, info, decision.message, UNSCHEDULABLE, chosen.node)
    carry_out()


def _fail(
    scheduler: "Scheduler",
    info: QueuedPod,
    cycle: int,
    message: str,
    *,
    reason: str,
    nominated_node: str | None,
) -> None:
    now, pod = scheduler.world.now, info.pod.key
    if reason == SCHEDULER_ERROR:
        scheduler.world.emit(trace.SchedulerError(t=now, cycle=cycle, pod=pod, message=message))
    else:
        plugins = sorted(info.unschedulable_plugins)
        scheduler.world.emit(
            trace.Unschedulable(t=now, cycle=cycle, pod=pod, message=message, plugins=plugins)
        )
    _requeue(scheduler, info, message, reason, nominated_node)


def _requeue(
    scheduler: "Scheduler", info: QueuedPod, message: str, reason: str, nominated_node: str | None
) -> None:
    """handleSchedulingFailure: into the queue first, then the pod's status."""
    pod = info.pod
    scheduling_failed(scheduler.cache, scheduler.queue, info, nominated_node)
    _patch_status(scheduler, pod, reason, message, nominated_node)


def _patch_status(
    scheduler: "Scheduler", pod: Pod, reason: str, message: str, nominated_node: str | None
) -> None:
    """One patch for the condition and the nomination (None leaves it, "" clears it). That the pod is gone
    does not
    matter."""
    world = scheduler.world

    def patched(manifest: Manifest) -> Manifest:
        new = with_condition(manifest, world.now, "PodScheduled", "False", reason=reason, message=message)
        current = (manifest.get("status") or {}).get("nominatedNodeName", "")
        if nominated_node is not None and nominated_node != current:
            new = with_status(new, nominatedNodeName=nominated_node or None)
        return new

    world.update("pods", pod.key, pod.uid, patched)
    scheduler.lanes.touched(pod.key)
