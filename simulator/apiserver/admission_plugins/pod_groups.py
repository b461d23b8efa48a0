"""The admission plugins about PodGroups. They act where the gate GenericWorkload is on.

Upstream: plugin/pkg/admission/scheduling/podgroupprotection, plugin/pkg/admission/podgroup and
plugin/pkg/admission/job.
"""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver.admission_plugins.plugin import AdmissionPlugin, Attributes
from simulator.apiserver.kinds.pod_groups import POD_GROUPS, WORKLOADS
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.served_features import enabled
from simulator.apiserver.shapes import value_at
from simulator.apiserver.status import Forbidden, forbidden
from simulator.objects.metadata import (
    finalizers_of,
    is_terminating,
    name_of,
    namespace_of,
    object_key,
    uid_of,
)
from simulator.objects.owner_references import controller_of
from simulator.objects.pod_group import POD_GROUP_PROTECTION
from simulator.versions.feature_gates import GENERIC_WORKLOAD

_JOBS: Final = "jobs.batch"
_REFERENCE: Final = "spec.podGroupTemplateRef.workload"


class PodGroupProtection(AdmissionPlugin):
    """A finalizer keeps each PodGroup while it has pods that are not over. A controller removes it
    (``simulator/controllers/pod_group_protection.py``)."""

    name = "PodGroupProtection"
    handles = {POD_GROUPS.id: ("CREATE",)}

    def admit(self, request: Attributes) -> None:
        known = finalizers_of(request.object)
        if POD_GROUP_PROTECTION not in known:
            request.object["metadata"]["finalizers"] = [*known, POD_GROUP_PROTECTION]


class PodGroupWorkloadExists(AdmissionPlugin):
    """The Workload of a new PodGroup exists, with its template. A PodGroup of a file may have outlived its
    Workload in another cluster."""

    name = "PodGroupWorkloadExists"
    handles = {POD_GROUPS.id: ("CREATE",)}

    def validate(self, request: Attributes) -> None:
        reference = value_at(request.object, _REFERENCE)
        if reference is None or not request.is_strict:
            return
        name, template = reference["workloadName"], reference["podGroupTemplateName"]
        workload = request.overlay.get(WORKLOADS.id, object_key(namespace_of(request.object), name))
        if workload is None:
            detail = f'PodGroup rejected: Workload "{name}" not found'
        elif is_terminating(workload):
            detail = f'PodGroup rejected: Workload "{name}" is being deleted'
        elif all(each["name"] != template for each in workload["spec"]["podGroupTemplates"]):
            detail = f'PodGroup rejected: PodGroupTemplate "{template}" not found in Workload "{name}"'
        else:
            return
        raise Forbidden(POD_GROUPS.id, request.name, detail, [forbidden(_REFERENCE, detail)])


class JobValidation(AdmissionPlugin):
    """The parallelism of a Job whose pods are a gang does not change."""

    name = "JobValidation"
    handles = {_JOBS: ("UPDATE",)}

    def validate(self, request: Attributes) -> None:
        path, old = "spec.parallelism", request.old or {}
        if not enabled(GENERIC_WORKLOAD) or value_at(request.object, path) == value_at(old, path):
            return
        gang = _gang_of(old, request.overlay)
        if gang is not None:
            detail = (
                f'cannot change parallelism for a Job referencing gang-scheduled PodGroup "{name_of(gang)}"'
            )
            raise Forbidden(_JOBS, request.name, detail, [forbidden(path, detail)])


def _gang_of(job: Manifest, overlay: Overlay) -> Manifest | None:
    """Return the PodGroup with the policy gang to which the pods of a Job belong: the one that its template
    names, or one that it controls."""
    namespace = namespace_of(job)
    named = value_at(job, "spec.template.spec.schedulingGroup.podGroupName")
    if named is not None:
        found = overlay.get(POD_GROUPS.id, object_key(namespace, named))
        groups = [found] if found is not None else []
    else:
        groups = [each for each in overlay.list(POD_GROUPS.id, namespace) if _is_of(each, job)]
    return next((group for group in groups if "gang" in group["spec"]["schedulingPolicy"]), None)


def _is_of(group: Manifest, job: Manifest) -> bool:
    controller = controller_of(group)
    return controller is not None and controller["uid"] == uid_of(job)
