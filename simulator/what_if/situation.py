"""A cluster to suppose things about, and one pending pod."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from simulator.api import Change, Manifest
from simulator.apiserver.resources import NODES, PODS, Resource
from simulator.cluster import snapshot
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Bools
from simulator.framework.interface import CycleState
from simulator.framework.node_batch import NodeBatch
from simulator.framework.runtime import Framework
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.preemption.dry_run import HOPELESS
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import preemption
from simulator.what_if import room
from simulator.what_if.answer import Outcome

NAMED_AT_MOST = 20
"""Nodes that an outcome names; the rest are counted."""

Known = Node | Pod | Manifest | None


class Situation:
    """The cluster is its own: nobody else may look at it meanwhile.

    ``nominated`` are the pending pods with a nomination by node, ``seed`` and ``cycle`` what settles the
    lots: with those of a real cycle, and :attr:`start` as the scheduler had it, an attempt here is that
    cycle.
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
        self.pod = pod
        self.frameworks = frameworks
        self.nominated = {
            node: [other for other in pods if other.key != pod.key] for node, pods in nominated.items()
        }
        self.seed = seed
        self.cycle = cycle
        self.start = cluster.next_start_node_index
        """Where the search for nodes starts: a searching scheduler moves on with each attempt."""

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
        """From the manifests of everything that there is (the pod may be among it). Raises what parsing a bad
        Pod or Node raises."""
        pending = Pod.parse(pod)
        others = (item for item in objects if not _is(item, pending))
        cluster, nominated = snapshot.read(others, frameworks)
        return cls(cluster, pending, frameworks, nominated, seed=seed, cycle=cycle)

    @property
    def framework(self) -> Framework | None:
        """The profile that the pod asks for."""
        return self.frameworks.get(self.pod.scheduler_name)

    # Suppose

    @contextmanager
    def supposing(self, changes: Iterable[Change]) -> Iterator[None]:
        """The cluster with these writes made; as it was, afterwards."""
        undo: list[tuple[str, str, Known]] = []
        try:
            for change in changes:
                new = _parsed(change)
                undo.append((change.resource, change.key, self._known(change.resource, change.key)))
                self._put(change.resource, change.key, new)
            yield
        finally:
            for resource, key, before in reversed(undo):
                self._put(resource, key, before)

    def _known(self, resource: str, key: str) -> Known:
        if resource == NODES.id:
            row = self.cluster.rows.get(key)
            return None if row is None else self.cluster.node(row)
        if resource != PODS.id:
            return self.cluster.objects(resource).get(key)
        if key == self.pod.key:
            return self.pod
        return self.cluster.pods.get(key) or self._nominated(key)

    def _nominated(self, key: str) -> Pod | None:
        return next((pod for pods in self.nominated.values() for pod in pods if pod.key == key), None)

    def _put(self, resource: str, key: str, new: Known) -> None:
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
            assert new is not None, "the pod in question stays"
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

    # Ask

    def passing(self) -> Bools:
        """bool[width]: the nodes that the filter plugins let pass. Extenders are not asked."""
        nobody = np.zeros(self.cluster.width, dtype=np.bool_)
        framework = self.framework
        if framework is None or framework.run_pre_enqueue(self.pod) is not None:
            return nobody
        state = CycleState(self.cluster, self.nominated, seed=self.seed, cycle=self.cycle)
        found = framework.run_pre_filter(state, self.pod)
        if found.status is not None:
            return nobody
        codes = framework.run_filter(state, self.pod, NodeBatch(self.cluster)).codes
        passed: Bools = (codes == 0) & self.cluster.exists[: self.cluster.width]
        passed &= allowed(self.cluster, found.node_names)
        if self.nominated and passed.any():
            rows = np.flatnonzero(passed)
            both = framework.run_filter_with_nominated_pods(state, self.pod, NodeBatch(self.cluster, rows))
            passed[rows] = both.codes == 0
        return passed

    def attempt(self, *, exhaustive: bool = False) -> Attempt:
        """A finished attempt: the real one, but that preemption does not try nodes that are too small even
        without the pods that it could evict (it would find no candidate there, and say so). ``exhaustive``
        leaves nothing out. The pod must have a profile."""
        framework = self.framework
        assert framework is not None
        self.cluster.next_start_node_index = self.start
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
            made.state.write(HOPELESS, ~room.after_preemption(self.cluster, framework, self.pod))
        for _ in made.run():
            pass
        return made

    def outcome(self) -> Outcome:
        framework = self.framework
        if framework is None:
            return Outcome("ignored", message=f"no profile has the schedulerName {self.pod.scheduler_name!r}")
        gate = framework.run_pre_enqueue(self.pod)
        if gate is not None:
            return Outcome("gated", message=gate.message)
        made = self.attempt()
        names = self.cluster.node
        if made.errors:
            return Outcome("error", message=made.errors[0])
        if made.selected is not None:
            rows = made.feasible[np.argsort(self.cluster.position()[made.feasible])[:NAMED_AT_MOST]]
            return Outcome(
                "bound",
                names(made.selected).name,
                feasible=[names(row).name for row in rows.tolist()],
                feasible_count=len(made.feasible),
            )
        found = preemption(made) if made.nominated_node else None
        if found is None:
            return Outcome("unschedulable", message=made.message)
        victims = next((c.victims for c in found.candidates if c.node == found.chosen), [])
        return Outcome(
            "nominated", found.chosen, [victim.pod for victim in victims], found.rule, message=made.message
        )


def allowed(cluster: Cluster, names: Iterable[str] | None) -> Bools:
    """bool[width]: the nodes that PreFilter results leave (None = all)."""
    if names is None:
        return np.ones(cluster.width, dtype=np.bool_)
    found = np.zeros(cluster.width, dtype=np.bool_)
    found[[cluster.rows[name] for name in names if name in cluster.rows]] = True
    return found


def _parsed(change: Change) -> Known:
    if change.object is None:
        return None
    if change.resource == NODES.id:
        return Node.parse(change.object)
    return Pod.parse(change.object) if change.resource == PODS.id else change.object


def _is(item: tuple[Resource, Manifest], pod: Pod) -> bool:
    resource, manifest = item
    metadata = manifest["metadata"]
    return resource == PODS and pod.key == f"{metadata.get('namespace') or 'default'}/{metadata['name']}"
