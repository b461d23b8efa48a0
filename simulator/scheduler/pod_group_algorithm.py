"""Tries to schedule all pods of a group (podGroupSchedulingAlgorithm in
pkg/scheduler/schedule_one_podgroup.go, v1.36). Nothing is bound here, and all that is assumed is taken back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from simulator import trace
from simulator.api import Micros
from simulator.framework.binding import run_permit, run_reserve, run_unreserve
from simulator.framework.placement import Placement
from simulator.framework.runtime import Framework
from simulator.framework.status import Status, error, unschedulable
from simulator.kernel.containment import message_of
from simulator.kernel.requests import Steps
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup
from simulator.queueing.nominator import Nominator
from simulator.queueing.queued_pod import QueuedPod
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.binding_cycle import message_for_one_node
from simulator.scheduler.cache import Cache
from simulator.scheduler.decision_log import SearchRecord
from simulator.scheduler.schedule_one import preempt, run_search
from simulator.scheduler.schedule_result import FitError
from simulator.scheduler.scheduler import Scheduler

UNSCHEDULABLE_GROUP: Final = "pod group is unschedulable"
"""The text of errPodGroupUnschedulable."""
WAITING: Final = "pod group is waiting for preemption to complete"


@dataclass
class MemberResult:
    """The result of one member in one pass (algorithmResult)."""

    info: QueuedPod
    attempt: Attempt | None = None
    """None if the member was not tried."""
    node: str = ""
    """The node that was found, also if it has to preempt others there, or is refused there by Reserve or
    Permit."""
    fit_error: FitError | None = None
    error: str = ""
    requires_preemption: bool = False
    wait_message: str = ""
    """The status Wait of Permit; "" = it is permitted, or has no node."""
    search: SearchRecord | None = None
    """Its record, which is kept only if this pass is the one that counts."""
    assumed: Pod | None = None
    """The pod with its node, while it is assumed."""

    @property
    def fits(self) -> bool:
        """Whether it has a node without preemption."""
        return self.fit_error is None and not self.error

    @property
    def placed(self) -> bool:
        """Whether the members after it see it on its node."""
        return self.outcome in ("fits", "preempts")

    @property
    def outcome(self) -> trace.MemberOutcome:
        if self.error:
            return "error"
        if self.requires_preemption:
            return "preempts"
        return "fits" if self.fit_error is None else "infeasible"

    @property
    def message(self) -> str:
        """Why it has no place; "" = it has one."""
        if self.placed:
            return ""
        return self.error or (self.fit_error.message if self.fit_error else "")


@dataclass
class GroupResult:
    """The result of a group (podGroupAlgorithmResult). ``status`` None = it can be scheduled."""

    members: list[MemberResult] = field(default_factory=list)
    status: Status | None = None
    waiting_on_preemption: bool = False
    placement: Placement | None = None
    equal_placements: Sequence[str] = ()
    """The names of the placements with the highest score, where several were possible."""
    others: list["GroupResult"] = field(default_factory=list)
    """The results in the other placements, where it can be scheduled in none. Any of them may be upstream's
    first one, as its placements are in the order of a map."""
    victims: list[Pod] = field(default_factory=list)
    """Those of the preemption for the group."""

    @property
    def verdict(self) -> trace.GroupVerdict:
        if self.status is None:
            return "scheduled"
        if not self.status.rejected:
            return "error"
        return "waiting" if self.waiting_on_preemption else "unschedulable"


class _Queue(Protocol):
    @property
    def nominator(self) -> Nominator: ...

    def nominated_pods(self) -> dict[str, list[Pod]]: ...


class _Clock(Protocol):
    @property
    def now(self) -> Micros: ...


class GroupScheduler(Protocol):
    """What a group is tried with: a scheduler, or a copy of its cluster in which nothing is written."""

    seed: int
    next_start_node_index: int

    @property
    def cache(self) -> Cache: ...

    @property
    def queue(self) -> _Queue: ...

    @property
    def world(self) -> _Clock: ...


class GroupCycle:
    """One cycle of a group. ``numbers`` are those of the members' attempts, by uid. Only a cycle of a
    Scheduler is in the trace and has records."""

    def __init__(
        self,
        scheduler: GroupScheduler,
        framework: Framework,
        group: PodGroup | None,
        infos: Sequence[QueuedPod],
        number: int,
    ) -> None:
        """``number``: that of the cycle; those that follow it are the members'."""
        self.scheduler = scheduler
        self.acting = scheduler if isinstance(scheduler, Scheduler) else None
        self.framework = framework
        self.group = group
        self.key = infos[0].pod.pod_group
        self.infos = infos
        self.number = number
        self.numbers = {info.pod.uid: number + i for i, info in enumerate(infos, start=1)}
        self.passes = 0
        self.most_placed = 0
        """The largest number of members that had a place in one pass."""
        self.evictions: list[Callable[[], None]] = []
        """What starts the evictions for members that preempt, whatever becomes of the group."""
        self._begun: set[str] = set()

    def begin_member(self, info: QueuedPod) -> int:
        """Return the number of a member's attempt; in the first pass it begins then."""
        number = self.numbers[info.pod.uid]
        if info.pod.uid not in self._begun and self.acting is not None:
            self._begun.add(info.pod.uid)
            world, pod = self.acting.world, info.pod
            world.emit(
                trace.CycleStarted(
                    t=world.now, cycle=number, pod=pod.key, attempt=info.attempts, priority=pod.priority
                )
            )
        return number


def try_members(
    cycle: GroupCycle, placement: Placement | None = None, *, dry_run: bool = False, keep: bool = True
) -> Steps[GroupResult]:
    """Try each member in turn, so that it sees those before it where they were placed
    (podGroupSchedulingDefaultAlgorithm). ``placement``: the nodes that are looked at; None = all.
    ``dry_run``: without PostFilter, records and points. ``keep``: whether the records are kept at once.

    The group can be scheduled as soon as Permit lets one of them pass, but has to wait if one of those before
    it, or that one, has to preempt."""
    cycle.passes += 1
    result = GroupResult(status=unschedulable(UNSCHEDULABLE_GROUP), placement=placement)
    requires_preemption = False
    try:
        for info in cycle.infos:
            member = yield from _try_member(cycle, info, placement, dry_run=dry_run, keep=keep)
            result.members.append(member)
            if member.error:
                result.status = error(f"failed to schedule other pod from a pod group: {member.error}")
                result.waiting_on_preemption = False
                break
            if not member.placed:
                continue
            requires_preemption = requires_preemption or member.requires_preemption
            if not member.wait_message:
                waits = (UNSCHEDULABLE_GROUP, WAITING)
                result.status = unschedulable(*waits) if requires_preemption else None
                result.waiting_on_preemption = requires_preemption
    finally:
        for member in reversed(result.members):
            _take_back(cycle, member)
    cycle.most_placed = max(cycle.most_placed, sum(member.placed for member in result.members))
    if not dry_run and cycle.acting is not None:
        _report(cycle, cycle.acting, result)
    return result


def _try_member(
    cycle: GroupCycle, info: QueuedPod, placement: Placement | None, *, dry_run: bool, keep: bool
) -> Steps[MemberResult]:
    """Search a node for one member, and assume it there (podGroupPodSchedulingAlgorithm)."""
    scheduler, acting = cycle.scheduler, None if dry_run else cycle.acting
    number = cycle.begin_member(info) if acting else cycle.numbers[info.pod.uid]
    attempt = Attempt(
        cycle.framework,
        scheduler.cache.cluster,
        info.pod,
        scheduler.queue.nominated_pods(),
        seed=scheduler.seed,
        cycle=number,
        start_node_index=scheduler.next_start_node_index,
        now=scheduler.world.now,
        placement=None if placement is None or placement.whole else placement.rows,
        post_filters=not dry_run,
    )
    attempt.state.of_pod_group = True
    member = MemberResult(info, attempt)
    try:
        if acting is None:
            attempt.complete()
            scheduler.next_start_node_index = attempt.next_start_node_index
        else:
            times = yield from run_search(acting, info, attempt)
    except Exception as fault:  # whatever it is, it fails only this attempt
        member.error = message_of(fault)
        return member
    found = attempt.result()
    if acting is not None:
        times.ended("error" if found.error else "unschedulable" if found.fit_error else "scheduled")
        member.search = acting.decisions.record(attempt, info.attempts)
        if keep:
            acting.decisions.keep(member.search)
    member.node, member.fit_error, member.error = found.suggested_host, found.fit_error, found.error
    if found.fit_error is not None and found.fit_error.nominated_node:
        member.node, member.requires_preemption = found.fit_error.nominated_node, True
        if found.fit_error.candidate is not None and acting is not None:
            evict = preempt(acting, info.pod, found.fit_error.candidate, number)
            cycle.evictions.append(evict)
    if member.node:
        _assume(cycle, member, attempt)
    return member


def _assume(cycle: GroupCycle, member: MemberResult, attempt: Attempt) -> None:
    """Assume a member on its node, and run Reserve and Permit, until the pass is over (assumeAndReserve)."""
    scheduler, pod, node, state = cycle.scheduler, member.info.pod, member.node, attempt.state
    member.assumed = assumed = scheduler.cache.assume(pod, node)
    scheduler.queue.nominator.delete(pod)
    status = run_reserve(cycle.framework, state, assumed, node)
    if status is None:
        permitted = run_permit(cycle.framework, state, assumed, node)
        status, member.wait_message = permitted.status, permitted.wait_message
    if status is None:
        return
    _take_back(cycle, member)
    member.requires_preemption, member.wait_message = False, ""
    if status.rejected:
        member.fit_error = FitError(message_for_one_node(status), frozenset([status.plugin]), "")
    else:
        member.error = status.message


def _take_back(cycle: GroupCycle, member: MemberResult) -> None:
    """Forget a member that was assumed (unreserveAndForget)."""
    if member.assumed is None or member.attempt is None:
        return
    run_unreserve(cycle.framework, member.attempt.state, member.assumed, member.node)
    cycle.scheduler.cache.forget(member.assumed)
    member.assumed = None
    if member.info.pod.nominated_node_name:
        cycle.scheduler.queue.nominator.add(member.info.pod)


def _report(cycle: GroupCycle, scheduler: Scheduler, result: GroupResult) -> None:
    if cycle.passes > trace.PLACEMENTS_AT_MOST:
        return
    world, placement = scheduler.world, result.placement
    world.emit(
        trace.PodGroupTried(
            t=world.now,
            cycle=cycle.number,
            group=cycle.key,
            placement=placement.name if placement else "",
            nodes=len(placement.rows) if placement else scheduler.cache.cluster.node_count,
            members=[
                trace.MemberTried(
                    member.info.pod.key,
                    cycle.numbers[member.info.pod.uid],
                    member.outcome,
                    member.node,
                    member.message,
                )
                for member in result.members[: trace.PODS_AT_MOST]
            ],
            verdict=result.verdict,
            message=result.status.message if result.status else "",
        )
    )
