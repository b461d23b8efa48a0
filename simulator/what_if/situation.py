"""A cluster and one pending pod, on which changes can be tried."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from simulator.api import Change, Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES, PODS
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools
from simulator.framework import snapshot
from simulator.framework.cycle_state import CycleState
from simulator.framework.node_batch import NodeBatch
from simulator.framework.pre_filter import run_pre_filter
from simulator.framework.runtime import Framework
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.preemption.dry_run import EXCLUDED_NODES
from simulator.scheduler.attempt import Attempt
from simulator.what_if import room
from simulator.what_if.answer import AttemptOutcome

NAMED_AT_MOST = 20
"""Maximum number of nodes that an outcome names; the rest are counted."""

StoredObject = Node | Pod | Manifest | None


class Situation:
    """A cluster, a pending pod and the profiles. The cluster must not be used elsewhere at the same time.

    ``nominated`` are the nominated pods by node. ``seed`` and ``cycle``, those of a recorded cycle, determine
    how ties are broken.
    """

    def __init__(
        self,
        cluster: Cluster,
        pod: Pod,
        frameworks: Mapping[str, Framework],
        nominated: Mapping[str, Sequence[Pod]],
        *,
        seed: int = 0,
        cycle: int = 0,
    ) -> None:
        self.cluster = cluster
        if pod.pod_group:
            cluster.pod_groups.set_pod(pod)
        self.pod = pod
        self.frameworks = frameworks
        self.nominated = {
            node: [other for other in pods if other.key != pod.key] for node, pods in nominated.items()
        }
        self.seed = seed
        self.cycle = cycle

    @classmethod
    def read(
        cls,
        objects: Iterable[tuple[Resource, Manifest]],
        pod: Manifest,
        frameworks: Mapping[str, Framework],
        *,
        seed: int = 0,
        cycle: int = 0,
    ) -> "Situation":
        """Build a situation from the manifests of a cluster, which may contain the pod itself. Raises the
        errors of Pod.parse and Node.parse."""
        pending = Pod.parse(pod)
        others = (item for item in objects if not is_same_pod(item, pending))
        cluster, nominated = snapshot.read(others, frameworks)
        return cls(cluster, pending, frameworks, nominated, seed=seed, cycle=cycle)

    @property
    def framework(self) -> Framework | None:
        """The profile with the pod's schedulerName; None if there is none."""
        return self.frameworks.get(self.pod.scheduler_name)

    # Changes

    @contextmanager
    def with_changes(self, changes: Iterable[Change]) -> Iterator[None]:
        """Apply changes, and undo them at the end of the context. The order of a node's pods, of the objects
        of a kind and of the nominated pods is restored too, because decisions may depend on it."""
        changes = [*changes]
        undo: list[tuple[str, str, StoredObject]] = []
        nominated = self.nominated
        pods = {node: self.cluster.pod_order(node) for node in self._changed_nodes(changes)}
        objects = {each.resource: [*self.cluster.objects(each.resource)] for each in changes}
        try:
            for change in changes:
                new = _parse_change(change)
                known = self._known(change.resource, change.key)
                undo.append((change.resource, change.key, known))
                self._put(change.resource, change.key, new)
            yield
        finally:
            for resource, key, before in reversed(undo):
                self._put(resource, key, before)
            for node, order in pods.items():
                self.cluster.restore_pod_order(node, order)
            for resource, order in objects.items():
                self.cluster.restore_object_order(resource, order)
            self.nominated = nominated

    def _changed_nodes(self, changes: Iterable[Change]) -> set[str]:
        """Return the nodes that are changed, or that lose a pod."""
        found = {change.key for change in changes if change.resource == NODES.id}
        pods = (self._known(change.resource, change.key) for change in changes if change.resource == PODS.id)
        return found | {pod.node_name for pod in pods if isinstance(pod, Pod)}

    @contextmanager
    def with_pod(self, pod: Pod) -> Iterator[None]:
        """Ask about another pod than the situation's own in the context."""
        own, nominated = self.pod, self.nominated
        self.pod = pod
        self.nominated = {
            node: [other for other in others if other.key != pod.key] for node, others in nominated.items()
        }
        try:
            yield
        finally:
            self.pod, self.nominated = own, nominated

    def manifest_of(self, resource: str, key: str) -> Manifest | None:
        """Return the manifest of an object; None if it does not exist."""
        known = self._known(resource, key)
        return known.manifest if isinstance(known, Node | Pod) else known

    def pod_of(self, key: str) -> Pod | None:
        """Return another pod, bound or nominated."""
        return self.cluster.pods.get(key) or self._nominated(key)

    def _known(self, resource: str, key: str) -> StoredObject:
        if resource == NODES.id:
            row = self.cluster.rows.get(key)
            return None if row is None else self.cluster.node(row)
        if resource != PODS.id:
            return self.cluster.objects(resource).get(key)
        if key == self.pod.key:
            return self.pod
        return self.pod_of(key)

    def _nominated(self, key: str) -> Pod | None:
        return next((pod for pods in self.nominated.values() for pod in pods if pod.key == key), None)

    def _put(self, resource: str, key: str, new: StoredObject) -> None:
        if resource == NODES.id:
            if isinstance(new, Node):
                self.cluster.add_node(new)
            else:
                self.cluster.remove_node(key)
        elif resource == PODS.id:
            assert new is None or isinstance(new, Pod)
            self._put_pod(key, new)
        else:
            assert new is None or isinstance(new, dict)
            self.cluster.set_object(resource, key, new)

    def _put_pod(self, key: str, new: Pod | None) -> None:
        if key == self.pod.key:
            assert new is not None, "the pending pod cannot be deleted"
            self.pod = new
            return
        known = self.cluster.pods.get(key)
        if known is not None:
            self.cluster.remove_pod(known)
        self.nominated = {
            node: [pod for pod in pods if pod.key != key] for node, pods in self.nominated.items()
        }
        if new is None:
            return
        if new.node_name:
            self.cluster.add_pod(new)
        elif new.nominated_node_name:
            self.nominated.setdefault(new.nominated_node_name, []).append(new)

    # Attempts

    def passing(self) -> Bools:
        """Return bool[width]: the nodes that all filter plugins accept. Extenders are not called."""
        no_nodes = np.zeros(self.cluster.width, dtype=np.bool_)
        framework = self.framework
        if framework is None or framework.run_pre_enqueue(self.pod) is not None:
            return no_nodes
        state = CycleState(self.cluster, self.nominated, seed=self.seed, cycle=self.cycle)
        found = run_pre_filter(framework, state, self.pod)
        if found.status is not None:
            return no_nodes
        codes = framework.run_filter(state, self.pod, NodeBatch(self.cluster)).codes
        passed: Bools = (codes == 0) & self.cluster.exists[: self.cluster.width]
        passed &= allowed_rows(self.cluster, found.node_names)
        if self.nominated and passed.any():
            rows = np.flatnonzero(passed)
            both = framework.run_filter_with_nominated_pods(state, self.pod, NodeBatch(self.cluster, rows))
            passed[rows] = both.codes == 0
        return passed

    def can_be_bound(self) -> bool:
        """Whether an attempt finds a node without preemption. Extenders are not called."""
        return bool(self.passing().any())

    @contextmanager
    def as_for_the_pod(self) -> Iterator[None]:
        """Show the cluster as it is when the pod has its turn."""
        yield

    def attempt(self, *, exhaustive: bool = False) -> Attempt:
        """Run a scheduling attempt to its end. The pod must have a profile.

        Unless ``exhaustive``, the dry run of preemption skips nodes that would be too small even without all
        pods of lower priority, as these cannot be candidates."""
        framework = self.framework
        assert framework is not None
        made = Attempt(
            framework,
            self.cluster,
            self.pod,
            self.nominated,
            seed=self.seed,
            cycle=self.cycle,
            exhaustive=exhaustive,
        )
        if not exhaustive:
            made.state.write(EXCLUDED_NODES, ~room.fits_after_preemption(self.cluster, framework, self.pod))
        return made.complete()

    def outcome(self) -> AttemptOutcome:
        """Run PreEnqueue and a scheduling attempt, and return the result."""
        framework = self.framework
        if framework is None:
            return AttemptOutcome(
                "ignored", message=f"no profile has the schedulerName {self.pod.scheduler_name!r}"
            )
        gate = framework.run_pre_enqueue(self.pod)
        if gate is not None:
            return AttemptOutcome("gated", message=gate.message)
        made = self.attempt()
        names = self.cluster.node
        if made.errors:
            return AttemptOutcome("error", message=made.errors[0])
        if made.selected is not None:
            rows = made.feasible[np.argsort(self.cluster.position()[made.feasible])[:NAMED_AT_MOST]]
            return AttemptOutcome(
                "bound",
                names(made.selected).name,
                feasible=[names(row).name for row in rows.tolist()],
                feasible_count=len(made.feasible),
            )
        candidate = made.candidate
        if candidate is None:
            return AttemptOutcome("unschedulable", message=made.message)
        victims = [victim.key for victim in candidate.victims]
        return AttemptOutcome("nominated", candidate.node, victims, candidate.rule, message=made.message)


def allowed_rows(cluster: Cluster, names: Iterable[str] | None) -> Bools:
    """Return bool[width]: the nodes with these names, the PreFilter result (None = all nodes)."""
    if names is None:
        return np.ones(cluster.width, dtype=np.bool_)
    found = np.zeros(cluster.width, dtype=np.bool_)
    found[[cluster.rows[name] for name in names if name in cluster.rows]] = True
    return found


def _parse_change(change: Change) -> StoredObject:
    if change.object is None:
        return None
    if change.resource == NODES.id:
        return Node.parse(change.object)
    return Pod.parse(change.object) if change.resource == PODS.id else change.object


def is_same_pod(item: tuple[Resource, Manifest], pod: Pod) -> bool:
    """Whether the object has the key of ``pod``."""
    resource, manifest = item
    metadata = manifest["metadata"]
    return resource == PODS and pod.key == f"{metadata.get('namespace') or 'default'}/{metadata['name']}"
