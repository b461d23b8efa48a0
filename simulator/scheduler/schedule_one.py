"""The scheduling cycle of one pod, and what follows when it fails (pkg/scheduler/schedule_one.go).

The cycle is a process that stops at each extension point; it writes nothing before its end."""

from collections.abc import Callable

from simulator import trace
from simulator.api import Micros
from simulator.decision import Decision
from simulator.framework.binding import run_permit, run_reserve, run_unreserve
from simulator.framework.observer import CycleTimes
from simulator.framework.status import SelectedCandidate, Status
from simulator.kernel.containment import Actor, message_of
from simulator.kernel.environment import Turn
from simulator.kernel.requests import Point, Steps
from simulator.objects.pod import Pod
from simulator.queueing.queued_pod import QueuedPod
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.binding_cycle import binding_cycle, message_for_one_node
from simulator.scheduler.evict import prepare_candidate
from simulator.scheduler.failure_handler import (
    SCHEDULER_ERROR,
    UNSCHEDULABLE,
    patch_status,
    scheduling_failed,
)
from simulator.scheduler.schedule_result import FitError
from simulator.scheduler.scheduler import Scheduler


def schedule_one(scheduler: Scheduler, info: QueuedPod, cycle: int) -> Steps[None]:
    """Run the scheduling cycle of a pod that was popped (schedulingCycle): choose a node and assume the pod
    there, or choose victims, or requeue the pod. Whatever a plugin or anything else raises fails only this
    attempt."""
    try:
        yield from _cycle(scheduler, info, cycle)
    except Exception as fault:  # whatever it is, it fails only this attempt
        fail(scheduler, info, cycle, message_of(fault), reason=SCHEDULER_ERROR, nominated_node="")


def _cycle(scheduler: Scheduler, info: QueuedPod, cycle: int) -> Steps[None]:
    attempt = Attempt(
        scheduler.frameworks[info.pod.scheduler_name],
        scheduler.cache.cluster,
        info.pod,
        scheduler.queue.nominated_pods(),
        seed=scheduler.seed,
        cycle=cycle,
        start_node_index=scheduler.next_start_node_index,
        batch=scheduler.batches[info.pod.scheduler_name],
        now=scheduler.world.now,
    )

    times = yield from run_search(scheduler, info, attempt)
    scheduler.decisions.search_ended(attempt, info.attempts)
    result = attempt.result()
    if result.fit_error is not None:
        times.ended("unschedulable")
        _reject(scheduler, info, cycle, result.fit_error)
    elif result.error:
        times.ended("error")
        fail(scheduler, info, cycle, result.error, reason=SCHEDULER_ERROR, nominated_node="")
    else:
        times.ended("scheduled")
        yield from prepare_for_binding_cycle(scheduler, info, attempt, result.suggested_host)


def run_search(scheduler: Scheduler, info: QueuedPod, attempt: Attempt) -> Steps[CycleTimes]:
    """Run the search for a node, and stop at each extension point (schedulingAlgorithm). Return the times,
    to which the caller says how the cycle ended."""
    cycle = attempt.state.cycle
    scheduler.decisions.search_begins(attempt)

    def so_far() -> Decision | None:
        return scheduler.decisions.so_far(attempt, info.attempts)

    times = CycleTimes(scheduler.observer, info.pod.scheduler_name, cycle)
    try:
        for point in times.points(attempt.run(), attempt.status):
            yield Point(point, cycle, info.pod.key, so_far)
            fault = scheduler.faults.inject(info.pod, point)
            if fault is not None:
                attempt.fail(point, fault)
                break
    finally:
        scheduler.next_start_node_index = attempt.next_start_node_index
    return times


# Success: assume, reserve, permit


def prepare_for_binding_cycle(
    scheduler: Scheduler, info: QueuedPod, attempt: Attempt, node: str
) -> Steps[None]:
    """Assume the pod on its node; its binding cycle runs beside the next scheduling cycles."""
    assumed = scheduler.cache.assume(info.pod, node)
    try:
        yield from _reserve(scheduler, info, attempt, assumed)
    except Exception:
        run_unreserve(attempt.framework, attempt.state, assumed, node)
        scheduler.cache.forget(assumed)
        raise


def _reserve(scheduler: Scheduler, info: QueuedPod, attempt: Attempt, assumed: Pod) -> Steps[None]:
    """Reserve and Permit."""
    framework, state, node = attempt.framework, attempt.state, assumed.node_name
    cycle, pod = state.cycle, assumed.key
    scheduler.queue.nominator.delete(info.pod)
    scheduler.lanes.entry_changed(info.pod.key)
    status: Status | None = None
    waits: dict[str, Micros] = {}
    faults = scheduler.faults
    if framework.reserve_plugins or faults.is_planned(assumed, "Reserve"):
        yield Point("Reserve", cycle, pod)
        status = faults.inject(assumed, "Reserve") or run_reserve(framework, state, assumed, node)
    if status is None and (framework.permit_plugins or faults.is_planned(assumed, "Permit")):
        yield Point("Permit", cycle, pod)
        status = faults.inject(assumed, "Permit")
        if status is None:
            permitted = run_permit(framework, state, assumed, node)
            status, waits = permitted.status, permitted.waits
    if status is None:
        scheduler.activate(state)
        steps = binding_cycle(scheduler, info, assumed, state, cycle=cycle, timeouts=waits)
        scheduler.world.process(Turn.BINDING, Actor("Scheduler", "pods", assumed.key), steps).start()
        return
    run_unreserve(framework, state, assumed, node)
    scheduler.cache.forget(assumed)
    if not status.rejected:
        fail(scheduler, info, cycle, status.message, reason=SCHEDULER_ERROR, nominated_node="")
        return
    pending = status.code == "Pending"
    info.unschedulable_plugins, info.pending_plugins = set(), set()
    (info.pending_plugins if pending else info.unschedulable_plugins).add(status.plugin)
    message = message_for_one_node(status)
    fail(scheduler, info, cycle, message, reason=UNSCHEDULABLE, nominated_node="")


# Failure: back into the queue


def _reject(scheduler: Scheduler, info: QueuedPod, cycle: int, failure: FitError) -> None:
    """Reject the pod: no node can take it, but evicting others may help."""
    candidate, message = failure.candidate, failure.message
    info.unschedulable_plugins = set(failure.unschedulable_plugins)
    if candidate is None:
        nominated = failure.nominated_node
        fail(scheduler, info, cycle, message, reason=UNSCHEDULABLE, nominated_node=nominated)
        return
    carry_out = preempt(scheduler, info.pod, candidate, cycle)
    _requeue(scheduler, info, message, UNSCHEDULABLE, candidate.node)
    carry_out()


def preempt(scheduler: Scheduler, pod: Pod, candidate: SelectedCandidate, cycle: int) -> Callable[[], None]:
    """Gate a pod that preempts. Return the function that starts the evictions."""
    scheduler.world.emit(
        trace.Nominated(
            t=scheduler.world.now,
            cycle=cycle,
            pod=pod.key,
            node=candidate.node,
            victims=[victim.key for victim in candidate.victims],
            rule=candidate.rule,
            candidates=candidate.candidates,
        )
    )
    return prepare_candidate(scheduler, pod, candidate.node, candidate.victims, cycle)


def fail(
    scheduler: Scheduler,
    info: QueuedPod,
    cycle: int,
    message: str,
    *,
    reason: str,
    nominated_node: str | None,
) -> None:
    """Requeue a pod that was rejected or whose attempt ended with an error (FailureHandler). ``reason``: that
    of the condition PodScheduled."""
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
    scheduler: Scheduler, info: QueuedPod, message: str, reason: str, nominated_node: str | None
) -> None:
    """Requeue the pod, and then write its status (handleSchedulingFailure)."""
    pod = info.pod
    scheduling_failed(scheduler.cache, scheduler.queue, info, nominated_node)
    patch_status(scheduler, pod, reason, message, nominated_node)
