"""Which kinds of a dump are imported, and why the others are not."""

from typing import Final, Literal

from simulator.apiserver import resources
from simulator.apiserver.resource import Resource

IMPORTED_RESOURCES: Final = (
    *("namespaces", "limitranges", "resourcequotas", "priorityclasses.scheduling.k8s.io"),
    *("runtimeclasses.node.k8s.io", "nodes", "csinodes.storage.k8s.io"),
    *("storageclasses.storage.k8s.io", "csidrivers.storage.k8s.io", "csistoragecapacities.storage.k8s.io"),
    *("persistentvolumes", "persistentvolumeclaims", "volumeattachments.storage.k8s.io", "services"),
    *("deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "cronjobs.batch"),
    *("jobs.batch", "controllerrevisions.apps", "replicationcontrollers", "poddisruptionbudgets.policy"),
    *("deviceclasses.resource.k8s.io", "resourceslices.resource.k8s.io"),
    *("workloads.scheduling.k8s.io", "podgroups.scheduling.k8s.io"),
    *("resourceclaimtemplates.resource.k8s.io", "timetables.schedviz", "pods"),
    "resourceclaims.resource.k8s.io",
)
"""The resources that the scheduler, a controller or the admission of pods reads, in the order in which they
are written: owners before their dependents."""
PRIVATE_RESOURCES: Final = frozenset({"secrets", "configmaps"})
"""Resources that are not imported because they may contain secrets."""
UNSIMULATED_RESOURCES: Final = frozenset({"horizontalpodautoscalers.autoscaling"})
"""Resources that change pods in a real cluster, but have no controller in a sandbox."""
ADMISSION_GROUP: Final = "admissionregistration.k8s.io"
"""The group of admission policies and webhooks. They are not imported, as a sandbox neither calls nor asks
them."""

KindOutcome = Literal[
    "taken", "private", "unread", "unsimulated", "admission", "custom", "version", "gated", "untyped"
]
"""Whether the objects of a kind are imported ("taken"), or why they are left out: they may contain secrets
("private"), no component reads them ("unread"), they have no controller ("unsimulated"), they admit the
requests of a real cluster ("admission"), they are custom resources ("custom"), only another version of the
kind is known ("version"), its feature gate is off ("gated"), or apiVersion or kind is missing ("untyped")."""


def kind_outcome(api_version: str, kind: str, resource: Resource | None) -> KindOutcome:
    """Return the outcome for the objects of a kind. ``resource``: None if it is not a known one."""
    if resource is None:
        if resources.find_unserved(api_version, kind) is not None:
            return "gated"
        known = any(each.kind == kind for each in resources.BUILT_IN)
        return "version" if known and "." not in _custom_group(api_version) else "custom"
    if resource.id in IMPORTED_RESOURCES:
        return "taken"
    if resource.id in PRIVATE_RESOURCES:
        return "private"
    if resource.id in UNSIMULATED_RESOURCES:
        return "unsimulated"
    if resource.group == ADMISSION_GROUP:
        return "admission"
    return "unread" if resource.group in resources.BUILT_IN_GROUPS else "custom"


def _custom_group(api_version: str) -> str:
    """Return the group, or "" if it is one of Kubernetes'."""
    group, slash, _ = api_version.rpartition("/")
    return group if slash and not group.endswith(".k8s.io") else ""
