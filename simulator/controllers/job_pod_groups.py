"""The Workload and the PodGroup of a Job whose pods are a gang, with the gate WorkloadWithJob
(pkg/controller/job/job_scheduling_manager.go). Only the hashes in their names are not upstream's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from simulator.api import Manifest
from simulator.client.informer import Informer
from simulator.controllers.pods import template_hash
from simulator.objects.conditions import condition
from simulator.objects.metadata import name_of, namespace_of, uid_of
from simulator.objects.owner_references import controller_of, controller_reference
from simulator.objects.pod_group import POD_GROUPS, WORKLOADS
from simulator.objects.status import status_of

GROUP_VERSION: Final = "scheduling.k8s.io/v1alpha2"
MAX_NAME: Final = 253


def is_gang(job: Manifest) -> bool:
    """Whether the Job gets a PodGroup: all its pods run at the same time, each with an index, and the
    template names no group (IsGangSchedulingCandidate)."""
    spec: Mapping[str, Any] = job["spec"]
    parallelism = spec.get("parallelism", 1)
    return (
        parallelism > 1
        and spec.get("completions") == parallelism
        and spec.get("completionMode") == "Indexed"
        and spec["template"]["spec"].get("schedulingGroup") is None
    )


def missing_object(job: Manifest, informer: Informer, *, has_pods: bool) -> Manifest | None:
    """Return the Workload or else the PodGroup that such a Job lacks, and that is to be created before its
    pods. A Job that has begun gets no Workload (isNewJob)."""
    workloads = _workloads_of(job, informer)
    if not workloads:
        return None if has_pods or _has_begun(job) else _new_workload(job)
    workload = _own(workloads, job)
    if workload is None or len(workload["spec"]["podGroupTemplates"]) != 1:
        return None
    return None if _groups_of(workload, informer) else _new_group(job, workload)


def group_of_pods(job: Manifest, informer: Informer) -> str:
    """Return the name of the PodGroup for new pods of such a Job; "" = it has none of its own, or several."""
    workload = _own(_workloads_of(job, informer), job)
    if workload is None or len(workload["spec"]["podGroupTemplates"]) != 1:
        return ""
    group = _own(_groups_of(workload, informer), job)
    return name_of(group) if group is not None else ""


def _has_begun(job: Manifest) -> bool:
    status = status_of(job)
    has_status = any(status.get(field) for field in ("startTime", "succeeded", "failed"))
    return has_status or condition(job, "Suspended") is not None


def _own(found: Sequence[Manifest], job: Manifest) -> Manifest | None:
    """Return the only object, if the Job controls it."""
    controller = controller_of(found[0]) if len(found) == 1 else None
    return found[0] if controller is not None and controller["uid"] == uid_of(job) else None


def _workloads_of(job: Manifest, informer: Informer) -> list[Manifest]:
    wanted = {"apiGroup": "batch", "kind": "Job", "name": name_of(job)}
    return [
        each
        for each in _in_namespace_of(job, informer.of(WORKLOADS).values())
        if each["spec"].get("controllerRef") == wanted
    ]


def _groups_of(workload: Manifest, informer: Informer) -> list[Manifest]:
    name = name_of(workload)
    return [
        each
        for each in _in_namespace_of(workload, informer.of(POD_GROUPS).values())
        if _workload_name(each["spec"]) == name
    ]


def _workload_name(spec: Manifest) -> str:
    reference = (spec.get("podGroupTemplateRef") or {}).get("workload") or {}
    return str(reference.get("workloadName", ""))


def _in_namespace_of(owner: Manifest, objects: Iterable[Manifest]) -> Iterable[Manifest]:
    namespace = namespace_of(owner)
    return (each for each in objects if namespace_of(each) == namespace)


def _new_workload(job: Manifest) -> Manifest:
    name = name_of(job)
    suffix = f"-{template_hash({'uid': uid_of(job)})}"
    template = {
        "name": f"{name}-pgt-0",
        "schedulingPolicy": {"gang": {"minCount": job["spec"]["parallelism"]}},
    }
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "Workload",
        "metadata": {"name": name[: MAX_NAME - len(suffix)] + suffix, "namespace": namespace_of(job)},
        "spec": {
            "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": name},
            "podGroupTemplates": [template],
        },
    }


def _new_group(job: Manifest, workload: Manifest) -> Manifest:
    [template] = workload["spec"]["podGroupTemplates"]
    parts = [name_of(workload), template["name"]]
    suffix = f"-{template_hash({'names': parts})}"
    owner = {
        "apiVersion": GROUP_VERSION,
        "kind": "Workload",
        "name": name_of(workload),
        "uid": uid_of(workload),
    }
    reference = {"workloadName": name_of(workload), "podGroupTemplateName": template["name"]}
    return {
        "apiVersion": GROUP_VERSION,
        "kind": "PodGroup",
        "metadata": {
            "name": "-".join(parts)[: MAX_NAME - len(suffix)] + suffix,
            "namespace": namespace_of(job),
            "ownerReferences": [controller_reference(job), owner],
        },
        "spec": {
            "podGroupTemplateRef": {"workload": reference},
            "schedulingPolicy": template["schedulingPolicy"],
        },
    }
