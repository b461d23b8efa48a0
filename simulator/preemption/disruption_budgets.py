"""PodDisruptionBudgets in preemption: which evictions violate a budget
(pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go).

Preemption prefers victims that violate no budget, but a budget does not prevent preemption."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.objects.label_sets import LabelSet, LabelSets, label_set
from simulator.objects.labels import Selector, label_selector
from simulator.objects.pod import Pod


class DisruptionBudget(NamedTuple):
    """The fields of a PodDisruptionBudget that preemption reads."""

    namespace: str
    selector: Selector
    allowed: int
    disrupted: frozenset[str]
    """The value of status.disruptedPods: the names of pods whose eviction is already subtracted from
    ``allowed``."""


def list_budgets(cluster: Cluster) -> list[DisruptionBudget]:
    """Return the PodDisruptionBudgets without those whose selector is nil or empty, which match no pod in
    preemption."""
    found = (_parse_budget(manifest) for manifest in cluster.objects("poddisruptionbudgets.policy").values())
    return [budget for budget in found if budget is not None]


def _parse_budget(manifest: Manifest) -> DisruptionBudget | None:
    selector = label_selector((manifest.get("spec") or {}).get("selector"))
    if selector is None or selector.empty:
        return None
    status = manifest.get("status") or {}
    return DisruptionBudget(
        manifest["metadata"].get("namespace") or "default",
        selector,
        status.get("disruptionsAllowed") or 0,
        frozenset(status.get("disruptedPods") or ()),
    )


class BudgetsOfPods:
    """The budgets of each of many pods: whether a selector matches is found once for pods of equal labels."""

    def __init__(self, pods: Iterable[Pod], pdbs: Sequence[DisruptionBudget]) -> None:
        self._pdbs = pdbs
        labels: dict[str, LabelSets] = {}
        for pod in pods:
            if pod.labels:
                labels.setdefault(pod.namespace, LabelSets()).add(label_set(pod.labels))
        self._budgets: dict[tuple[str, LabelSet], list[int]] = {}
        """Namespace and labels -> indices of ``pdbs``."""
        for i, pdb in enumerate(pdbs):
            if pdb.namespace in labels:
                for each in labels[pdb.namespace].matching(pdb.selector):
                    self._budgets.setdefault((pdb.namespace, each), []).append(i)

    def violating(self, pods: Sequence[Pod]) -> set[str]:
        """Return the keys of those of the pods whose eviction violates a budget, if they are evicted in the
        given order (filterPodsWithPDBViolation)."""
        allowed: dict[int, int] = {}
        violating = set()
        for pod in pods:
            for i in self._budgets.get((pod.namespace, label_set(pod.labels)), ()):
                pdb = self._pdbs[i]
                if pod.name not in pdb.disrupted:
                    allowed[i] = allowed.get(i, pdb.allowed) - 1
                    if allowed[i] < 0:
                        violating.add(pod.key)
        return violating


def pods_violating_pdbs(pods: Sequence[Pod], pdbs: Sequence[DisruptionBudget]) -> set[str]:
    """Return what :meth:`BudgetsOfPods.violating` does for pods of one node."""
    return BudgetsOfPods(pods, pdbs).violating(pods) if pdbs else set()
