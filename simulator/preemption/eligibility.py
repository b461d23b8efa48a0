"""Who may preempt whom."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.framework.diagnosis import Diagnosis
from simulator.objects.pod import Pod


def is_preemption_allowed(victim: Pod, preemptor: Pod) -> bool:
    return victim.priority < preemptor.priority


def importance(pod: Pod) -> tuple[Any, ...]:
    """Sorts the most important pod first: higher priority, then earlier start; lots settle what upstream
    leaves open."""
    return (-pod.priority, pod.start_seconds, pod.lot)


def ineligible(pod: Pod, diagnosis: Diagnosis, cluster: Cluster) -> str:
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
