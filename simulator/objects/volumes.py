"""Properties of PersistentVolumes, PersistentVolumeClaims and storage classes that several plugins use."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.objects import quantity
from simulator.objects.metadata import annotations_of, name_of
from simulator.objects.node_selector import NodeSelector, NodeSelectorTerm, node_selector
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod

PVCS = "persistentvolumeclaims"
PVS = "persistentvolumes"
STORAGE_CLASSES = "storageclasses.storage.k8s.io"
CSI_NODES = "csinodes.storage.k8s.io"
CSI_DRIVERS = "csidrivers.storage.k8s.io"
CSI_STORAGE_CAPACITIES = "csistoragecapacities.storage.k8s.io"
VOLUME_ATTACHMENTS = "volumeattachments.storage.k8s.io"

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BETA_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
NO_PROVISIONER = "kubernetes.io/no-provisioner"

PROTECTION: Final = {
    PVCS: "kubernetes.io/pvc-protection",
    PVS: "kubernetes.io/pv-protection",
    "volumeattributesclasses.storage.k8s.io": "kubernetes.io/vac-protection",
}
"""The finalizer by which an object of each resource is kept while it is in use."""

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


class ClaimReference(NamedTuple):
    """A claim that a pod's volume refers to. The claim of an ephemeral volume must be owned by the pod."""

    name: str
    ephemeral: bool


def pod_volumes(pod: Pod) -> Sequence[Mapping[str, Any]]:
    return pod.spec.get("volumes") or ()


def claim_reference(pod: Pod, volume: Mapping[str, Any]) -> ClaimReference | None:
    """Return the claim that a volume refers to; None for a volume without claim. The claim of an ephemeral
    volume has the name ``<pod>-<volume>``
    (staging/src/k8s.io/component-helpers/storage/ephemeral/ephemeral.go)."""
    if volume.get("persistentVolumeClaim") is not None:
        return ClaimReference(volume["persistentVolumeClaim"].get("claimName") or "", ephemeral=False)
    if volume.get("ephemeral") is not None:
        return ClaimReference(f"{pod.name}-{volume['name']}", ephemeral=True)
    return None


def claim_references(pod: Pod) -> Iterator[ClaimReference]:
    for volume in pod_volumes(pod):
        reference = claim_reference(pod, volume)
        if reference is not None:
            yield reference


def claim_names(pod: Pod) -> Iterator[str]:
    """Yield the names of the pod's claims, without those of ephemeral volumes."""
    return (reference.name for reference in claim_references(pod) if not reference.ephemeral)


def ephemeral_claim_problem(pod: Pod, claim: Manifest) -> str | None:
    """Return the reason for which an ephemeral volume's claim cannot be used: it does not belong to the pod.
    None if it does."""
    owner = controller_of(claim)
    if owner is not None and owner.get("uid") == pod.uid:
        return None
    return f"PVC {pod.namespace}/{name_of(claim)} was not created for pod {pod.key} (pod is not owner)"


def not_found_message(kind: str, name: str) -> str:
    """Return the API's message for a missing object; ``kind`` as in ``storageclass.storage.k8s.io``."""
    return f'{kind} "{name}" not found'


def claim_reference_to(claim: Manifest) -> Manifest:
    """Return the claimRef of a volume that is bound to this claim."""
    metadata = claim["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": metadata.get("namespace") or "default",
        "name": metadata["name"],
        "uid": metadata.get("uid", ""),
    }


def storage_class_name(manifest: Manifest) -> str:
    """Return the storage class of a claim or a volume, "" without one: the beta annotation still wins."""
    name: str = annotations_of(manifest).get(
        BETA_STORAGE_CLASS, manifest["spec"].get("storageClassName") or ""
    )
    return name


def is_fully_bound(claim: Manifest) -> bool:
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in annotations_of(claim)


def requested_storage(claim: Manifest) -> quantity.Nanos | None:
    """Return the requested storage of a claim; None if it has no request."""
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return quantity.parse_quantity(requests["storage"]) if "storage" in requests else None


def volume_capacity(volume: Manifest) -> quantity.Nanos:
    return quantity.parse_quantity((volume["spec"].get("capacity") or {}).get("storage", 0))


def is_volume_bound_to_claim(volume: Manifest, claim: Manifest) -> bool:
    """Whether the volume is bound or pre-bound to this claim (IsVolumeBoundToClaim)."""
    reference = volume["spec"].get("claimRef")
    if not reference:
        return False
    metadata = claim["metadata"]
    return bool(
        reference.get("name") == metadata["name"]
        and reference.get("namespace") == (metadata.get("namespace") or "default")
        and (not reference.get("uid") or reference["uid"] == metadata.get("uid"))
    )


def volume_node_affinity(volume: Manifest) -> NodeSelector | None:
    """Return the required node affinity of a volume; None if all nodes match (CheckNodeAffinity in
    component-helpers/storage/volume).

    Field selectors are left out, because upstream matches the node's labels only, without its name, and then
    all field selectors match.
    """
    selector = node_selector((volume["spec"].get("nodeAffinity") or {}).get("required"))
    if selector is None or any(term.fields and not term.expressions for term in selector):
        return None
    return tuple(NodeSelectorTerm(term.expressions, ()) for term in selector)
