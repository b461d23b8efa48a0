"""The cycles of pod groups, as the model runs them in the states in which the scheduler may have tried a
group: what its message says of each pod.

The pods of a group are tried one after the other in one cycle, and one that fails may have had a place: its
message is then that of the group. So a message is judged by the cycle of the whole group."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from simulator.api import Micros
from simulator.cluster.pod_group_state import find_pod_group
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup
from simulator.scheduler.pod_group_algorithm import GroupResult, MemberResult
from simulator.scheduler.submit_podgroup import refusal_of
from simulator.verdict_words import NO_POD_GROUP, NOT_TRIED
from simulator.verdicts.failures import FailureFinding, is_same_message
from simulator.verdicts.followed_cluster import FollowedCluster
from simulator.verdicts.states import Effort, TriedState
from simulator.versions.feature_gates import GENERIC_WORKLOAD, TOPOLOGY_AWARE_SCHEDULING
from simulator.what_if.gang import in_turn, preemption_work, try_group
from simulator.what_if.situation import Situation

CHOICES_AT_MOST: Final = 6
"""Maximum number of choices between equal nodes that are tried: a message does not show where the pods before
it were placed."""
PREEMPTION_WORK_AT_MOST: Final = 1_600
"""Maximum number of members times bound pods with which preemption is tried for unequal members: a second."""
GROUPS_AT_MOST: Final = 1_000
"""Maximum number of groups whose turns are known."""
CYCLES_AT_MOST: Final = 64
"""Maximum number of cycles that are kept: all pods of a cycle are judged by the same one."""


class GroupCycle(NamedTuple):
    """The result of a cycle, by the keys of the pods."""

    messages: dict[str, str]
    """"" = the pod is bound."""
    nodes: dict[str, str]
    has_ties: bool
    """Whether it could end otherwise, as there were several equal nodes."""


class GroupCycles:
    """Runs the cycles of groups, and follows the turns of their pods."""

    def __init__(self, known: FollowedCluster, effort: Effort) -> None:
        self._known = known
        self._effort = effort
        self._turns: dict[str, dict[str, None]] = {}
        """The pods of each group in the order in which the scheduler's acts showed them first: that of their
        turns, which stays the same in later cycles."""
        self._cycles: dict[tuple[object, ...], GroupCycle] = {}

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
                first = first or FailureFinding("differs", message, cycle.nodes.get(key, ""))
                if not cycle.has_ties:
                    break
        return first or FailureFinding("unknown", NOT_TRIED)

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
        cluster, framework = situation.cluster, situation.framework
        assert framework is not None, "its pods are tried"
        parts = 1
        if group.topology_key and framework.features.enabled(TOPOLOGY_AWARE_SCHEDULING):
            parts = max(1, len(cluster.label(group.topology_key).values))
        if preemption_work(cluster, members) > PREEMPTION_WORK_AT_MOST or not self._effort.spend(
            cluster.node_count, now, attempts=len(members), parts=parts
        ):
            return None
        situation.seed = choice
        result, _ = try_group(situation, group, members, preempts=True)
        tried = {each.info.pod.key: each for each in result.members}
        found = GroupCycle(
            {pod.key: _message(result, tried.get(pod.key)) for pod in members},
            {each.info.pod.key: each.node for each in result.members if each.placed},
            parts > 1 or any(map(_has_ties, result.members)),
        )
        self._cycles[same] = found
        if len(self._cycles) > CYCLES_AT_MOST:
            del self._cycles[next(iter(self._cycles))]
        return found


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
