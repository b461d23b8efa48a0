"""What follows the cycle of a pod group: bindings, requeued pods, and the condition of the PodGroup
(submitPodGroupAlgorithmResult and updatePodGroupCondition in pkg/scheduler/schedule_one_podgroup.go, v1.36).
"""

from typing import Final

from simulator import trace
from simulator.api import Manifest
from simulator.kernel.containment import message_of
from simulator.kernel.requests import Steps
from simulator.objects.conditions import is_condition_true, with_meta_condition
from simulator.objects.pod_group import POD_GROUPS, SCHEDULED, PodGroup
from simulator.scheduler.failure_handler import SCHEDULER_ERROR, UNSCHEDULABLE
from simulator.scheduler.pod_group_algorithm import (
    UNSCHEDULABLE_GROUP,
    GroupCycle,
    GroupResult,
    MemberResult,
)
from simulator.scheduler.schedule_one import fail, prepare_for_binding_cycle
from simulator.scheduler.scheduler import Scheduler

_REASONS: Final = {
    "scheduled": "Scheduled",
    "unschedulable": UNSCHEDULABLE,
    "waiting": UNSCHEDULABLE,
    "error": SCHEDULER_ERROR,
}


def submit(
    scheduler: Scheduler, cycle: GroupCycle, result: GroupResult, *, sets_condition: bool = True
) -> Steps[None]:
    """Bind the members that have a place, or requeue all, in the order in which they were tried.
    ``sets_condition``: whether the PodGroup's condition says what became of it."""
    tried = {member.info.pod.uid: member for member in result.members}
    for info in cycle.infos:
        member = tried.get(info.pod.uid) or MemberResult(info)
        if result.verdict == "scheduled" and member.fits:
            yield from _bind(scheduler, cycle, member)
        else:
            _requeue(scheduler, cycle, result, member)
    if cycle.group is not None and sets_condition:
        _update_condition(scheduler, cycle.group, result)
    _report_end(scheduler, cycle, result)


def _bind(scheduler: Scheduler, cycle: GroupCycle, member: MemberResult) -> Steps[None]:
    info, attempt = member.info, member.attempt
    assert attempt is not None, "what fits was tried"
    attempt.state.of_pod_group = False
    try:
        yield from prepare_for_binding_cycle(scheduler, info, attempt, member.node)
    except Exception as fault:  # whatever it is, it fails only this pod
        number = cycle.numbers[info.pod.uid]
        fail(scheduler, info, number, message_of(fault), reason=SCHEDULER_ERROR, nominated_node="")


def _requeue(scheduler: Scheduler, cycle: GroupCycle, result: GroupResult, member: MemberResult) -> None:
    """Requeue a member: with its own message if it is infeasible, else with that of the group."""
    info = member.info
    number = cycle.begin_member(info)
    group_status = result.status
    group_message = group_status.message if group_status else ""
    if result.verdict == "error":
        fail(
            scheduler,
            info,
            number,
            member.error or group_message,
            reason=SCHEDULER_ERROR,
            nominated_node="",
        )
        return
    message, nominated, plugins = refusal_of(result, member)
    if plugins is not None:
        info.unschedulable_plugins = plugins
    fail(scheduler, info, number, message, reason=UNSCHEDULABLE, nominated_node=nominated)


def refusal_of(result: GroupResult, member: MemberResult) -> tuple[str, str | None, set[str] | None]:
    """Return the message for a member of a group that is not scheduled, its nominated node, and the plugins
    that rejected it. None: they stay as they are."""
    group_message = result.status.message if result.status else ""
    if member.attempt is None:
        return group_message, None, None
    if member.fits and result.waiting_on_preemption:
        return group_message, member.node, None
    if member.fit_error is not None and (result.waiting_on_preemption or not member.requires_preemption):
        error = member.fit_error
        return error.message, error.nominated_node, {*error.unschedulable_plugins}
    return f"{UNSCHEDULABLE_GROUP}, {member.wait_message}", "", None


def _update_condition(scheduler: Scheduler, group: PodGroup, result: GroupResult) -> None:
    """Patch the condition of the PodGroup if it changes. Once it is True, it stays so."""
    world = scheduler.world
    status = "True" if result.verdict == "scheduled" else "False"
    message = result.status.message if result.status else ""

    def patched(manifest: Manifest) -> Manifest:
        if is_condition_true(manifest, SCHEDULED) and status != "True":
            return manifest
        return with_meta_condition(
            manifest,
            world.now,
            SCHEDULED,
            status,
            reason=_REASONS[result.verdict],
            message=message,
            generation=group.generation,
        )

    world.update(POD_GROUPS, group.key, group.uid, patched)


def _report_end(scheduler: Scheduler, cycle: GroupCycle, result: GroupResult) -> None:
    world, scheduled = scheduler.world, result.verdict == "scheduled"
    bound = [member for member in result.members if scheduled and member.fits]
    back = [member for member in result.members if member.placed and not (scheduled and member.fits)]
    world.emit(
        trace.PodGroupCycleEnded(
            t=world.now,
            cycle=cycle.number,
            group=cycle.key,
            verdict=result.verdict,
            message=result.status.message if result.status else "",
            placement=result.placement.name if result.placement else "",
            bound={each.info.pod.key: each.node for each in bound[: trace.PODS_AT_MOST]},
            bound_count=len(bound),
            taken_back=[each.info.pod.key for each in back[: trace.PODS_AT_MOST]],
            taken_back_count=len(back),
            passes=cycle.passes,
        )
    )
