"""The states of the cluster in which the scheduler may have decided.

A scheduling cycle reads a snapshot, which contains the pods that are assumed to be on their nodes, and its
result is written later: bindings are written in another order than they were decided in, after the writes of
PreBind, and after changes that the scheduler's informers had not shown yet.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.resources import PODS
from simulator.cluster.cluster import Cluster
from simulator.objects.metadata import object_key
from simulator.objects.pod import Pod
from simulator.objects.pod_group import group_key_of
from simulator.objects.volumes import PVCS, PVS
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS
from simulator.plugins.volume_binding.claims import waits_for_first_consumer
from simulator.trace.verdicts import JudgedState
from simulator.verdict_words import CUT_OFF, STATES_LEFT
from simulator.verdicts.bindings import run_attempt
from simulator.verdicts.followed_cluster import (
    HISTORY,
    FollowedCluster,
    PastChange,
    activation_order,
    selected_node,
    uses_claim,
)
from simulator.what_if.situation import Situation

STATES_AT_MOST: Final = 48
"""Maximum number of states that are tried for one decision: a tenth of a second with a thousand nodes."""
AT_ONCE_AT_MOST: Final = 24
"""How many of them are tried at once,"""
WAITING_AT_MOST: Final = 40
"""and how many before the verdict has to be given: the others are for what is known at the end."""
LATER_AT_MOST: Final = 8
"""Maximum number of pods that were bound later and are tried one by one."""
WORK_OF_ATTEMPT: Final = 300
WORK_A_SECOND: Final = 60_000
"""Some 50 attempts with a thousand nodes, a tenth of a core."""
WORK_AT_MOST: Final = 10 * WORK_A_SECOND
UNDONE_AT_MOST: Final = 8
"""Maximum number of bindings that are taken back in turn."""
FOLLOWERS_AT_MOST: Final = 3
"""Maximum number of pods that may be assumed, of which each combination is tried."""
NAMED_AT_MOST: Final = 8
"""Maximum number of pods that a verdict names."""


class TriedState(NamedTuple):
    version: int
    time: Micros
    """When the first change came that is not in it."""
    assumed: tuple[tuple[str, str], ...] = ()
    """The keys of pods, with their nodes."""
    undone: frozenset[str] = frozenset()

    def described(self, now: Micros) -> JudgedState:
        """``now``: when the decision was written."""
        return JudgedState(
            self.version,
            max(0, now - self.time),
            [key for key, _ in self.assumed[:NAMED_AT_MOST]],
            sorted(self.undone)[:NAMED_AT_MOST],
        )


class Effort:
    """What may be spent on further states of all decisions together, so that the judge keeps pace with a
    scheduler that decides otherwise each time. Each attempt counts its nodes and WORK_OF_ATTEMPT."""

    def __init__(self) -> None:
        self._left = WORK_AT_MOST
        self._since: Micros = 0

    def spend(self, nodes: int, now: Micros, *, attempts: int = 1, parts: int = 1) -> bool:
        """Whether there is enough left for another attempt, or for that of so many pods, one after the other;
        ``parts``: into how many parts the nodes are divided for them."""
        work = attempts * (nodes + parts * WORK_OF_ATTEMPT)
        self._left = min(WORK_AT_MOST, self._left + (now - self._since) * WORK_A_SECOND // SECOND)
        self._since = now
        if self._left < work:
            return False
        self._left -= work
        return True


class Finding(Protocol):
    """What an attempt in one state shows."""

    @property
    def fits(self) -> bool:
        """Whether the search ends: the model could decide so, or it is not asked."""


F = TypeVar("F", bound=Finding)


class Search:
    """Looks for a state in which the model decides as the scheduler did."""

    def __init__(
        self,
        known: FollowedCluster,
        pod: Pod,
        version: int,
        now: Micros,
        *,
        reserved: Mapping[str, str],
        deleted: Mapping[str, str],
        effort: Effort,
        own: Sequence[PastChange],
        is_listed: bool = False,
    ) -> None:
        """``version``, ``now``: of the write that shows the decision; ``reserved``: pods whose nodes other
        writes of their binding cycles show; ``deleted``: those of them that were deleted shortly before, and
        are perhaps still assumed; ``own``: changes that were perhaps written after the decision
        and before it was shown, the most probable first; ``is_listed``: when it was written is not known."""
        self._known = known
        self._pod = pod
        self._reserved = {key: node for key, node in reserved.items() if key != pod.key}
        self._deleted = deleted
        self.written = now
        self._version = version
        self._is_listed = is_listed
        self._begun = [*((each.version, each.time) for each in own if each.version < version), (version, now)]
        self._tried: set[TriedState] = set()
        self._attempts = 0
        self._effort = effort
        self._is_short = False
        """Whether the effort did not suffice for all states."""
        self._seen = (-1, 0, 0, 0)
        self._late = known.late
        self._turns = known.turns if pod.pod_group else 0
        self.trying = TriedState(version, now)
        """The state that is tried."""
        self._first: tuple[Any, TriedState] | None = None

    @cached_property
    def _followers(self) -> dict[str, str]:
        found = {**self._deleted, **self._known.followers()}
        return {
            key: node for key, node in found.items() if key != self._pod.key and key not in self._reserved
        }

    @property
    def has_begun(self) -> bool:
        """Whether the most probable state was tried."""
        return self._first is not None

    def conclude(
        self, judge: Callable[[Situation], F], now: Micros, unknown: Callable[[str], F], *, last: bool
    ) -> tuple[F, TriedState] | None:
        """Return the finding that fits, with its state; None = it may come yet. The ``last`` time, that in
        the most probable state is returned where none fits, or what ``unknown`` makes of a reason if not all
        states of the last seconds before the write are known, or there was no effort left to try them."""
        found = self._find(judge, now, last=last)
        if found is not None or not last:
            return found
        if self._first is None:
            return unknown(CUT_OFF), TriedState(self._version, self.written)
        finding, state = self._first
        if not finding.fits and (self._is_blind or self._is_short):
            finding = unknown(CUT_OFF if self._is_blind else STATES_LEFT)
        return finding, state

    @property
    def _is_blind(self) -> bool:
        """Whether the scheduler may have decided in a state that is not known."""
        is_first_known = self._known.known_since <= self.written - HISTORY
        return self._is_listed or not is_first_known or self._version <= self._known.forgotten

    def _find(
        self, judge: Callable[[Situation], F], now: Micros, *, last: bool
    ) -> tuple[F, TriedState] | None:
        """Return the finding that fits, with its state; None = there is none in what is known by now.
        ``last``: it will not be asked again."""
        at_most = STATES_AT_MOST if last else WAITING_AT_MOST if self.has_begun else AT_ONCE_AT_MOST
        turns = self._known.turns if self._pod.pod_group else 0
        known = (self._known.bindings, self._known.late, turns, at_most)
        if self._attempts >= at_most or self._seen == known:
            return None
        self._seen = known
        if (self._late, self._turns) != (self._known.late, turns):
            # What was tried is not as it was thought to be.
            self._late, self._turns = self._known.late, turns
            self._tried.clear()
            self._attempts = 0
        nodes = self._known.cluster.node_count
        self._is_short = False
        for state in self._states():
            if state in self._tried:
                continue
            if self._attempts >= at_most:
                return None
            pod = self._known.pod_before(state.version, self._pod.key)
            if pod is None or pod.uid != self._pod.uid:
                self._tried.add(state)
                continue
            if self.has_begun and not self._effort.spend(nodes, now):
                self._is_short = True
                return None
            self._attempts += 1
            self._tried.add(state)
            self.trying = state
            with self._known.before(state.version, pod, dict(state.assumed), state.undone) as then:
                finding = judge(then)
            if self._first is None or state == self._first[1]:
                self._first = finding, state
            if finding.fits:
                return finding, state
        return None

    def chosen(self) -> str:
        """Return the node that the model chooses in the most probable state; "" = none."""
        version = self._begun[0][0]
        pod = self._known.pod_before(version, self._pod.key)
        if pod is None:
            return ""
        with self._known.before(version, pod, self._reserved) as then:
            if then.framework is None or then.framework.run_pre_enqueue(pod) is not None:
                return ""
            made = run_attempt(then, then.framework)
            return "" if made.selected is None else then.cluster.node(made.selected).name

    def _states(self) -> Iterator[TriedState]:
        """Yield the states, the most probable first."""
        for version, time in self._begun:
            yield self._state(version, time)
        version, time = self._begun[0]
        if self._reserved:
            yield TriedState(version, time)
        for pods in _combinations([*self._followers.items()]):
            yield self._state(version, time, pods)
        bindings = [each for each in self._known.history if each.binds and each.key != self._pod.key]
        later = {each.key: _node(each) for each in bindings if each.version >= version}
        recent = [each.key for each in bindings if each.version < version]
        first = {each.key for each in bindings if _is_before(each, self._pod)}
        begun = {each.key for each in bindings if each.version >= version and self._has_begun(each, version)}
        if begun:
            yield self._state(version, time, {key: node for key, node in later.items() if key in begun})
        likely = {key: node for key, node in later.items() if key in first | begun}
        not_yet = [key for key in recent if key not in first]
        yield self._state(version, time, likely, not_yet)
        yield self._state(version, time, likely)
        yield self._state(version, time, {}, not_yet)
        for key, node in [*later.items()][:LATER_AT_MOST]:
            yield self._state(version, time, {key: node})
        for count in range(2, min(len(later), LATER_AT_MOST) + 1):
            yield self._state(version, time, dict([*later.items()][:count]))
        for count in range(1, min(len(recent), UNDONE_AT_MOST) + 1):
            yield self._state(version, time, {}, recent[-count:])
            yield self._state(version, time, {}, [recent[-count]])
        oldest = self.written - HISTORY
        past = [each for each in self._known.history if each.version < version and each.time >= oldest]
        for change in reversed(past):
            yield self._state(change.version, change.time)
            yield self._state(change.version, change.time, likely)
            if self._followers:
                yield self._state(change.version, change.time, self._followers)

    def _has_begun(self, binding: PastChange, version: int) -> bool:
        """Whether the binding cycle of a pod that was bound later had begun before a version."""
        assert binding.before is not None
        writes = pre_bind_writes(self._known, Pod.parse(binding.before))
        return any(each.version < version for each in writes)

    def _state(
        self,
        version: int,
        time: Micros,
        assumed: Mapping[str, str] = MappingProxyType({}),
        undone: Iterable[str] = (),
    ) -> TriedState:
        return TriedState(version, time, tuple({**self._reserved, **assumed}.items()), frozenset(undone))


def _combinations(pods: Sequence[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """Yield combinations of the pods that are not empty, the most probable first: the pods are in the order
    in which they are tried. Of many pods only the first ones, and all."""
    if len(pods) > FOLLOWERS_AT_MOST:
        yield from (dict(pods[:count]) for count in range(1, len(pods) + 1))
        return
    for count in range(1, len(pods) + 1):
        yield from map(dict, combinations(pods, count))


def group_writes(known: FollowedCluster, pod: Pod, version: int) -> Iterator[PastChange]:
    """Yield the first change of each cycle of the pod's group before a version, as far as the cycle bound or
    nominated its pods: changes of different pods of the group, without others in between. The last cycle
    first."""
    first: PastChange | None = None
    seen: set[str] = set()
    for change in reversed(known.history):
        if change.version >= version:
            continue
        before, after = change.before, change.after
        of_group = change.resource == PODS.id and before is not None and after is not None
        of_group = of_group and group_key_of(after or {}) == pod.pod_group
        if first is not None and (not of_group or change.key in seen):
            yield first
            first, seen = None, set()
        if of_group:
            first = change
            seen.add(change.key)
    if first is not None:
        yield first


def nominations(known: FollowedCluster, pod: Pod) -> list[PastChange]:
    """Return the changes that nominated the pod, each at the end of a cycle that preempts others for it; the
    last first."""
    return [
        each
        for each in reversed(known.history)
        if (each.resource, each.key) == (PODS.id, pod.key)
        and _nominated(each.after) not in ("", _nominated(each.before))
    ]


def _nominated(manifest: Manifest | None) -> str:
    return "" if manifest is None else (manifest.get("status") or {}).get("nominatedNodeName") or ""


def pre_bind_writes(known: FollowedCluster, pod: Pod) -> list[PastChange]:
    """Return the writes of the pod's binding cycles before the binding: a claim of the pod gets its node, its
    volume or its devices (PreBind of VolumeBinding and DynamicResources)."""
    return [each for each in known.history if _is_pre_bind(known.cluster, each, pod)]


def _is_pre_bind(cluster: Cluster, change: PastChange, pod: Pod) -> bool:
    before, after = change.before, change.after
    if after is None:
        return False
    if change.resource == RESOURCE_CLAIMS:
        return _is_reserved_for(after, pod) and not (before and _is_reserved_for(before, pod))
    if before is None:
        return False
    if change.resource == PVCS:
        chosen = selected_node(after) not in ("", selected_node(before))
        bound = _is_new("volumeName", before, after) and waits_for_first_consumer(cluster, after)
        return uses_claim(pod, change.key) and (chosen or bound)
    if change.resource == PVS:
        return is_chosen(before, after) and uses_claim(pod, chosen_claim(cluster, after))
    return False


def is_chosen(before: Manifest, after: Manifest) -> bool:
    """Whether a volume was chosen for a claim (PreBind of VolumeBinding, or the controller)."""
    return _is_new("claimRef", before, after)


def chosen_claim(cluster: Cluster, volume: Manifest) -> str:
    """Return the key of the claim for which the scheduler chose a volume; "" = the controller binds it."""
    reference = volume["spec"].get("claimRef") or {}
    key = object_key(reference.get("namespace", ""), reference.get("name", ""))
    claim = cluster.objects(PVCS).get(key)
    return key if claim is not None and waits_for_first_consumer(cluster, claim) else ""


def _is_new(field: str, before: Manifest, after: Manifest) -> bool:
    return not before["spec"].get(field) and bool(after["spec"].get(field))


def _is_reserved_for(claim: Manifest, pod: Pod) -> bool:
    return any(user.get("uid") == pod.uid for user in (claim.get("status") or {}).get("reservedFor") or ())


def _is_before(change: PastChange, pod: Pod) -> bool:
    """Whether activeQ has another pod before this one (PrioritySort)."""
    assert change.before is not None
    other = Pod.parse(change.before)
    return activation_order(other) < activation_order(pod)


def _node(change: PastChange) -> str:
    assert change.after is not None
    return str(change.after["spec"]["nodeName"])
