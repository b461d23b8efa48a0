"""The state of a cluster that is followed by its watch events, and how it was in the last seconds."""

import logging
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from simulator.api import SECOND, Change, Manifest, Micros, WatchEvent
from simulator.apiserver.resources import NODES, PODS
from simulator.cluster.cluster import Cluster
from simulator.cluster.pod_group_state import PodGroupState
from simulator.objects.events import EVENTS
from simulator.objects.metadata import annotations_of, created_at, object_key
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.objects.pod_group import group_key_of
from simulator.objects.volumes import PVCS, SELECTED_NODE, claim_references
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.what_if.situation import Situation

log = logging.getLogger(__name__)

HISTORY: Final[Micros] = 10 * SECOND
"""How far back states can be restored: much longer than a scheduler's informers are behind."""
CHANGES_AT_MOST: Final = 2_000
"""Maximum number of changes that can be undone; the oldest are forgotten first."""
UNREAD_CONDITIONS: Final = "conditions"
UNREAD_METADATA: Final = ("resourceVersion", "managedFields", "generation")


class PastChange(NamedTuple):
    """A change that a scheduling cycle may read."""

    time: Micros
    version: int
    resource: str
    key: str
    before: Manifest | None
    after: Manifest | None

    @property
    def binds(self) -> bool:
        """Whether a pod got its node, that was not created with it."""
        if self.resource != PODS.id or self.before is None:
            return False
        return not _node_of(self.before) and bool(_node_of(self.after))


class FollowedCluster:
    """Takes watch events in the order in which they arrive. Those of one resource are in order; those of
    different resources need not be, and are put in order by their resourceVersions."""

    def __init__(self, scheduler: JudgedScheduler) -> None:
        """The scheduler's profiles read the cluster from now on."""
        self.cluster = Cluster()
        self.frameworks = scheduler.frameworks
        self.pods: dict[str, Pod] = {}
        """All pods that have not ended."""
        for framework in (*scheduler.frameworks.values(), *scheduler.sampling.values()):
            framework.cluster, framework.pods = self.cluster, self.pods
        self._nominated: dict[str, Pod] = {}
        """The pods without a node that are nominated to one."""
        self.history: deque[PastChange] = deque()
        self.needed_since: Micros = 0
        """Changes after that are kept as long as HISTORY before it."""
        self.forgotten = 0
        """The newest version of a change that cannot be undone any more."""
        self.known_since: Micros = 0
        """The time from which on each state is known."""
        self.bindings = 0
        """The number of bindings, with those that are forgotten."""
        self.late = 0
        """The number of changes that came after later ones."""
        self.turns = 0
        """The number of pods of groups that were tried for the first time."""
        self.newest = 0
        """The newest version of a change."""

    def apply(self, event: WatchEvent, now: Micros, *, is_listed: bool = False) -> None:
        """Take in a change. An object that cannot be read counts as absent. ``is_listed``: only a list shows
        it, so the states in between are not known."""
        if event.resource == EVENTS:
            return
        new = None if event.type == "DELETED" else event.object
        before = self.find(event.resource, event.key)
        try:
            self._set(event.resource, event.key, new)
        except (LookupError, TypeError, AttributeError, ValueError) as fault:
            log.warning("%s %s cannot be read: %s", event.resource, event.key, fault)
            self._set(event.resource, event.key, None)
        after = self.find(event.resource, event.key)
        if _read_of(before) != _read_of(after):
            change = PastChange(now, event.version, event.resource, event.key, before, after)
            self.bindings += change.binds
            self.late += event.version < self.newest
            self.newest = max(self.newest, event.version)
            self.history.append(change)
            if is_listed:
                self.known_since = now
        oldest = min(now, self.needed_since) - HISTORY
        while self.history and (self.history[0].time < oldest or len(self.history) > CHANGES_AT_MOST):
            forgotten = self.history.popleft()
            self.forgotten = max(self.forgotten, forgotten.version)
            self.known_since = max(self.known_since, forgotten.time)

    def forget(self, now: Micros) -> None:
        """Note that no state before a time is known."""
        self.history.clear()
        self.known_since = now

    def find(self, resource: str, key: str) -> Manifest | None:
        """Return an object as it is now; None if it does not exist, or is a pod that has ended."""
        if resource == PODS.id:
            return self.pods[key].manifest if key in self.pods else None
        if resource == NODES.id:
            row = self.cluster.rows.get(key)
            return None if row is None else self.cluster.node(row).manifest
        return self.cluster.objects(resource).get(key)

    def users(self, claim: str) -> list[Pod]:
        """Return the pods without a node that use a claim, in the order in which they are tried."""
        return sorted(
            (pod for pod in self.pods.values() if not pod.node_name and uses_claim(pod, claim)),
            key=activation_order,
        )

    def followers(self) -> dict[str, str]:
        """Return the pods without a node whose claim has one already, for which its volume is provisioned:
        once they had their turn they wait for it, too, and are assumed on that node. The nodes by the
        pods' keys, in the order in which the pods are tried."""
        found: dict[str, str] = {}
        for key, claim in self.cluster.objects(PVCS).items():
            node = selected_node(claim)
            if node and not claim["spec"].get("volumeName"):
                found |= {pod.key: node for pod in self.users(key)}
        return found

    def pod_before(self, version: int, key: str) -> Pod | None:
        """Return a pod as it was before a version, when it had no node; None = it was not so."""
        pod = self.pods.get(key)
        for change in self._since(version):
            if (change.resource, change.key) == (PODS.id, key):
                pod = None if change.before is None else Pod.parse(change.before)
                break
        return pod if pod is not None and not pod.node_name else None

    @contextmanager
    def before(
        self, version: int, pod: Pod, nodes: Mapping[str, str], undone: frozenset[str] = frozenset()
    ) -> Iterator[Situation]:
        """Give the cluster as it was before a version, with the pod to be scheduled. ``nodes``: the nodes of
        further pods, by their keys, also of deleted ones; ``undone``: pods that count as without a node."""
        then: dict[tuple[str, str], Manifest | None] = {}
        for change in self._since(version):
            then.setdefault((change.resource, change.key), change.before)
        for key in undone:
            known = then[PODS.id, key] if (PODS.id, key) in then else self.find(PODS.id, key)
            then[PODS.id, key] = None if known is None else _with_node(known, "")
        for key, node in nodes.items():
            known = then[PODS.id, key] if (PODS.id, key) in then else self.find(PODS.id, key)
            known = known or self._last_state(key)
            if known is not None and not _node_of(known):
                then[PODS.id, key] = _with_node(known, node)
        groups = self._groups_before(then, pod)
        then.pop((PODS.id, pod.key), None)
        changes = [
            Change(resource, key, value)
            for (resource, key), value in then.items()
            if value is not self.find(resource, key)
        ]
        own = self.cluster.pods.get(pod.key)
        order: list[str] = []
        if own is not None:
            order = self.cluster.pod_order(own.node_name)
            self.cluster.remove_pod(own)
        try:
            with self.cluster.pod_groups.replaced(groups):
                situation = Situation(self.cluster, pod, self.frameworks, self._nominated_pods())
                with situation.with_changes(changes):
                    yield situation
        finally:
            if own is not None:
                self.cluster.add_pod(own)
                self.cluster.restore_pod_order(own.node_name, order)

    def _groups_before(
        self, then: Mapping[tuple[str, str], Manifest | None], pod: Pod
    ) -> dict[str, PodGroupState]:
        """Return the states of the groups whose pods were otherwise then, and of that of ``pod``."""
        pods = {key: each for (resource, key), each in then.items() if resource == PODS.id}
        pods[pod.key] = pod.manifest
        found: dict[str, PodGroupState] = {}
        for key, manifest in pods.items():
            now = self.pods.get(key)
            for group in (group_key_of(manifest) if manifest else "", now.pod_group if now else ""):
                if group and group not in found:
                    found[group] = state = PodGroupState()
                    known = self.cluster.pod_groups.get(group).pods.values()
                    state.pods = {each.uid: each for each in known if each.key not in pods}
        for manifest in pods.values():
            if manifest and (group := group_key_of(manifest)):
                each = Pod.parse(manifest)
                found[group].pods[each.uid] = each
        for state in found.values():
            state.scheduled = {uid: each for uid, each in state.pods.items() if each.node_name}
        return found

    def newest_before(self, version: int) -> int:
        """Return the version of the last change before a version."""
        return max((each.version for each in self.history if each.version < version), default=self.forgotten)

    def _last_state(self, key: str) -> Manifest | None:
        """Return a pod that was deleted in the last seconds as it was before."""
        gone = (each for each in reversed(self.history) if (each.resource, each.key) == (PODS.id, key))
        return next((each.before for each in gone if each.after is None), None)

    def _since(self, version: int) -> Iterator[PastChange]:
        return (change for change in self.history if change.version >= version)

    def _nominated_pods(self) -> dict[str, list[Pod]]:
        found: dict[str, list[Pod]] = {}
        for pod in self._nominated.values():
            framework = self.frameworks.get(pod.scheduler_name)
            if framework is not None and framework.run_pre_enqueue(pod) is None:
                found.setdefault(pod.nominated_node_name, []).append(pod)
        return found

    def _set(self, resource: str, key: str, manifest: Manifest | None) -> None:
        if resource == PODS.id:
            self._set_pod(key, None if manifest is None else Pod.parse(manifest))
        elif resource == NODES.id:
            self._set_node(key, None if manifest is None else Node.parse(manifest))
        else:
            self.cluster.set_object(resource, key, manifest)

    def _set_pod(self, key: str, pod: Pod | None) -> None:
        if pod is not None and pod.finished:
            pod = None  # the scheduler's watch leaves it out
        old = self.pods.pop(key, None)
        self._nominated.pop(key, None)
        if old is not None and old.node_name and (pod is None or not pod.node_name):
            self.cluster.remove_pod(old)
        if old is not None and old.pod_group and pod is None:
            self.cluster.pod_groups.remove_pod(old)
        if pod is None:
            return
        self.pods[key] = pod
        if pod.node_name:
            self.cluster.add_pod(pod)
        elif pod.nominated_node_name:
            self._nominated[key] = pod
        if pod.pod_group:
            self.cluster.pod_groups.set_pod(pod)

    def _set_node(self, key: str, node: Node | None) -> None:
        if node is not None:
            self.cluster.add_node(node)
        elif key in self.cluster.rows:
            self.cluster.remove_node(key)


def activation_order(pod: Pod) -> tuple[int, Micros, str]:
    """Return what activeQ sorts by (PrioritySort), as far as the objects say it."""
    return -pod.priority, created_at(pod.manifest), pod.key


def uses_claim(pod: Pod, key: str) -> bool:
    return any(key == object_key(pod.namespace, each.name) for each in claim_references(pod))


def selected_node(claim: Manifest | None) -> str:
    """Return the node for which the scheduler has a volume provisioned; "" = it has chosen none."""
    return annotations_of(claim).get(SELECTED_NODE, "") if claim else ""


def _with_node(manifest: Manifest, node: str) -> Manifest:
    spec = {field: value for field, value in manifest["spec"].items() if field != "nodeName"}
    return {**manifest, "spec": {**spec, "nodeName": node} if node else spec}


def _node_of(manifest: Manifest | None) -> str:
    return "" if manifest is None else manifest["spec"].get("nodeName") or ""


def _read_of(manifest: Manifest | None) -> Any:
    """Return what a scheduling cycle may read: not the conditions, by which kubelets report themselves."""
    if manifest is None:
        return None
    metadata = {field: v for field, v in manifest["metadata"].items() if field not in UNREAD_METADATA}
    status = manifest.get("status")
    if isinstance(status, dict) and manifest.get("kind") in (NODES.kind, PODS.kind):
        status = {field: value for field, value in status.items() if field not in UNREAD_CONDITIONS}
    rest = {field: value for field, value in manifest.items() if field not in ("metadata", "status")}
    return metadata, status, rest
