"""What is read of a real cluster: the resources that the scheduler reads. Secrets are not among them."""

from typing import Final
from urllib.parse import quote

from schedviz.real_cluster.errors import ClusterError, Refused
from simulator.apiserver import resources
from simulator.apiserver.kinds.pod_groups import POD_GROUPS, WORKLOADS
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES, PODS
from simulator.words import gettext_noop


def _resource(name: str) -> Resource:
    plural, _, group = name.partition(".")
    found = resources.find_built_in(group, plural)
    assert found is not None, name
    return found


NEEDED: Final[dict[Resource, str]] = {
    NODES: gettext_noop("which nodes there are, and what each of them lacks"),
    PODS: gettext_noop("the room that they take on the nodes; one that seems to have room may be full"),
}
"""Without these there is no answer about the whole cluster."""
READ: Final[dict[Resource, str]] = {
    _resource(name): unknown
    for name, unknown in {
        "namespaces": gettext_noop(
            "the labels of namespaces, which namespaceSelectors of affinity terms read"
        ),
        "priorityclasses.scheduling.k8s.io": gettext_noop("which PriorityClass could be proposed"),
        "poddisruptionbudgets.policy": gettext_noop("which pods are protected from preemption"),
        "services": gettext_noop("the constraints by which pods of a Service are spread"),
        "replicasets.apps": gettext_noop("the constraints by which pods of a ReplicaSet are spread"),
        "statefulsets.apps": gettext_noop("the constraints by which pods of a StatefulSet are spread"),
        "replicationcontrollers": gettext_noop(
            "the constraints by which pods of a ReplicationController are spread"
        ),
        "persistentvolumeclaims": gettext_noop(
            "whether claims are bound; pods with such claims seem to lack them"
        ),
        "persistentvolumes": gettext_noop("which volumes there are, and in which zones"),
        "storageclasses.storage.k8s.io": gettext_noop("whether claims wait for their first consumer"),
        "csinodes.storage.k8s.io": gettext_noop("how many volumes a node can attach"),
        "csidrivers.storage.k8s.io": gettext_noop("which drivers report the capacity of their storage"),
        "csistoragecapacities.storage.k8s.io": gettext_noop("where storage has capacity for new volumes"),
        "volumeattachments.storage.k8s.io": gettext_noop("which volumes are attached beside those of pods"),
        "deviceclasses.resource.k8s.io": gettext_noop("the classes of devices"),
        "resourceslices.resource.k8s.io": gettext_noop("which devices the nodes have"),
        "resourceclaimtemplates.resource.k8s.io": gettext_noop("the templates of resource claims"),
        "resourceclaims.resource.k8s.io": gettext_noop("which devices are allocated"),
    }.items()
}
"""The other resources, with what is unknown where one cannot be read."""
GROUPS: Final[dict[Resource, str]] = {POD_GROUPS: gettext_noop("which pods are scheduled as a group")}
"""Read where their gate is on."""
FOLLOWED: Final[dict[Resource, str]] = {
    **READ,
    **{
        _resource(name): unknown
        for name, unknown in {
            "limitranges": gettext_noop("which defaults new pods of a branch get"),
            "resourcequotas": gettext_noop("which pods a branch refuses"),
            "runtimeclasses.node.k8s.io": gettext_noop("the overhead of new pods of a branch"),
            "deployments.apps": gettext_noop("which Deployments own ReplicaSets"),
            "daemonsets.apps": gettext_noop("which DaemonSets own pods"),
            "controllerrevisions.apps": gettext_noop("the revisions of DaemonSets and StatefulSets"),
            "jobs.batch": gettext_noop("which Jobs own pods"),
            "cronjobs.batch": gettext_noop("which CronJobs own Jobs"),
            "events": gettext_noop("what the scheduler says of its attempts"),
        }.items()
    },
    **GROUPS,
    WORKLOADS: gettext_noop("the templates of pod groups"),
    **NEEDED,
}
"""The resources that a mirror lists and watches: those that the scheduler and the controllers of the
simulation read, and the Events of the scheduler. The ClusterRole of the Helm chart names the same ones."""


ROOM: Final = (PODS, _resource("persistentvolumeclaims"), _resource("resourceclaims.resource.k8s.io"))
"""The resources of all namespaces that say what room the nodes have."""
FIELD_SELECTORS: Final = {
    PODS: "status.phase!=Succeeded,status.phase!=Failed",
    _resource("events"): "involvedObject.kind=Pod",
}
"""The scheduler sees no pods that have ended, and its Events are about pods."""


def fault_of_needed(resource: Resource, refused: Refused, otherwise: str = "") -> ClusterError:
    """Return the error where there is no answer without a resource that is refused. ``otherwise``: what there
    is without the permission."""
    if not refused.is_forbidden:
        return refused
    further = f"; {otherwise}" if otherwise else ""
    return ClusterError(f"no permission to list {resource.plural}: {refused}{further}")


def say_unread(resource: Resource, refused: Refused, unknown: str) -> str:
    """Return why a resource is not read, and what is unknown thereby. Raises the refusal where it does not
    only mean that the resource is forbidden or not served."""
    if not (refused.is_forbidden or refused.is_missing):
        raise refused
    why = "forbidden" if refused.is_forbidden else f"not served as {resource.api_version}"
    return f"{resource.plural} ({why}): {unknown}"


def say_elsewhere(resource: Resource, unknown: str) -> str:
    """Return what is unknown where a resource may be read in single namespaces only."""
    return f"{resource.plural} of other namespaces (forbidden): {unknown}"


def list_path(resource: Resource, namespace: str = "") -> str:
    """Return the path of a list. ``namespace``: of the objects; "" = all."""
    prefix = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
    within = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{prefix}{within}/{resource.plural}"
