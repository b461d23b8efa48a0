"""Which pods to evict, on which node: pkg/scheduler/framework/preemption/preemption.go and
plugins/defaultpreemption/default_preemption.go, v1.34. Nothing is evicted here."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster import Cluster
from simulator.columns import Rows
from simulator.decision import Candidate, Failure, Victim
from simulator.framework.diagnosis import Diagnosis, fit_error
from simulator.framework.interface import CycleState, PluginError, Status, unresolvable
from simulator.framework.node_batch import SupposedNodes
from simulator.framework.runtime import Framework
from simulator.labels import Selector, label_selector
from simulator.pod import Pod

NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
NOT_HELPFUL = "Preemption is not helpful for scheduling"
PRIORITY_OFFSET = 1 << 31
"""Added to each priority in the sum, so that many pods of negative priority do not count as less than few."""


def is_preemption_allowed(victim: Pod, preemptor: Pod) -> bool:
    return victim.priority < preemptor.priority


def importance(pod: Pod) -> tuple[Any, ...]:
    """Sorts the most important pod first: higher priority, then earlier start. (The name settles what
    upstream leaves open.)"""
    return (-pod.priority, pod.start_seconds, pod.key)


def eligible(pod: Pod, diagnosis: Diagnosis, cluster: Cluster) -> str:
    """PodEligibleToPreemptOthers: why not, or "" for a pod that may preempt."""
    if pod.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    if not pod.nominated_node_name:
        return ""
    status = diagnosis.status_of(pod.nominated_node_name)
    if status is not None and status.code == "UnschedulableAndUnresolvable":
        return ""
    row = cluster.rows.get(pod.nominated_node_name)
    for other in cluster.pods_on(row).values() if row is not None else ():
        if is_preemption_allowed(other, pod) and _terminating_by_preemption(other):
            return "not eligible due to a terminating pod on the nominated node."
    return ""


def _terminating_by_preemption(pod: Pod) -> bool:
    if not pod.terminating:
        return False
    for condition in (pod.manifest.get("status") or {}).get("conditions") or ():
        if condition["type"] == "DisruptionTarget":
            return bool(condition["status"] == "True" and condition.get("reason") == "PreemptionByScheduler")
    return False


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


class Found(NamedTuple):
    """A node that preemption could free."""

    row: int
    victims: list[Pod]
    """Most important first."""
    pdb_violations: int
    violating: set[str]


class DryRun(NamedTuple):
    candidates: list[Found]
    failed: dict[int, Status]
    """Rows that were tried without success."""


def dry_run(
    framework: Framework, state: CycleState, pod: Pod, rows: Rows, *, enough: int, pdbs: Sequence[Budget]
) -> DryRun:
    """DryRunPreemption: go through ``rows`` in order until there are ``enough`` candidates, one of them at
    least without PDB violation. Raises PluginError where no candidate but a fault was found."""
    clean: list[Found] = []
    violating: list[Found] = []
    failed: dict[int, Status] = {}
    for row in rows.tolist():
        found = select_victims_on_node(framework, state, pod, row, pdbs)
        if isinstance(found, Status):
            failed[row] = found
            continue
        (violating if found.pdb_violations else clean).append(found)
        if clean and len(clean) + len(violating) >= enough:
            break
    faults = [status.message for status in failed.values() if status.code == "Error"]
    if faults and not clean and not violating:
        raise PluginError(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    return DryRun(clean + violating, failed)


def select_victims_on_node(
    framework: Framework, state: CycleState, pod: Pod, row: int, pdbs: Sequence[Budget]
) -> Found | Status:
    """SelectVictimsOnNode: take away every pod of lower priority; if the pod then fits, put back as many as
    possible, those whose eviction would violate a PDB first, the more important first."""
    cluster = state.cluster
    potential = [p for p in cluster.pods_on(row).values() if is_preemption_allowed(p, pod)]
    if not potential:
        return NO_VICTIMS
    supposed = SupposedNodes(cluster, np.array([row]))
    state = state.clone()

    def fits() -> Status | None:
        verdicts = framework.run_filter_with_nominated_pods(state, pod, supposed)
        return verdicts.statuses[int(verdicts.codes[0]) - 1] if verdicts.codes[0] else None

    def lift(victim: Pod) -> Status | None:
        supposed.remove_pod(0, victim)
        return framework.run_remove_pod(state, pod, victim, row)

    def put_back(victim: Pod) -> Status | None:
        supposed.add_pod(0, victim)
        return framework.run_add_pod(state, pod, victim, row)

    for victim in potential:
        fault = lift(victim)
        if fault is not None:
            return fault
    status = fits()
    if status is not None:
        return status
    potential.sort(key=importance)
    violating = pods_violating(potential, pdbs)
    victims = []
    for victim in sorted(potential, key=lambda p: p.key not in violating):
        fault = put_back(victim)
        if fault is None and fits() is not None:
            victims.append(victim)
            fault = lift(victim)
        if fault is not None:
            return fault
    if not victims:
        name = cluster.node(row).name
        return Status("Error", (f'expected at least one victim pod on node "{name}"',))
    victims.sort(key=importance)
    return Found(row, victims, sum(v.key in violating for v in victims), violating)


# The choice among candidates


def _highest_priority(found: Found) -> int:
    return found.victims[0].priority


def _priority_sum(found: Found) -> int:
    return sum(victim.priority + PRIORITY_OFFSET for victim in found.victims)


def _earliest_start(found: Found) -> float:
    highest = _highest_priority(found)
    return min(v.start_seconds for v in found.victims if v.priority == highest)


LADDER: tuple[Callable[[Found], float], ...] = (
    lambda found: found.pdb_violations,
    _highest_priority,
    _priority_sum,
    lambda found: len(found.victims),
    lambda found: -_earliest_start(found),
)
"""The tie-break rules in order; on each, the smallest stay. The last one left to chance is rule 6."""


def pick(candidates: Sequence[Found]) -> tuple[list[Found], int]:
    """pickOneNodeForPreemption: who is left at the end, and the rule (1 to 6) that decided; 0 = only one from
    the start."""
    left = list(candidates)
    if len(left) == 1:
        return left, 0
    for rule, score in enumerate(LADDER, start=1):
        scores = [score(found) for found in left]
        least = min(scores)
        left = [found for found, own in zip(left, scores, strict=True) if own == least]
        if len(left) == 1:
            return left, rule
    return left, len(LADDER) + 1


# The record


def candidate(found: Found, pod: Pod, state: CycleState) -> Candidate:
    node = state.cluster.node(found.row).name
    highest = _highest_priority(found)
    earliest = min((v for v in found.victims if v.priority == highest), key=lambda v: v.start_seconds)
    return Candidate(
        node=node,
        victims=[Victim(v.key, v.priority, v.key in found.violating, v.start_time) for v in found.victims],
        pdb_violations=found.pdb_violations,
        highest_priority=highest,
        priority_sum=_priority_sum(found),
        earliest_start=earliest.start_time,
        cleared_nominations=sorted(
            other.key for other in state.nominated.get(node, ()) if other.priority < pod.priority
        ),
    )


def failures(result: DryRun, cluster: Cluster) -> dict[str, Failure]:
    return {
        cluster.node(row).name: Failure(status.plugin, status.code, sorted(status.reasons))
        for row, status in result.failed.items()
    }


def not_helpful(cluster: Cluster, failed: dict[int, Status]) -> str:
    """The message where no node can be freed."""
    reasons: Counter[str] = Counter()
    for status in failed.values():
        reasons.update(status.reasons)
    untried = cluster.node_count - len(failed)
    if untried:
        reasons[NOT_HELPFUL] += untried
    return fit_error(cluster.node_count, reasons)
