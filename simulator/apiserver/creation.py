"""The parts of a new object that depend on the cluster around it: the status of a pod, the default storage
class and ingress class, the namespace."""

from collections.abc import Sequence
from typing import Any, Final

from simulator.api import Manifest, Micros
from simulator.apiserver.defaults import qos_class
from simulator.apiserver.ingress_validation import CLASS_ANNOTATION
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resources import NAMESPACES, Resource
from simulator.apiserver.status import NamespaceTerminating, NotFound
from simulator.objects.timestamps import timestamp

BUILT_IN_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
_DEFAULT_STORAGE: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_DEFAULT_INGRESS: Final = ("ingressclass.kubernetes.io/is-default-class",)


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
        default = _default_class("storageclasses.storage.k8s.io", _DEFAULT_STORAGE, overlay)
        if default is not None:
            claim["spec"]["storageClassName"] = default


def set_default_ingress_class(ingress: Manifest, overlay: Overlay) -> None:
    """Set the default class of an Ingress that has none, neither as a field nor as an annotation.

    Upstream: plugin/pkg/admission/network/defaultingressclass/admission.go."""
    annotations, spec = ingress["metadata"].get("annotations") or {}, ingress.setdefault("spec", {})
    if "ingressClassName" not in spec and CLASS_ANNOTATION not in annotations:
        default = _default_class("ingressclasses.networking.k8s.io", _DEFAULT_INGRESS, overlay)
        if default is not None:
            spec["ingressClassName"] = default


def _default_class(resource: str, annotations: Sequence[str], overlay: Overlay) -> str | None:
    """Return the name of the newest class that has one of the annotations; of several, the first by name."""
    defaults = [
        item["metadata"]
        for item in overlay.list(resource)
        if any((item["metadata"].get("annotations") or {}).get(each) == "true" for each in annotations)
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
