"""Claims, volumes and storage classes, as the volume plugins look at them.

Facts that plugins share; the verdicts and their words are the plugins' own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Rows
from simulator.objects import quantity
from simulator.objects.node_selector import NodeSelector, NodeSelectorTerm, node_selector
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

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


class ClaimReference(NamedTuple):
    """A pod's volume that is a claim. An ephemeral one is made for the pod and must be owned by it."""

    name: str
    ephemeral: bool


def pod_volumes(pod: Pod) -> Sequence[Mapping[str, Any]]:
    return pod.spec.get("volumes") or ()


def claim_reference(pod: Pod, volume: Mapping[str, Any]) -> ClaimReference | None:
    """None for a volume that is no claim. The claim of an ephemeral volume is named after pod and volume
    (staging/src/k8s.io/component-helpers/storage/ephemeral/ephemeral.go, v1.34)."""
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
    """The claims that the pod names itself: those of ephemeral volumes are not among them."""
    return (reference.name for reference in claim_references(pod) if not reference.ephemeral)


def find_claim(cluster: Cluster, pod: Pod, name: str) -> Manifest | None:
    return cluster.objects(PVCS).get(f"{pod.namespace}/{name}")


def disowned(pod: Pod, claim: Manifest) -> str | None:
    """Why an ephemeral volume's claim cannot be used: somebody else made it. None where it is the pod's."""
    for owner in claim["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            if owner.get("uid") == pod.uid:
                return None
            break
    name = claim["metadata"]["name"]
    return f"PVC {pod.namespace}/{name} was not created for pod {pod.key} (pod is not owner)"


def not_found(kind: str, name: str) -> str:
    """The API's words for an object that is not there; ``kind`` as in ``storageclass.storage.k8s.io``."""
    return f'{kind} "{name}" not found'


def annotations(manifest: Manifest) -> Mapping[str, str]:
    return manifest["metadata"].get("annotations") or {}


def with_annotations(manifest: Manifest, new: Mapping[str, str]) -> Manifest:
    """The manifest itself where it has them already."""
    old = annotations(manifest)
    if new.items() <= old.items():
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": {**old, **new}}}


def claim_reference_to(claim: Manifest) -> Manifest:
    """What a volume's claimRef says of this claim."""
    metadata = claim["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": metadata.get("namespace") or "default",
        "name": metadata["name"],
        "uid": metadata.get("uid", ""),
    }


def class_name(manifest: Manifest) -> str:
    """The storage class of a claim or a volume, "" without one: the beta annotation still wins."""
    name: str = annotations(manifest).get(BETA_STORAGE_CLASS, manifest["spec"].get("storageClassName") or "")
    return name


def fully_bound(claim: Manifest) -> bool:
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in annotations(claim)


def requested_storage(claim: Manifest) -> quantity.Nanos | None:
    """What a claim asks for; None where it does not say."""
    requests = (claim["spec"].get("resources") or {}).get("requests") or {}
    return quantity.parse(requests["storage"]) if "storage" in requests else None


def capacity(volume: Manifest) -> quantity.Nanos:
    return quantity.parse((volume["spec"].get("capacity") or {}).get("storage", 0))


def reserved_for(volume: Manifest, claim: Manifest) -> bool:
    """Whether the volume is bound, or bound beforehand, to this claim (IsVolumeBoundToClaim)."""
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
    """The nodes that can reach a volume; None = all (CheckNodeAffinity in component-helpers/storage/volume).

    Upstream asks by labels alone, without a node's name, and a node without a name passes all field
    selectors: they are left out here.
    """
    selector = node_selector((volume["spec"].get("nodeAffinity") or {}).get("required"))
    if selector is None or any(term.fields and not term.expressions for term in selector):
        return None
    return tuple(NodeSelectorTerm(term.expressions, ()) for term in selector)


def csi_node_column(
    cluster: Cluster, key: tuple[str, ...], ask: Callable[[Manifest | None], Any], dtype: Any
) -> Any:
    """A column of what ``ask`` says of each node's CSINode (None where there is none), kept until a node or
    a CSINode changes."""

    def compute(rows: Rows | slice) -> Any:
        csi_nodes = cluster.objects(CSI_NODES)
        nodes = [cluster.nodes[row] for row in np.arange(cluster.width)[rows].tolist()]
        return np.array([ask(csi_nodes.get(node.name)) if node else 0 for node in nodes], dtype=dtype)

    return cluster.node_column((*key, cluster.objects_version(CSI_NODES)), compute)
