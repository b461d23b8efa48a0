"""A gang of which pods are pending, and what would become of it.

It is tried by the scheduler's own group cycle, on a copy of the cluster in which nothing is written
(:class:`simulator.scheduler.pod_group_algorithm.GroupScheduler`)."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Final

from simulator.api import Change, Micros
from simulator.apiserver.resources import PODS
from simulator.cluster.cluster import Cluster
from simulator.cluster.pod_group_state import find_pod_group
from simulator.framework.status import Status
from simulator.kernel.containment import message_of
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup
from simulator.queueing.nominator import Nominator
from simulator.queueing.queued_pod import QueuedPod
from simulator.scheduler.cache import Cache
from simulator.scheduler.pod_group_algorithm import GroupCycle, GroupResult, MemberResult
from simulator.scheduler.schedule_one_podgroup import try_pod_group
from simulator.trace import Event, PodGroupCycleStarted
from simulator.versions.feature_gates import GENERIC_WORKLOAD
from simulator.what_if.answer import AttemptOutcome, GangOutcome
from simulator.what_if.situation import NAMED_AT_MOST, Situation

PREEMPTION_WORK_AT_MOST: Final = 16_000
"""Maximum number of members times bound pods with which preemption is tried for unequal members: some ten
seconds."""


def find_gang(situation: Situation) -> PodGroup | None:
    """Return the gang of the pod, if the scheduler tries its pods together; otherwise None."""
    pod, framework = situation.pod, situation.framework
    if not pod.pod_group or framework is None or not framework.features.enabled(GENERIC_WORKLOAD):
        return None
    group = find_pod_group(situation.cluster, pod.pod_group)
    return group if group is not None and group.min_count is not None else None


def turns_of(group: str, newest: Iterable[Event]) -> Sequence[str]:
    """Return the pods of a group in the order of their turns in its last cycle; () if there was none.
    ``newest``: the trace, the newest event first."""
    for event in newest:
        if isinstance(event, PodGroupCycleStarted) and event.group == group:
            return event.pods
    return ()


def in_turn(pods: Iterable[Pod], turns: Sequence[str]) -> list[Pod]:
    """Return the pods of a group in the order in which they are tried. ``turns``: their keys, as far as this
    is known of pods of equal priority; the others follow in the order of their creation, as a controller
    numbers them."""
    known = {pod: number for number, pod in enumerate(turns)}
    return sorted(
        pods,
        key=lambda pod: (
            -pod.priority,
            known.get(pod.key, len(known)),
            pod.manifest["metadata"].get("creationTimestamp", ""),
            len(pod.name),
            pod.name,
        ),
    )


def try_group(
    situation: Situation, group: PodGroup, members: Sequence[Pod], *, preempts: bool
) -> tuple[GroupResult, int]:
    """Return the result of the cycle of a group with these pods, and how many of them had a place in the best
    pass."""
    framework = situation.framework
    assert framework is not None, "a group has a profile"
    if not members:
        return GroupResult(), 0
    infos = [QueuedPod(pod, 0, number, first_active=number) for number, pod in enumerate(members, start=1)]
    cycle = GroupCycle(_Trial(situation, members), framework, group, infos, situation.cycle)
    try:
        return try_pod_group(cycle, preempts=preempts), cycle.most_placed
    except Exception as fault:  # as in the scheduler
        return GroupResult(status=Status("Error", (message_of(fault),))), 0


def preemption_work(cluster: Cluster, members: Sequence[Pod]) -> int:
    """Return the number of members times bound pods with which preemption for a group is tried, in one step
    that cannot be stopped: that of unequal pods tries all of them once for each unit. 0 for equal ones."""
    unequal = any(pod.spec != members[0].spec for pod in members)
    return len(members) * len(cluster.pods) if unequal else 0


class GangSituation(Situation):
    """A cluster and a gang. ``pod`` is the first member that does not fit; if all do, the one that was asked
    about. ``asked``: the situation of that one, whose cluster is used. ``turns``: the pods in the order of
    their turns, as far as it is known; the others follow in the order of their creation, as a controller
    numbers them."""

    def __init__(self, asked: Situation, group: PodGroup, turns: Sequence[str] = ()) -> None:
        cluster = asked.cluster
        super().__init__(
            cluster, asked.pod, asked.frameworks, asked.nominated, seed=asked.seed, cycle=asked.cycle
        )
        self.key = group.key
        self.members = in_turn(cluster.pod_groups.get(group.key).unscheduled_pods(), turns)
        unplaced = (member.info.pod for member in self.as_it_is.members if not member.placed)
        self.pod = next(unplaced, asked.pod)

    @property
    def group(self) -> PodGroup:
        found = find_pod_group(self.cluster, self.key)
        assert found is not None, "no change deletes it"
        return found

    @cached_property
    def as_it_is(self) -> GroupResult:
        """The result without preemption, before any change."""
        return self._tried(preempts=False)[0]

    @property
    def bound_count(self) -> int:
        return len(self.cluster.pod_groups.get(self.key).scheduled)

    def most_placed(self) -> int:
        """Return how many pods of the gang can have a place at the same time, the bound ones included."""
        return self.bound_count + self._tried(preempts=False)[1]

    def can_be_bound(self) -> bool:
        return self._tried(preempts=False)[0].verdict == "scheduled"

    @contextmanager
    def as_for_the_pod(self) -> Iterator[None]:
        """Bind the members that fit, as the first one that does not sees them."""
        placed = (member for member in self.as_it_is.members if member.placed)
        with self.with_changes(
            Change(PODS.id, member.info.pod.key, member.info.pod.assumed(member.node).manifest)
            for member in placed
        ):
            yield

    def outcome(self) -> AttemptOutcome:
        """Return the result of the gang's cycle."""
        gate = self._gate()
        if gate is not None:
            return AttemptOutcome("gated", message=gate.message)
        result, _ = self._tried(
            preempts=preemption_work(self.cluster, self.members) <= PREEMPTION_WORK_AT_MOST
        )
        placed = {each.info.pod.key: each.node for each in result.members if each.placed}
        refused = next((each for each in result.members if not each.placed), None)
        bound, group = self.bound_count, self.group
        gang = GangOutcome(
            group.key,
            fits=bound + len(placed),
            size=bound + len(self.members),
            needs=group.min_count or 0,
            placement=result.placement.name if result.placement else "",
            nodes=dict([*placed.items()][:NAMED_AT_MOST]),
            unplaced=refused.info.pod.key if refused else "",
        )
        message = result.status.message if result.status else ""
        match result.verdict:
            case "scheduled":
                return AttemptOutcome("bound", placed.get(self.pod.key, ""), gang=gang)
            case "waiting":
                victims = [pod.key for pod in (*_own_victims(result.members), *result.victims)]
                return AttemptOutcome("nominated", victims=victims, message=message, gang=gang)
            case "error":
                return AttemptOutcome("error", message=message, gang=gang)
        if refused is not None:
            message = f"{refused.info.pod.key}: {refused.message}"
        return AttemptOutcome("unschedulable", message=message, gang=gang)

    def _gate(self) -> Status | None:
        """Return why no member is queued; None if one is."""
        framework = self.framework
        assert framework is not None, "a gang has a profile"
        found = [framework.run_pre_enqueue(pod) for pod in self.members]
        return None if None in found else next(iter(found), None)

    def _tried(self, *, preempts: bool = True) -> tuple[GroupResult, int]:
        """Return the result of the gang's cycle, and how many members had a place in the best pass."""
        framework = self.framework
        assert framework is not None, "a gang has a profile"
        queued = [pod for pod in self.members if framework.run_pre_enqueue(pod) is None]
        return try_group(self, self.group, queued, preempts=preempts)


def _own_victims(members: list[MemberResult]) -> Iterator[Pod]:
    """Yield the pods that members evict by themselves."""
    for member in members:
        if member.requires_preemption and member.fit_error and member.fit_error.candidate:
            yield from member.fit_error.candidate.victims


class _Trial:
    """What a gang is tried with."""

    def __init__(self, situation: Situation, members: Sequence[Pod]) -> None:
        self.seed = situation.seed
        self.next_start_node_index = 0
        self.cache = Cache()
        self.cache.cluster = situation.cluster
        self.queue = _Nominations(situation, members)
        self.world = _Clock()


class _Clock:
    now: Micros = 0


class _Nominations:
    def __init__(self, situation: Situation, members: Sequence[Pod]) -> None:
        nominated = {pod.key: pod for pods in situation.nominated.values() for pod in pods}
        self.nominator = Nominator((nominated | {pod.key: pod for pod in members}).get)
        for node, pods in situation.nominated.items():
            for pod in pods:
                self.nominator.add(pod, node)
        for pod in members:
            self.nominator.add(pod)

    def nominated_pods(self) -> dict[str, list[Pod]]:
        return {node: self.nominator.pods_for_node(node) for node in self.nominator.nodes()}
