"""One pod through the scheduling cycle, and what follows when it fails (pkg/scheduler/schedule_one.go,
v1.34).

The cycle is a generator that yields each extension point just before it is run, so that it can be stepped;
nothing is written before it ends.
"""

from collections import Counter
from typing import TYPE_CHECKING

from simulator import trace
from simulator.api import Micros
from simulator.decision import Decision
from simulator.framework.binding import run_permit, run_reserve, run_unreserve
from simulator.framework.interface import Status
from simulator.queueing.queued_pod import QueuedPod
from simulator.scheduler.attempt import NO_NODES, Attempt
from simulator.scheduler.attempt_record import record
from simulator.scheduler.binding_cycle import BindingCycle, message_for_one_node
from simulator.scheduler.evict import prepare_candidate
from simulator.scheduler.failure_handler import scheduling_failed
from simulator.scheduler.pod_condition import SCHEDULER_ERROR, UNSCHEDULABLE, patch_status
from simulator.scheduler.points import Point, Points

if TYPE_CHECKING:
    from simulator.scheduler.scheduler import Scheduler


def schedule_one(scheduler: "Scheduler", info: QueuedPod, cycle: int) -> Points:
    """The scheduling cycle of a pod that was popped (schedulingCycle): choose a node and assume it, or choose
    victims, or send the pod back into the queue. A plugin that raises fails this attempt only."""
    attempt = Attempt(
        scheduler.frameworks[info.pod.scheduler_name],
        scheduler.cache.cluster,
        info.pod,
        scheduler.queue.nominated_pods(),
        seed=scheduler.seed,
        cycle=cycle,
    )

    def so_far() -> Decision:
        return record(attempt, now=scheduler.world.now, attempt=info.attempts, under_way=True)

    try:
        for point in attempt.run():
            yield Point(point, cycle, info.pod.key, so_far)
            fault = scheduler.faults.strike(info.pod, point)
            if fault is not None:
                attempt.fail(point, fault)
                break
        decision = record(attempt, now=scheduler.world.now, attempt=info.attempts)
    except Exception as fault:  # a plugin's fault, whatever it is, must not end the loop
        message = f"{type(fault).__name__}: {fault}"
        _fail(scheduler, info, cycle, message, reason=SCHEDULER_ERROR, nominated_node="")
        return
    scheduler.decisions.append(decision)
    _trace_search(scheduler, decision)
    if decision.outcome == "scheduled":
        yield from _assume(scheduler, info, attempt, decision)
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


# Success: assume, reserve, permit


def _assume(scheduler: "Scheduler", info: QueuedPod, attempt: Attempt, decision: Decision) -> Points:
    """From now on the pod counts on its node; binding goes on beside the next scheduling cycle."""
    framework, state, node = attempt.framework, attempt.state, decision.selected
    assumed = scheduler.cache.assume(info.pod, node)
    scheduler.queue.nominator.delete(info.pod)
    scheduler.lanes.touched(info.pod.key)
    status: Status | None = None
    waits: dict[str, Micros] = {}
    faults = scheduler.faults
    if framework.reserve_plugins or faults.aims(assumed, "Reserve"):
        yield Point("Reserve", decision.cycle, decision.pod)
        status = faults.strike(assumed, "Reserve") or run_reserve(framework, state, assumed, node)
    if status is None and (framework.permit_plugins or faults.aims(assumed, "Permit")):
        yield Point("Permit", decision.cycle, decision.pod)
        status = faults.strike(assumed, "Permit")
        if status is None:
            status, waits = run_permit(framework, state, assumed, node)
    if status is None:
        scheduler.activate(state)
        BindingCycle(scheduler, info, assumed, state, decision.cycle).start(waits)
        return
    run_unreserve(framework, state, assumed, node)
    scheduler.cache.forget(assumed)
    if not status.rejected:
        _fail(scheduler, info, decision.cycle, status.message, reason=SCHEDULER_ERROR, nominated_node="")
        return
    pending = status.code == "Pending"
    info.unschedulable_plugins, info.pending_plugins = set(), set()
    (info.pending_plugins if pending else info.unschedulable_plugins).add(status.plugin)
    message = message_for_one_node(status)
    _fail(scheduler, info, decision.cycle, message, reason=UNSCHEDULABLE, nominated_node="")


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
    patch_status(scheduler, pod, reason, message, nominated_node)
