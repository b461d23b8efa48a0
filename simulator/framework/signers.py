"""The fragments of a pod's signature that several plugins share
(staging/src/k8s.io/kube-scheduler/framework/signers.go).

They are as coarse as upstream's: host ports without their protocol and address, and no namespace."""

from typing import Any, Final

from simulator.objects.pod import Pod
from simulator.objects.pod_requests import is_extended_resource
from simulator.versions.features import Features

IMAGES: Final = "v1.Pod.Spec.CanonicalImageNames()"
LABELS: Final = "v1.Pod.Labels"
NODE_AFFINITY: Final = "v1.Pod.Spec.Affinity.NodeAffinity"
NODE_NAME: Final = "v1.Pod.Spec.NodeName"
NODE_SELECTOR: Final = "v1.Pod.Spec.Affinity.NodeSelector"
HOST_PORTS: Final = "v1.Pod.Spec.HostPorts()"
FEATURES: Final = "v1.Pod.Spec.Features()"
SCHEDULER_NAME: Final = "v1.Pod.Spec.SchedulerName"

Fragments = dict[str, Any]
"""The name of each fragment, and its value, which JSON can represent."""
NO_FRAGMENTS: Final[Fragments] = {}


def sign_host_ports(pod: Pod) -> Fragments:
    containers = (*(pod.spec.get("containers") or ()), *(pod.spec.get("initContainers") or ()))
    ports = {port.get("hostPort") for each in containers for port in each.get("ports") or ()}
    return {HOST_PORTS: sorted(filter(None, ports))}


def sign_resources(pod: Pod, features: Features) -> Fragments | None:
    """A pod has no signature that requests extended resources, where devices may serve these."""
    if features.enabled("DRAExtendedResource") and any(map(is_extended_resource, pod.requests)):
        return None
    return {"v1.Pod.Spec.ContainerResourcesAndOverheads()": pod.requests}


def sign_tolerations(pod: Pod) -> Fragments:
    tolerations = pod.spec.get("tolerations") or ()
    ordered = sorted(tolerations, key=lambda each: (each.get("key") or "", each.get("value") or ""))
    return {"v1.Pod.Spec.Tolerations": ordered}


def sign_volumes(pod: Pod) -> Fragments:
    """ConfigMaps and Secrets are left out: they do not matter, and differ between pods."""
    sources = [
        {key: value for key, value in volume.items() if key != "name"}
        for volume in pod.spec.get("volumes") or ()
        if not volume.get("configMap") and not volume.get("secret")
    ]
    return {"v1.Pod.Spec.Volumes.NonSyntheticSources()": sources}
