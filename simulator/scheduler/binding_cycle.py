"""The binding cycle (bindingCycle in pkg/scheduler/schedule_one.go). It is a process of its own, which
runs beside the scheduling cycles of other pods."""

from functools import partial
from typing import Final

from simulator import trace
from simulator.api import Manifest, Micros
from simulator.client.event_recorder import SCHEDULED, Note
from simulator.client.world import Patch
from simulator.framework.binding import (
    BindResult,
    broken,
    run_bind,
    run_post_bind,
    run_pre_bind,
    run_pre_bind_pre_flights,
    run_unreserve,
)
from simulator.framework.cycle_state import CycleState
from simulator.framework.extender import ExtenderError
from simulator.framework.status import SKIP, Status, error
from simulator.kernel.requests import Due, Point, Refused, Signal, Steps, Wait, Write
from simulator.objects import durations
from simulator.objects.pod import Pod
from simulator.objects.status import status_of, with_status
from simulator.queueing.queued_pod import QueuedPod
from simulator.queueing.scheduling_queue import Move
from simulator.scheduler import extender_calls
from simulator.scheduler.failure_handler import SCHEDULER_ERROR, UNSCHEDULABLE, binding_failed, patch_status
from simulator.scheduler.scheduler import Scheduler

EXPECTATION: Final = "NominatedNodeNameForExpectation"


def binding_cycle(
    scheduler: Scheduler,
    info: QueuedPod,
    pod: Pod,
    state: CycleState,
    *,
    cycle: int,
    timeouts: dict[str, Micros],
) -> Steps[None]:
    """Bind an assumed pod. ``timeouts`` are those of the Permit plugins for which it has to wait."""
    framework, faults = scheduler.frameworks[pod.scheduler_name], scheduler.faults
    failed = partial(handle_binding_cycle_error, scheduler, info, pod, state, cycle=cycle)
    pre_flight: Status | None = None
    if framework.features.enabled(EXPECTATION):
        pre_flight = run_pre_bind_pre_flights(framework, state, pod, pod.node_name)
        if pre_flight is not None and pre_flight is not SKIP:
            yield Wait(scheduler.world.now)
            failed(pre_flight, on_permit=False)
            return
        if pre_flight is None or timeouts:
            nominate(scheduler, pod)
    status = yield from wait_on_permit(scheduler, info, pod, timeouts)
    if status is not None:
        failed(status, on_permit=True)
        return
    # Any failure from here on is an error: events that come meanwhile are not kept for the pod.
    scheduler.queue.done(pod.uid)
    try:
        if framework.pre_bind_plugins or faults.is_planned(pod, "PreBind"):
            yield Point("PreBind", cycle, pod.key)
            status = faults.inject(pod, "PreBind")
            if status is None:
                cancelled = Signal()
                if pre_flight is None and framework.features.version.preempted_pods_are_retried:
                    scheduler.pods_in_pre_bind[pod.uid] = cancelled
                try:
                    status = yield from run_pre_bind(framework, state, pod, cancelled)
                finally:
                    scheduler.pods_in_pre_bind.pop(pod.uid, None)
        if status is None:
            yield Point("Bind", cycle, pod.key)
            status = faults.inject(pod, "Bind")
            if status is None:
                status = yield from bind(scheduler, pod, state, cycle)
    except Exception as fault:  # whatever it is, it fails this binding only
        status = broken(fault)
    if status is not None:
        failed(status, on_permit=False)
        return
    if framework.post_bind_plugins:
        yield Wait(scheduler.world.now)
        yield Point("PostBind", cycle, pod.key)
        run_post_bind(framework, state, pod, pod.node_name)
    scheduler.activate(state)


def nominate(scheduler: Scheduler, pod: Pod) -> None:
    """Write the node into the pod's status, where the binding will take time: others, the cluster autoscaler
    for one, see that the node is needed."""

    def nominated(manifest: Manifest) -> Manifest:
        if status_of(manifest).get("nominatedNodeName") == pod.node_name:
            return manifest
        return with_status(manifest, nominatedNodeName=pod.node_name)

    scheduler.world.update("pods", pod.key, pod.uid, nominated)


def wait_on_permit(
    scheduler: Scheduler, info: QueuedPod, pod: Pod, timeouts: dict[str, Micros]
) -> Steps[Status | None]:
    """WaitOnPermit: None when all plugins have allowed the pod."""
    now = scheduler.world.now
    if not timeouts:
        yield Wait(now)  # as "go" does: the binding cycle begins when the scheduling cycle has ended
        return None
    waiting_pods = scheduler.frameworks[pod.scheduler_name].waiting_pods
    until = {plugin: now + timeout for plugin, timeout in timeouts.items()}
    waiting = waiting_pods.add(pod, until, attempt=info.attempts)
    info.lane = "waiting"
    scheduler.lanes.moved(Move(info, "inFlight", "waiting", "Permit", next(iter(timeouts))))
    while True:
        plugin, time = waiting.next_timeout()
        ended: Due | Status | None = yield Wait(time, waiting.ended)
        if not isinstance(ended, Due):
            return ended
        if plugin in waiting.pending_plugins:
            # The process goes on in its next entry: other pods whose time is over as well have theirs first.
            timeout = durations.format_duration(timeouts[plugin])
            message = f"rejected due to timeout after waiting {timeout} at plugin {plugin}"
            waiting.reject(plugin, message)


def bind(scheduler: Scheduler, pod: Pod, state: CycleState, cycle: int) -> Steps[Status | None]:
    """Run the extender or the plugin that binds the pod, and write the binding for it."""
    plugin, status = _run_bind(scheduler, pod, state)
    if status is not None:
        return status
    note = f"Successfully assigned {pod.key} to {pod.node_name}"
    now = scheduler.world.now
    outcome = yield Write(
        Patch(
            "pods",
            pod.key,
            pod.uid,
            partial(scheduler.world.server.bind_by_component, node=pod.node_name),
            trace.Bound(t=now, cycle=cycle, pod=pod.key, node=pod.node_name),
            Note(SCHEDULED, note, pod),
        )
    )
    if isinstance(outcome, Refused):
        message = outcome.message
        return error(f'running Bind plugin "{plugin}": {message}' if plugin else message)
    return None


def _run_bind(scheduler: Scheduler, pod: Pod, state: CycleState) -> BindResult:
    """Run the extender that binds the pod, or else the Bind plugins (bind in schedule_one.go)."""
    framework = scheduler.frameworks[pod.scheduler_name]
    try:
        if extender_calls.bind(framework.extenders, pod, pod.node_name):
            return BindResult("", None)
    except ExtenderError as fault:
        return BindResult("", error(str(fault)))
    return run_bind(framework, state, pod, pod.node_name)


def handle_binding_cycle_error(
    scheduler: Scheduler,
    info: QueuedPod,
    pod: Pod,
    state: CycleState,
    status: Status,
    *,
    cycle: int,
    on_permit: bool,
) -> None:
    """Handle a failed binding cycle (handleBindingCycleError). Only a rejection on Permit makes the pod
    unschedulable; every other failure is an error of the scheduler."""
    world, framework = scheduler.world, scheduler.frameworks[pod.scheduler_name]
    run_unreserve(framework, state, pod, pod.node_name)
    rejected = on_permit and status.rejected
    info.unschedulable_plugins = {status.plugin} if rejected and status.code != "Pending" else set()
    info.pending_plugins = {status.plugin} if rejected and status.code == "Pending" else set()
    message = message_for_one_node(status) if rejected else status.message
    now, plugins = world.now, sorted(info.unschedulable_plugins)
    world.emit(
        trace.Unschedulable(t=now, cycle=cycle, pod=pod.key, message=message, plugins=plugins)
        if rejected
        else trace.BindFailed(t=now, cycle=cycle, pod=pod.key, node=pod.node_name, message=message)
    )
    binding_failed(scheduler.cache, scheduler.queue, info, pod, rejected=status.rejected)
    reason = UNSCHEDULABLE if status.rejected else SCHEDULER_ERROR
    patch_status(scheduler, pod, reason, message, nominated_node="")


def message_for_one_node(status: Status) -> str:
    """Return FitError's text for a pod that had a node already and was rejected for it."""
    reasons = ", ".join(sorted(f"1 {reason}" for reason in status.reasons))
    return f"0/1 nodes are available: {reasons}."
