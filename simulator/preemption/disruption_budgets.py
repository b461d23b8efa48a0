"""PodDisruptionBudgets in preemption: which evictions violate a budget
(pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go).

Preemption prefers victims that violate no budget, but a budget does not prevent preemption."""

from collections.abc import Sequence
from typing import NamedTuple

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
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


def pods_violating_pdbs(pods: Sequence[Pod], pdbs: Sequence[DisruptionBudget]) -> set[str]:
    """Return the keys of the pods whose eviction violates a budget, if the pods are evicted in the given
    order (filterPodsWithPDBViolation)."""
    allowed = [pdb.allowed for pdb in pdbs]
    violating = set()
    for pod in pods:
        for i, pdb in enumerate(pdbs):
            if not pod.labels or pdb.namespace != pod.namespace or pod.name in pdb.disrupted:
                continue
            if pdb.selector.matches(pod.labels):
                allowed[i] -= 1
                if allowed[i] < 0:
                    violating.add(pod.key)
    return violating
