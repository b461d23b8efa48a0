"""PodDisruptionBudgets: preemption spares them where it can, and breaks them where it must."""

from collections.abc import Sequence
from typing import NamedTuple

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.objects.labels import Selector, label_selector
from simulator.objects.pod import Pod


class Budget(NamedTuple):
    """What a PodDisruptionBudget says; a selector that is nil or empty matches nothing here."""

    namespace: str
    selector: Selector
    allowed: int
    disrupted: frozenset[str]
    """Names of pods whose disruption is being processed already: they do not count again."""


def budgets(cluster: Cluster) -> list[Budget]:
    found = (_budget(manifest) for manifest in cluster.objects("poddisruptionbudgets.policy").values())
    return [budget for budget in found if budget is not None]


def _budget(manifest: Manifest) -> Budget | None:
    selector = label_selector((manifest.get("spec") or {}).get("selector"))
    if selector is None or selector.empty:
        return None
    status = manifest.get("status") or {}
    return Budget(
        manifest["metadata"].get("namespace") or "default",
        selector,
        status.get("disruptionsAllowed") or 0,
        frozenset(status.get("disruptedPods") or ()),
    )


def pods_violating(pods: Sequence[Pod], pdbs: Sequence[Budget]) -> set[str]:
    """filterPodsWithPDBViolation: the keys of those pods, drawing the budgets down in the given order, whose
    eviction would break one."""
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
