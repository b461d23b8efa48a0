"""The states of the cluster in which the scheduler may have decided.

A scheduling cycle reads a snapshot, which contains the pods that are assumed to be on their nodes, and its
result is written later: bindings are written in another order than they were decided in, after the writes of
PreBind, and after changes that the scheduler's informers had not shown yet.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.resources import PODS
from simulator.objects.metadata import annotations_of, created_at, object_key
from simulator.objects.pod import Pod
from simulator.objects.volumes import PVCS, PVS, SELECTED_NODE, claim_references
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS
from simulator.trace.verdicts import JudgedState
from simulator.verdicts.followed_cluster import FollowedCluster, PastChange
from simulator.what_if.situation import Situation

STATES_AT_MOST: Final = 48
"""Maximum number of states that are tried for one decision: a tenth of a second with a thousand nodes."""
WORK_OF_ATTEMPT: Final = 300
WORK_A_SECOND: Final = 60_000
"""Some 50 attempts with a thousand nodes, a tenth of a core."""
WORK_AT_MOST: Final = 10 * WORK_A_SECOND
UNDONE_AT_MOST: Final = 8
"""Maximum number of bindings that are taken back in turn."""
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

    def spend(self, nodes: int, now: Micros) -> bool:
        """Whether there is enough left for another attempt."""
        self._left = min(WORK_AT_MOST, self._left + (now - self._since) * WORK_A_SECOND // SECOND)
        self._since = now
        if self._left < nodes + WORK_OF_ATTEMPT:
            return False
        self._left -= nodes + WORK_OF_ATTEMPT
        return True


class Finding(Protocol):
    """What an attempt in one state shows."""

    @property
    def fits(self) -> bool:
        """Whether the search ends: the model could decide so, or it is not asked."""


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
        effort: Effort,
        own: Sequence[PastChange],
    ) -> None:
        """``version``, ``now``: of the write that shows the decision; ``reserved``: pods whose nodes other
        writes of their binding cycles show; ``own``: changes that were perhaps written after the decision
        and before it was shown, the most probable first."""
        self._known = known
        self._pod = pod
        self._reserved = {key: node for key, node in reserved.items() if key != pod.key}
        self.written = now
        self._begun = [*((each.version, each.time) for each in own if each.version < version), (version, now)]
        self._tried: set[TriedState] = set()
        self._attempts = 0
        self._effort = effort
        self._seen = -1
        self._late = known.late
        self._first: tuple[Any, TriedState] | None = None

    @property
    def has_begun(self) -> bool:
        """Whether the most probable state was tried."""
        return self._first is not None

    @property
    def first(self) -> tuple[Any, TriedState]:
        """The finding in the state that is the most probable."""
        assert self._first is not None, "no state was tried yet"
        return self._first

    def find(self, judge: Callable[[Situation], Finding], now: Micros) -> tuple[Any, TriedState] | None:
        """Return the finding that fits, with its state; None = there is none in what is known by now."""
        if self._attempts >= STATES_AT_MOST or self._seen == self._known.bindings + self._known.late:
            return None
        self._seen = self._known.bindings + self._known.late
        if self._late != self._known.late:
            # What was tried is not as it was thought to be.
            self._late = self._known.late
            self._tried.clear()
        nodes = self._known.cluster.node_count
        for state in self._states():
            if state in self._tried:
                continue
            if self._attempts >= STATES_AT_MOST:
                return None
            pod = self._known.pod_before(state.version, self._pod.key)
            if pod is None or pod.uid != self._pod.uid:
                self._tried.add(state)
                continue
            if self._attempts and not self._effort.spend(nodes, now):
                return None
            self._attempts += 1
            self._tried.add(state)
            with self._known.before(state.version, pod, dict(state.assumed), state.undone) as then:
                finding = judge(then)
            if self._first is None or state == self._first[1]:
                self._first = finding, state
            if finding.fits:
                return finding, state
        return None

    def _states(self) -> Iterator[TriedState]:
        """Yield the states, the most probable first."""
        for version, time in self._begun:
            yield self._state(version, time)
        version, time = self._begun[0]
        if self._reserved:
            yield TriedState(version, time)
        bindings = [each for each in self._known.history if each.binds and each.key != self._pod.key]
        later = {each.key: _node(each) for each in bindings if each.version >= version}
        recent = [each.key for each in bindings if each.version < version]
        first = {each.key for each in bindings if _is_before(each, self._pod)}
        likely = {key: node for key, node in later.items() if key in first}
        not_yet = [key for key in recent if key not in first]
        yield self._state(version, time, likely, not_yet)
        yield self._state(version, time, likely)
        yield self._state(version, time, {}, not_yet)
        for key, node in later.items():
            yield self._state(version, time, {key: node})
        for count in range(2, len(later) + 1):
            yield self._state(version, time, dict([*later.items()][:count]))
        for count in range(1, min(len(recent), UNDONE_AT_MOST) + 1):
            yield self._state(version, time, {}, recent[-count:])
            yield self._state(version, time, {}, [recent[-count]])
        for change in reversed([each for each in self._known.history if each.version < version]):
            yield self._state(change.version, change.time)
            yield self._state(change.version, change.time, likely)

    def _state(
        self,
        version: int,
        time: Micros,
        assumed: Mapping[str, str] = MappingProxyType({}),
        undone: Iterable[str] = (),
    ) -> TriedState:
        return TriedState(version, time, tuple({**self._reserved, **assumed}.items()), frozenset(undone))


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
    return [each for each in known.history if _is_pre_bind(each, pod)]


def _is_pre_bind(change: PastChange, pod: Pod) -> bool:
    before, after = change.before, change.after
    if after is None:
        return False
    if change.resource == RESOURCE_CLAIMS:
        return _is_reserved_for(after, pod) and not (before and _is_reserved_for(before, pod))
    if before is None:
        return False
    if change.resource == PVCS:
        chosen = selected_node(after) not in ("", selected_node(before))
        return uses_claim(pod, change.key) and (chosen or _is_new("volumeName", before, after))
    if change.resource == PVS:
        claim = after["spec"].get("claimRef") or {}
        key = object_key(claim.get("namespace", ""), claim.get("name", ""))
        return uses_claim(pod, key) and _is_new("claimRef", before, after)
    return False


def uses_claim(pod: Pod, key: str) -> bool:
    return any(key == object_key(pod.namespace, each.name) for each in claim_references(pod))


def selected_node(claim: Manifest | None) -> str:
    """Return the node for which the scheduler has a volume provisioned; "" = it has chosen none."""
    return annotations_of(claim).get(SELECTED_NODE, "") if claim else ""


def _is_new(field: str, before: Manifest, after: Manifest) -> bool:
    return not before["spec"].get(field) and bool(after["spec"].get(field))


def _is_reserved_for(claim: Manifest, pod: Pod) -> bool:
    return any(user.get("uid") == pod.uid for user in (claim.get("status") or {}).get("reservedFor") or ())


def _is_before(change: PastChange, pod: Pod) -> bool:
    """Whether activeQ has another pod before this one (PrioritySort)."""
    assert change.before is not None
    other = Pod.parse(change.before)
    return (-other.priority, created_at(other.manifest), other.key) < (
        -pod.priority,
        created_at(pod.manifest),
        pod.key,
    )


def _node(change: PastChange) -> str:
    assert change.after is not None
    return str(change.after["spec"]["nodeName"])
