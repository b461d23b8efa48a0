"""The rules for which pods can preempt, and which pods they can preempt
(pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go)."""

from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.framework.diagnosis import Diagnosis
from simulator.objects.conditions import condition
from simulator.objects.pod import Pod


def is_preemption_allowed(victim: Pod, preemptor: Pod) -> bool:
    """Whether the victim has a lower priority than the preemptor (isPreemptionAllowed)."""
    return victim.priority < preemptor.priority


def importance_key(pod: Pod) -> tuple[Any, ...]:
    """Return a sort key that puts the most important pod first (MoreImportantPod): higher priority, then
    earlier start. For pods with equal values, upstream's order is not defined; here Pod.lot determines it."""
    return (-pod.priority, pod.start_seconds, pod.lot)


def ineligibility_reason(pod: Pod, diagnosis: Diagnosis, cluster: Cluster) -> str:
    """Return why the pod cannot preempt others, "" if it can (PodEligibleToPreemptOthers)."""
    if pod.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    if not pod.nominated_node_name:
        return ""
    status = diagnosis.status_of(pod.nominated_node_name)
    if status is not None and status.code == "UnschedulableAndUnresolvable":
        return ""
    row = cluster.rows.get(pod.nominated_node_name)
    for other in cluster.pods_on(row).values() if row is not None else ():
        if is_preemption_allowed(other, pod) and terminating_by_preemption(other):
            return "not eligible due to a terminating pod on the nominated node."
    return ""


def terminating_by_preemption(pod: Pod) -> bool:
    target = condition(pod.manifest, "DisruptionTarget") if pod.terminating else None
    return (
        target is not None and target["status"] == "True" and target.get("reason") == "PreemptionByScheduler"
    )
