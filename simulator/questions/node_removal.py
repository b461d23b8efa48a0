"""Takes nodes out of a cluster in which pods are placed: cordons them and places their pods on others, or
says which pod keeps them."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from simulator import question_words as words
from simulator.api import Change, versioned
from simulator.apiserver.overlay import CreatedObjects
from simulator.apiserver.pod_subresources import admit_eviction
from simulator.apiserver.resources import DISRUPTION_BUDGETS
from simulator.apiserver.served_features import serving
from simulator.apiserver.status import StatusError
from simulator.compare.place_again import without_node
from simulator.objects.labels import label_selector
from simulator.objects.metadata import namespace_of
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.questions.answer import AskedCluster
from simulator.questions.drain_filters import Kept, kept_by_drain
from simulator.questions.placing import Placing
from simulator.questions.pod_claims import release_claims
from simulator.what_if.pending_queue import queue_order

KeptBecause = Kept | Literal["", "pending", "budget"]
"""Why a pod keeps its node: ``pending`` = no other node takes it; "" = none does."""
STAYING: Final = ("no owner", "local storage", "static")
"""The reasons for which a drain leaves a pod that would be lost with its node."""


class Keeper(NamedTuple):
    """The first pod that keeps a node, and why."""

    pod: str
    because: KeptBecause
    why: str


class _Removed(NamedTuple):
    """What a removal has changed, to undo it."""

    nodes: list[Node]
    pods: list[Pod]
    orders: dict[str, list[str]]
    """The order of the pods of each of the nodes."""
    mark: int


class NodeRemoval:
    def __init__(self, cluster: AskedCluster, *, force: bool, delete_local: bool) -> None:
        """force, delete_local: as of a drain. Raises ConfigError."""
        self._asked, self._force, self._delete_local = cluster, force, delete_local
        self._placing = Placing(cluster, cluster.seed)
        self.cluster = self._placing.cluster
        self._budgets = [
            (namespace_of(budget), selector, Change(DISRUPTION_BUDGETS.id, key, versioned(budget, 1), 0))
            for key, budget in cluster.objects.get(DISRUPTION_BUDGETS.id, {}).items()
            if (selector := label_selector((budget.get("spec") or {}).get("selector"))) is not None
        ]
        self._budgets_of: dict[tuple[str, tuple[tuple[str, str], ...]], CreatedObjects] = {}
        """Namespace and labels of pods -> their budgets."""
        self._removed: list[_Removed] = []

    def take_in(self) -> Iterator[None]:
        """Read all objects. Yields often."""
        yield from self._placing.take_in()

    def remove(self, nodes: Sequence[str]) -> Keeper | None:
        """Put the pods of these nodes on others, and cordon the nodes, until :meth:`put_back`. Where that is
        not possible, return the pod that keeps them; the cluster is then as it was."""
        leaving: list[Pod] = []
        for node in nodes:
            for pod in self.cluster.pods_on(self.cluster.rows[node]).values():
                kept = self._kept_by_drain(pod)
                why = "" if kept else self._refusal(pod)
                if kept in STAYING or why:
                    return Keeper(pod.key, kept or "budget", why)
                if kept is None:
                    leaving.append(pod)
        cluster = self.cluster
        old = [cluster.node(cluster.rows[node]) for node in nodes]
        orders = {node: cluster.pod_order(node) for node in nodes}
        journal = self._placing.journal
        self._removed.append(_Removed(old, leaving, orders, journal.mark))
        for each in old:
            cluster.add_node(_cordoned(each))
        for pod in leaving:
            cluster.remove_pod(pod)
        release_claims(journal, leaving)
        self._placing.begin_again()
        for pod in queue_order(without_node(pod.manifest) for pod in leaving):
            found = self._placing.place(pod)
            if not found.node or found.node in orders:
                self.put_back()
                return Keeper(pod.key, "pending", found.why or words.TOLERATES_CORDON)
        return None

    def put_back(self) -> None:
        """Undo the last removal."""
        cluster, removed = self.cluster, self._removed.pop()
        self._placing.journal.take_back(removed.mark)
        for pod in removed.pods:
            cluster.add_pod(pod)
        for node in removed.nodes:
            cluster.add_node(node)
            cluster.restore_pod_order(node.name, removed.orders[node.name])

    def _kept_by_drain(self, pod: Pod) -> Kept | None:
        return kept_by_drain(
            pod.manifest,
            force=self._force,
            delete_local=self._delete_local,
            owner_kind=self._asked.lost_owners.get(pod.key, "").partition(" ")[0],
        )

    def _refusal(self, pod: Pod) -> str:
        """Return why the API server refuses the eviction of a pod now; "" = it does not."""
        place = pod.namespace, tuple(pod.labels.items())
        if place not in self._budgets_of:
            self._budgets_of[place] = CreatedObjects(
                creation
                for namespace, selector, creation in self._budgets
                if namespace == pod.namespace and selector.matches(pod.labels)
            )
        try:
            with serving(self._asked.features):
                admit_eviction(versioned(pod.manifest, 1), self._budgets_of[place], self._asked.now)
        except StatusError as error:
            return "; ".join(cause.message for cause in error.causes) or error.message
        return ""


def _cordoned(node: Node) -> Node:
    return Node.parse({**node.manifest, "spec": {**(node.manifest.get("spec") or {}), "unschedulable": True}})
