"""The parts of a new object that depend on the cluster around it: the status of a pod, the default storage
class, the namespace."""

from typing import Any, Final

from simulator.api import Manifest, Micros
from simulator.apiserver.defaults import qos_class
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resources import NAMESPACES, Resource
from simulator.apiserver.status import NamespaceTerminating, NotFound
from simulator.objects.timestamps import timestamp

BUILT_IN_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
_DEFAULT_STORAGE: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


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
    """Set the default storage class of a claim without one.

    Upstream: plugin/pkg/admission/storage/storageclass/setdefault/admission.go."""
    if "storageClassName" not in claim["spec"]:
        default = _default_storage_class(overlay)
        if default is not None:
            claim["spec"]["storageClassName"] = default


def _default_storage_class(overlay: Overlay) -> str | None:
    """Return the name of the newest default class; of several, the first by name."""
    defaults = [
        item["metadata"]
        for item in overlay.list("storageclasses.storage.k8s.io")
        if any((item["metadata"].get("annotations") or {}).get(each) == "true" for each in _DEFAULT_STORAGE)
    ]
    by_name = sorted(defaults, key=lambda metadata: str(metadata["name"]))
    newest = max(by_name, key=lambda metadata: str(metadata["creationTimestamp"]), default=None)
    return None if newest is None else str(newest["name"])


def check_namespace(resource: Resource, metadata: dict[str, Any], overlay: Overlay) -> None:
    name = metadata["namespace"]
    namespace = overlay.get(NAMESPACES.id, name)
    if namespace is None and name not in BUILT_IN_NAMESPACES:
        raise NotFound(NAMESPACES.id, name)
    if namespace and "deletionTimestamp" in namespace["metadata"]:
        raise NamespaceTerminating(resource.id, metadata.get("name", ""), name)
