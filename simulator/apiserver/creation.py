"""What the creation of an object takes from the cluster around it: the status of a new pod, the default
storage class, the namespace."""

from typing import Any, Final

from simulator.api import Manifest, Micros
from simulator.apiserver.defaults import qos_class
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resources import NAMESPACES, Resource
from simulator.apiserver.status import NamespaceTerminating, NotFound
from simulator.objects.timestamps import timestamp

BUILT_IN_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
_DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"


def initial_pod_status(pod: Manifest, now: Micros, *, keeps: bool) -> Manifest:
    """Return the status of a new pod: Pending, with its QoS class.

    ``keeps``: a pod of a scenario or a dump of a cluster, which already has a node, keeps its status.
    Upstream: pkg/registry/core/pod/strategy.go, PrepareForCreate."""
    spec = pod["spec"]
    status: Manifest = dict(pod.get("status", {})) if keeps else {}
    status.setdefault("phase", "Pending")
    status["qosClass"] = qos_class(pod)
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
                "lastTransitionTime": timestamp(now),
            }
        ]
    return status


def set_default_storage_class(claim: Manifest, overlay: Overlay) -> None:
    """Set the default storage class of a claim without one. Of several default classes the newest is used.

    Upstream: plugin/pkg/admission/storage/storageclass/setdefault/admission.go."""
    if "storageClassName" in claim["spec"]:
        return
    defaults = [
        item
        for item in overlay.list("storageclasses.storage.k8s.io")
        if item["metadata"].get("annotations", {}).get(_DEFAULT_CLASS) == "true"
    ]
    if defaults:
        newest = max(defaults, key=lambda item: item["metadata"]["creationTimestamp"])
        claim["spec"]["storageClassName"] = newest["metadata"]["name"]


def check_namespace(resource: Resource, metadata: dict[str, Any], overlay: Overlay) -> None:
    name = metadata["namespace"]
    namespace = overlay.get(NAMESPACES.id, name)
    if namespace is None and name not in BUILT_IN_NAMESPACES:
        raise NotFound(NAMESPACES.id, name)
    if namespace and "deletionTimestamp" in namespace["metadata"]:
        raise NamespaceTerminating(resource.id, metadata.get("name", ""), name)
