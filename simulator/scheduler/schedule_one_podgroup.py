"""The scheduling cycle of a pod group, and what follows (pkg/scheduler/schedule_one_podgroup.go, v1.36).

The cycle begins with one pod that was popped. All other pods of its group are taken out of the queue with it,
tried in one snapshot of the cluster, and then bound or requeued together. ``pod_group_algorithm.py`` tries
the pods, each assumed before the next, and takes all back; ``pod_group_placements.py`` does so for each
placement. Where the group does not fit, ``preemption/pod_group_preemption.py`` looks for victims.
``submit_podgroup.py`` binds or requeues the pods and writes the PodGroup's condition.
"""

from collections.abc import Sequence
from typing import TypeVar

from simulator import trace
from simulator.cluster.pod_group_state import find_pod_group
from simulator.framework.status import GroupVictims, Status, error, unschedulable
from simulator.kernel.containment import message_of
from simulator.kernel.requests import Steps
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup
from simulator.queueing.queued_pod import QueuedPod
from simulator.scheduler.evict import prepare_group_candidate
from simulator.scheduler.group_room import GroupRoom, room_of
from simulator.scheduler.pod_group_algorithm import GroupCycle, GroupResult, try_members
from simulator.scheduler.pod_group_placements import try_placements
from simulator.scheduler.scheduler import Scheduler
from simulator.scheduler.submit_podgroup import submit
from simulator.versions.feature_gates import TOPOLOGY_AWARE_SCHEDULING, WORKLOAD_AWARE_PREEMPTION

R = TypeVar("R")


def pod_group_infos(scheduler: Scheduler, popped: QueuedPod) -> list[QueuedPod]:
    """Return the pods of the group in the order in which they are tried, and take them out of the queue
    (podGroupInfoForPod)."""
    infos = [popped]
    for pod in scheduler.cache.cluster.pod_groups.get(popped.pod.pod_group).unscheduled_pods():
        if pod.uid != popped.pod.uid:
            info = scheduler.queue.pop_specific_pod(pod)
            if info is not None:
                infos.append(info)
    return sorted(infos, key=lambda info: (-info.pod.priority, info.first_active))


def report_start(scheduler: Scheduler, popped: QueuedPod, infos: Sequence[QueuedPod], number: int) -> None:
    group = find_pod_group(scheduler.cache.cluster, popped.pod.pod_group)
    scheduler.world.emit(
        trace.PodGroupCycleStarted(
            t=scheduler.world.now,
            cycle=number,
            group=popped.pod.pod_group,
            popped=popped.pod.key,
            pods=[info.pod.key for info in infos[: trace.PODS_AT_MOST]],
            size=len(infos),
            min_count=group.min_count if group else None,
        )
    )


def schedule_one_podgroup(scheduler: Scheduler, infos: Sequence[QueuedPod], number: int) -> Steps[None]:
    """Run the cycle of a group (scheduleOnePodGroup). ``number``: that of the cycle; the attempts of its pods
    have those that follow."""
    group = find_pod_group(scheduler.cache.cluster, infos[0].pod.pod_group)
    framework = scheduler.frameworks[infos[0].pod.scheduler_name]
    cycle = GroupCycle(scheduler, framework, group, infos, number)
    fault = _different_schedulers(infos)
    try:
        result = GroupResult(status=error(fault)) if fault else (yield from _pod_group_cycle(cycle))
    except Exception as raised:  # whatever it is, it fails only this cycle
        result = GroupResult(status=error(message_of(raised)))
    yield from submit(scheduler, cycle, result, sets_condition=not fault)
    for evict in cycle.evictions:
        evict()


def try_pod_group(cycle: GroupCycle, *, preempts: bool = True) -> GroupResult:
    """Return what would become of a group, in a cycle that does nothing (:class:`GroupScheduler`).
    ``preempts``: whether preemption is tried, too."""
    fault = _different_schedulers(cycle.infos)
    if fault:
        return GroupResult(status=error(fault))
    return _without_points(_pod_group_cycle(cycle) if preempts else _schedule(cycle, dry_run=True))


def _different_schedulers(infos: Sequence[QueuedPod]) -> str:
    """Return the error for pods that name different schedulers; "" if there is none
    (frameworkForPodGroup)."""
    names = [info.pod.scheduler_name for info in infos]
    other = next((name for name in names if name != names[0]), None)
    if other is None:
        return ""
    text = "all pods in a single pod group should have the same .spec.schedulerName set"
    return f'{text}, got: "{other}" and "{names[0]}"'


def _pod_group_cycle(cycle: GroupCycle) -> Steps[GroupResult]:
    """Try the group; if it cannot be scheduled, find out whether the eviction of other pods helps
    (podGroupCycle)."""
    features = cycle.framework.features
    result = yield from _schedule(cycle)
    unschedulable_now = result.status is not None and result.status.code == "Unschedulable"
    if not features.enabled(WORKLOAD_AWARE_PREEMPTION) or not unschedulable_now:
        return result
    assert result.status is not None
    status = _preempt(cycle, result)
    if status is None:
        result.waiting_on_preemption = True
    elif status.rejected:
        result.status = result.status._replace(reasons=(*result.status.reasons, *status.reasons))
    else:
        result.status = status
    return result


def _schedule(cycle: GroupCycle, *, dry_run: bool = False) -> Steps[GroupResult]:
    """podGroupSchedulingAlgorithm."""
    if cycle.framework.features.enabled(TOPOLOGY_AWARE_SCHEDULING):
        return (yield from try_placements(cycle, dry_run=dry_run))
    return (yield from try_members(cycle, dry_run=dry_run))


def _preempt(cycle: GroupCycle, result: GroupResult) -> Status | None:
    """Run the preemption for the group, and begin the evictions. Return None if there is something to evict,
    else why not (runWorkloadAwarePreemption)."""
    acting, group, framework = cycle.acting, cycle.group, cycle.framework
    if not framework.pod_group_post_filter_plugins:
        return unschedulable(
            "default preemption plugin is not registered, workload aware preemption is disabled"
        )
    if group is None:
        name = cycle.key.partition("/")[2]
        return error(f'failed to get pod group object: podgroup.scheduling.k8s.io "{name}" not found')
    if group.topology_key:
        return unschedulable(
            "workload aware preemption is not supported for pod groups with scheduling constraints"
        )
    pods = [info.pod for info in cycle.infos]
    found = framework.pod_group_post_filter_plugins[0].pod_group_post_filter(
        cycle.scheduler.cache.cluster, group, pods, _DryRuns(cycle)
    )
    if acting is not None:
        _report_preemption(cycle, acting, group, found)
    if isinstance(found, Status):
        return found
    result.victims = found.pods
    if acting is not None:
        cycle.evictions.append(prepare_group_candidate(acting, group, pods, found.pods, cycle.number))
    return None


class _DryRuns:
    """The dry runs of a group for its preemption: a GroupSchedule."""

    def __init__(self, cycle: GroupCycle) -> None:
        self._cycle = cycle
        self._room: GroupRoom | None = None
        self._begun = False

    def __call__(self) -> Status | None:
        return _without_points(_schedule(self._cycle, dry_run=True)).status

    def still_succeeds(self, returned: Sequence[Pod]) -> bool:
        if not self._begun:
            self._begun, self._room = True, room_of(self._cycle)
        if any(pod.affinity.required_anti for pod in returned):
            self._room = None  # more than the nodes themselves decides from now on
        if self._room is None:
            return self() is None
        fits = self._room.still_fits(returned)
        if fits or self._room.is_exact:
            self._cycle.passes += 1
            return fits
        fits = self() is None
        if fits:
            self._room.forget(returned)
        return fits


def _report_preemption(
    cycle: GroupCycle, scheduler: Scheduler, group: PodGroup, found: GroupVictims | Status
) -> None:
    world = scheduler.world
    units = () if isinstance(found, Status) else found.units
    victims = [] if isinstance(found, Status) else found.pods
    world.emit(
        trace.PodGroupPreempted(
            t=world.now,
            cycle=cycle.number,
            group=cycle.key,
            priority=group.priority,
            units=[
                trace.UnitTried(
                    [pod.key for pod in unit.pods[: trace.PODS_AT_MOST]],
                    len(unit.pods),
                    unit.group,
                    unit.priority,
                    unit.violates,
                    unit.reprieved,
                )
                for unit in units[: trace.UNITS_AT_MOST]
            ],
            victims=[pod.key for pod in victims[: trace.PODS_AT_MOST]],
            victim_count=len(victims),
            message=found.message if isinstance(found, Status) else "",
        )
    )


def _without_points(steps: Steps[R]) -> R:
    """Run to the end what stops at points only."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        found: R = end.value
        return found
