"""The preemption for a whole pod group (PodGroupEvaluator in
pkg/scheduler/framework/preemption/podgrouppreemption.go, v1.36).

The cluster is the domain: all units of lower priority are taken off their nodes, the group is tried, and the
units are put back one by one as long as the group can still be scheduled."""

from collections.abc import Iterator, Sequence
from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.cluster.pod_group_state import find_pod_group
from simulator.framework.interface import GroupSchedule
from simulator.framework.status import GroupVictims, PreemptionUnit, Status, unresolvable, unschedulable
from simulator.objects.pod import Pod
from simulator.objects.pod_group import PodGroup
from simulator.preemption.disruption_budgets import list_budgets, pods_violating_pdbs
from simulator.preemption.eligibility import terminating_by_preemption


def preempt_for_group(
    cluster: Cluster, group: PodGroup, pods: Sequence[Pod], schedule: GroupSchedule
) -> GroupVictims | Status:
    """Return the units that were taken off, with those that stay (selectVictimsOnDomain); or why no eviction
    helps. The cluster is left as it was."""
    reason = _ineligibility_reason(cluster, group, pods)
    if reason:
        return unschedulable(reason)
    units = sorted((unit for unit in _units(cluster) if unit.priority < group.priority), key=_importance)
    if not units:
        return unresolvable("No preemption victims found for incoming preemptor")
    nodes = dict.fromkeys(pod.node_name for unit in units for pod in unit.pods)
    orders = {node: cluster.pod_order(node) for node in nodes}
    try:
        for unit in units:
            _remove(cluster, unit)
        status = schedule()
        if status is not None:
            return status
        violating = pods_violating_pdbs([pod for unit in units for pod in unit.pods], list_budgets(cluster))
        units = [unit._replace(violates=any(p.key in violating for p in unit.pods)) for unit in units]
        return GroupVictims([*_reprieve(cluster, sorted(units, key=_violating_first), schedule)])
    finally:
        for unit in units:
            _add(cluster, unit)
        for node, order in orders.items():
            cluster.restore_pod_order(node, order)


def _reprieve(
    cluster: Cluster, units: Sequence[PreemptionUnit], schedule: GroupSchedule
) -> Iterator[PreemptionUnit]:
    """Put each unit back, and take it off again if the group can then not be scheduled."""
    for unit in units:
        _add(cluster, unit)
        stays = schedule.still_succeeds(unit.pods)
        if not stays:
            _remove(cluster, unit)
        yield unit._replace(reprieved=stays)


def _units(cluster: Cluster) -> Iterator[PreemptionUnit]:
    """Yield the pods on all nodes: those of a group with the disruption mode PodGroup together, each other
    one alone (newDomainForWorkloadPreemption)."""
    together: dict[str, list[Pod]] = {}
    groups: dict[str, PodGroup | None] = {}
    for row in cluster.order().tolist():
        for pod in cluster.pods_on(row).values():
            if pod.pod_group and pod.pod_group not in groups:
                groups[pod.pod_group] = find_pod_group(cluster, pod.pod_group)
            group = groups.get(pod.pod_group)
            if group is not None and group.disrupted_as_one:
                together.setdefault(pod.pod_group, []).append(pod)
            else:
                yield PreemptionUnit([pod], pod.priority, "", violates=False, reprieved=False)
    for key, pods in together.items():
        group = groups[key]
        assert group is not None
        yield PreemptionUnit(pods, group.priority, key, violates=False, reprieved=False)


def _importance(unit: PreemptionUnit) -> tuple[Any, ...]:
    """Return a sort key that puts the most important unit first (moreImportantVictim): higher priority, then
    pods of groups before other pods, then more pods, then the earlier start. Upstream's order of equal ones
    is not defined; here Pod.lot determines it."""
    first = unit.pods[0]
    return -unit.priority, not first.pod_group, -len(unit.pods), first.start_seconds, first.lot


def _violating_first(unit: PreemptionUnit) -> bool:
    return not unit.violates


def _remove(cluster: Cluster, unit: PreemptionUnit) -> None:
    for pod in unit.pods:
        cluster.remove_pod(pod)


def _add(cluster: Cluster, unit: PreemptionUnit) -> None:
    for pod in unit.pods:
        cluster.add_pod(pod)


def _ineligibility_reason(cluster: Cluster, group: PodGroup, pods: Sequence[Pod]) -> str:
    """Return why the group cannot preempt others, "" if it can (preemptorEligibleToPreemptOthers)."""
    if any(pod.preemption_policy == "Never" for pod in pods):
        return "not eligible due to preemptionPolicy=Never."
    rows = (cluster.rows.get(pod.nominated_node_name) for pod in pods if pod.nominated_node_name)
    for row in rows:
        for other in cluster.pods_on(row).values() if row is not None else ():
            if terminating_by_preemption(other) and _priority_of(cluster, other) < group.priority:
                return "not eligible due to a terminating pod on the nominated node."
    return ""


def _priority_of(cluster: Cluster, pod: Pod) -> int:
    """Return the priority of the pod's group; its own if it has none (getPodPriority)."""
    group = find_pod_group(cluster, pod.pod_group) if pod.pod_group else None
    return pod.priority if group is None else group.priority
