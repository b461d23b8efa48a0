"""The cycles of pod groups, as the model runs them in the states in which the scheduler may have tried a
group: what its message says of each pod.

The pods of a group are tried one after the other in one cycle, and one that fails may have had a place: its
message is then that of the group. So a message is judged by the cycle of the whole group."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

from simulator.api import Micros
from simulator.cluster.pod_group_state import find_pod_group
from simulator.framework.runtime import Framework
from simulator.framework.status import Status
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup
from simulator.scheduler.pod_group_algorithm import GroupResult, MemberResult
from simulator.scheduler.pod_group_placements import generate_placements
from simulator.scheduler.submit_podgroup import refusal_of
from simulator.verdict_words import (
    FOR_GROUP,
    NO_PLACEMENT,
    NO_POD_GROUP,
    NOT_TRIED,
    OTHER_PLACEMENT,
    OTHER_PLACEMENT_FIRST,
)
from simulator.verdicts.bindings import BindingFinding, judge_binding
from simulator.verdicts.failures import FailureFinding, is_same_message
from simulator.verdicts.followed_cluster import FollowedCluster
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.verdicts.preemptions import PreemptionFinding, judge_evicting_attempt
from simulator.verdicts.states import Effort, TriedState
from simulator.versions.feature_gates import GENERIC_WORKLOAD, TOPOLOGY_AWARE_SCHEDULING
from simulator.what_if.gang import in_turn, preemption_work, try_group
from simulator.what_if.situation import Situation

K = TypeVar("K")
V = TypeVar("V")

CHOICES_AT_MOST: Final = 6
"""Maximum number of choices between equal nodes that are tried: a message does not show where the pods before
it were placed."""
JUDGED_PREEMPTION_AT_MOST: Final = 1_600
"""Maximum number of members times bound pods with which preemption is tried for unequal members: a second."""
GROUPS_AT_MOST: Final = 1_000
"""Maximum number of groups whose turns are known."""
CYCLES_AT_MOST: Final = 64
"""Maximum number of cycles that are kept: all pods of a cycle are judged by the same one."""


class GroupCycle(NamedTuple):
    """The result of a cycle, by the keys of the pods."""

    messages: dict[str, str]
    """"" = the pod is bound."""
    others: Sequence[dict[str, str]]
    """The messages if another placement is tried first: those of the first one are shown where none is
    possible."""
    nodes: dict[str, str]
    has_ties: bool
    """Whether it could end otherwise, as there were several equal nodes."""


class _Chosen(NamedTuple):
    """The best placements of a group in a state."""

    placements: Sequence[str]
    node: str = ""
    """That of the pod that is judged."""


class GroupCycles:
    """Runs the cycles of groups, and follows the turns of their pods."""

    def __init__(self, known: FollowedCluster, effort: Effort) -> None:
        self._known = known
        self._effort = effort
        self._turns: dict[str, dict[str, None]] = {}
        """The pods of each group in the order in which the scheduler's acts showed them first: that of their
        turns, which stays the same in later cycles."""
        self._cycles: dict[tuple[object, ...], GroupCycle] = {}
        self._chosen: dict[tuple[object, ...], _Chosen] = {}

    def acted(self, pod: Pod) -> None:
        """Note that the scheduler bound or rejected a pod."""
        if not pod.pod_group:
            return
        turns = self._turns.setdefault(pod.pod_group, {})
        if pod.key not in turns:
            turns[pod.key] = None
            self._known.turns += 1
        if len(self._turns) > GROUPS_AT_MOST:
            del self._turns[next(iter(self._turns))]

    def gone(self, pod: Pod) -> None:
        """Note that a pod was deleted."""
        turns = self._turns.get(pod.pod_group, {})
        turns.pop(pod.key, None)
        if not turns:
            self._turns.pop(pod.pod_group, None)

    def tries(self, pod: Pod) -> bool:
        """Whether the scheduler tries a pod together with its group."""
        framework = self._known.frameworks.get(pod.scheduler_name)
        return bool(pod.pod_group) and framework is not None and framework.features.enabled(GENERIC_WORKLOAD)

    def judge_failure(
        self, situation: Situation, said: str, state: TriedState, now: Micros
    ) -> FailureFinding:
        """Return the verdict on a message about the situation's pod, in a state of the cluster."""
        key, first = situation.pod.key, None
        group = find_pod_group(situation.cluster, situation.pod.pod_group)
        if group is None:
            return FailureFinding("unknown", NO_POD_GROUP)
        for members in self._orders(situation):
            for choice in range(CHOICES_AT_MOST):
                cycle = self._cycle(situation, members, choice, group=group, state=state, now=now)
                if cycle is None:
                    return first or FailureFinding("unknown", NOT_TRIED)
                message = cycle.messages.get(key, "")
                if message and is_same_message(said, message):
                    return FailureFinding("tie" if choice else "agrees")
                if any(is_same_message(said, each.get(key, "")) for each in cycle.others):
                    return FailureFinding("tie", OTHER_PLACEMENT_FIRST)
                first = first or FailureFinding("differs", message, cycle.nodes.get(key, ""))
                if not cycle.has_ties:
                    break
        return first or FailureFinding("unknown", NOT_TRIED)

    def judge_preemption(
        self, situation: Situation, node: str, victim: str, *, scheduler: JudgedScheduler, now: Micros
    ) -> PreemptionFinding:
        """Return the verdict on the eviction of ``victim`` from ``node``: for the situation's pod in the
        cycle of its group, or for the whole group (WorkloadAwarePreemption)."""
        first: PreemptionFinding | None = None
        group = find_pod_group(situation.cluster, situation.pod.pod_group)
        if group is None:
            return PreemptionFinding("unknown", reason=NO_POD_GROUP)
        for members in self._orders(situation):
            for choice in range(CHOICES_AT_MOST):
                result = self._try(situation, members, choice, group=group, now=now)
                if result is None:
                    return first or PreemptionFinding("unknown", reason=NOT_TRIED)
                found = _judge_victim(scheduler, situation.pod.key, result, node, victim)
                if found.fits:
                    return found._replace(verdict="tie") if choice and found.verdict == "agrees" else found
                first = first or found
                if not any(map(_has_ties, result.members)):
                    break
        return first or PreemptionFinding("unknown", reason=NOT_TRIED)

    def judge_placed_binding(
        self,
        situation: Situation,
        node: str,
        *,
        scheduler: JudgedScheduler,
        state: TriedState,
        now: Micros,
    ) -> BindingFinding | None:
        """Return the verdict on a binding of the situation's pod among the nodes among which its group is
        placed; None if its group may be on all nodes."""
        cluster, framework = situation.cluster, situation.framework
        group = find_pod_group(cluster, situation.pod.pod_group)
        if group is None:
            return BindingFinding("unknown", reason=NO_POD_GROUP)
        if framework is None or not _is_divided(framework, group):
            return None
        placements = generate_placements(cluster, framework, group)
        if isinstance(placements, Status):
            return BindingFinding("impossible", plugin=placements.plugin, reason=placements.message)
        row = cluster.rows.get(node)
        placement = next((each for each in placements if row is not None and row in each.rows), None)
        if placement is None:
            return BindingFinding("impossible", reason=NO_PLACEMENT)
        found = judge_binding(scheduler, situation, node, samples=False, placement=placement.rows)
        same = group.key, self._known.newest_before(state.version), state.undone
        if not self._assumes_others(state, group.key):
            one = [placements[0].name] if len(placements) == 1 else None
            best = _Chosen(one) if one else self._choose(situation, group, placement.name, now)
            if best is None:
                return BindingFinding("unknown", reason=NOT_TRIED)
            _keep(self._chosen, same, best)
        # Pods of the group that are assumed would keep it where they are.
        best = self._chosen.get(same, _Chosen(()))
        if found.fits and placement.name not in best.placements:
            return BindingFinding("differs", best.node, reason=OTHER_PLACEMENT)
        return found._replace(verdict="tie") if found.fits and len(best.placements) > 1 else found

    def _assumes_others(self, state: TriedState, group: str) -> bool:
        pods = (self._known.pods.get(key) for key, _ in state.assumed)
        return any(pod is not None and pod.pod_group == group for pod in pods)

    def _choose(self, situation: Situation, group: PodGroup, placement: str, now: Micros) -> "_Chosen | None":
        """Return the best placements of a group, by an order of its pods in which ``placement`` is one of
        them, if there is one; None if it would take too long."""
        first: _Chosen | None = None
        for members in self._orders(situation):
            result = self._try(situation, members, 0, group=group, now=now, preempts=False)
            if result is None:
                break
            names = [result.placement.name] if result.placement and result.verdict == "scheduled" else []
            nodes = {each.info.pod.key: each.node for each in result.members}
            found = _Chosen(result.equal_placements or names, nodes.get(situation.pod.key, ""))
            if placement in found.placements:
                return found
            first = first or found
        return first

    def _orders(self, situation: Situation) -> Iterator[list[Pod]]:
        """Yield the pods of the group's cycle in the orders in which they may have been tried, the most
        probable first."""
        framework, key = situation.framework, situation.pod.pod_group
        assert framework is not None, "its pods are tried"
        pods = [
            pod for pod in situation.cluster.pod_groups.get(key).unscheduled_pods() if not pod.terminating
        ]
        queued = [pod for pod in pods if framework.run_pre_enqueue(pod) is None]
        if any(pod.key == situation.pod.key for pod in queued):
            pods = queued  # else those that wait already are tried, though pods of the group are gone
        known = [*self._turns.get(key, ())]
        created = [pod.key for pod in in_turn(pods, ())]
        bound = [each for each in known if self._is_bound(each)]
        tried: list[list[str]] = []
        # The pod that completes a gang is active before those that it wakes.
        for turns in (known, created, created[-1:], [*bound, *known]):
            members = in_turn(pods, turns)
            keys = [pod.key for pod in members]
            if keys not in tried:
                tried.append(keys)
                yield members

    def _is_bound(self, key: str) -> bool:
        pod = self._known.pods.get(key)
        return pod is not None and bool(pod.node_name)

    def _cycle(
        self,
        situation: Situation,
        members: Sequence[Pod],
        choice: int,
        *,
        group: PodGroup,
        state: TriedState,
        now: Micros,
    ) -> GroupCycle | None:
        """Return the cycle of a group in a state; None if it would take too long."""
        known = self._known
        same = (
            *(group.key, known.late, known.newest_before(state.version), state.assumed, state.undone),
            *(tuple(pod.key for pod in members), choice),
        )
        found = self._cycles.get(same)
        if found is not None:
            return found
        result = self._try(situation, members, choice, group=group, now=now)
        if result is None:
            return None
        found = GroupCycle(
            _messages(result, members),
            [_messages(each, members) for each in result.others],
            {each.info.pod.key: each.node for each in result.members if each.placed},
            len(result.equal_placements) > 1 or any(map(_has_ties, result.members)),
        )
        _keep(self._cycles, same, found)
        return found

    def _try(
        self,
        situation: Situation,
        members: Sequence[Pod],
        choice: int,
        *,
        group: PodGroup,
        now: Micros,
        preempts: bool = True,
    ) -> GroupResult | None:
        """Run the cycle of a group; None if it would take too long."""
        cluster, framework = situation.cluster, situation.framework
        assert framework is not None, "its pods are tried"
        parts = len(cluster.label(group.topology_key).values) if _is_divided(framework, group) else 1
        if preempts and preemption_work(cluster, members) > JUDGED_PREEMPTION_AT_MOST:
            return None
        if not self._effort.spend(cluster.node_count, now, attempts=len(members), parts=max(1, parts)):
            return None
        situation.seed = choice
        return try_group(situation, group, members, preempts=preempts)[0]


def _keep(results: dict[K, V], key: K, result: V) -> None:
    """Keep a result, and forget the oldest if there are too many."""
    results[key] = result
    if len(results) > CYCLES_AT_MOST:
        del results[next(iter(results))]


def _is_divided(framework: Framework, group: PodGroup) -> bool:
    """Whether a group is tried in the parts of the cluster that its topology constraint names."""
    return bool(group.topology_key) and framework.features.enabled(TOPOLOGY_AWARE_SCHEDULING)


def _judge_victim(
    scheduler: JudgedScheduler, preemptor: str, result: GroupResult, node: str, victim: str
) -> PreemptionFinding:
    """Return the verdict on an eviction by the result of the cycle of the preemptor's group."""
    if victim in [pod.key for pod in result.victims]:
        return PreemptionFinding("agrees", reason=FOR_GROUP)
    if result.victims:
        return PreemptionFinding("differs", reason=FOR_GROUP)
    member = next((each for each in result.members if each.info.pod.key == preemptor), None)
    if member is None or member.attempt is None:
        return PreemptionFinding("impossible", reason=result.status.message if result.status else "")
    return judge_evicting_attempt(scheduler, member.attempt, node, victim)


def _messages(result: GroupResult, members: Sequence[Pod]) -> dict[str, str]:
    tried = {each.info.pod.key: each for each in result.members}
    return {pod.key: _message(result, tried.get(pod.key)) for pod in members}


def _message(result: GroupResult, member: MemberResult | None) -> str:
    """Return what is said of a pod after the cycle of its group; "" = it is bound."""
    of_group = result.status.message if result.status else ""
    if result.verdict == "error" or member is None:
        return (member.error if member else "") or of_group
    if result.verdict == "scheduled" and member.fits:
        return ""
    return refusal_of(result, member)[0]


def _has_ties(member: MemberResult) -> bool:
    made = member.attempt
    return member.requires_preemption or (made is not None and len(made.best) > 1)
