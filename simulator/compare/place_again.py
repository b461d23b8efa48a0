"""The objects of a cluster whose bound pods are to be placed again, as if all had just been created."""

from collections.abc import Container
from typing import Final

from msgspec.structs import replace

from simulator.api import SECOND, Manifest
from simulator.apiserver.kinds.pods.annotations import MIRROR
from simulator.apiserver.resources import PODS
from simulator.compare.workload import ComparedWorkload
from simulator.objects.metadata import annotations_of, is_terminating, uid_of
from simulator.objects.owner_references import controller_of
from simulator.objects.status import FINISHED_PHASES, phase_of, status_of, with_status

CLAIMS: Final = "resourceclaims.resource.k8s.io"
ATTACHMENTS: Final = "volumeattachments.storage.k8s.io"
KEPT_STATUS: Final = ("qosClass", "resourceClaimStatuses")
"""The fields of a pod's status that do not depend on its node."""
MAX_PACE: Final = SECOND // 100
"""The pace of cycles, if that of the sandbox is longer: about that of kube-scheduler. With a pace that people
can follow, a thousand pods would take longer than most comparisons last."""


def place_pods_again(workload: ComparedWorkload) -> ComparedWorkload:
    """Return the workload with its bound pods without nodes, in the order of their creation, behind all other
    objects. So all are in the queue at the start.

    Pods that have ended or are being deleted stay as they are, and so do static pods. Allocations of devices
    and attachments of volumes are released: the pods that had them are placed again. Bound volumes stay
    where they are."""
    pods = [
        (change, pod)
        for change in workload.objects
        if change.resource == PODS.id and (pod := change.object) is not None and is_placed_again(pod)
    ]
    # Of the same second, the order of the workload stays.
    pods.sort(key=lambda each: each[1]["metadata"].get("creationTimestamp") or "")
    nodes = {change.key: pod["spec"]["nodeName"] for change, pod in pods}
    uids = {uid_of(pod) for _, pod in pods}
    others = [
        replace(change, object=_released(change.object, uids)) if change.resource == CLAIMS else change
        for change in workload.objects
        if change.resource != ATTACHMENTS and not (change.resource == PODS.id and change.key in nodes)
    ]
    placed = [replace(change, object=without_node(pod)) for change, pod in pods]
    return replace(
        workload, objects=[*others, *placed], pace=min(workload.pace, MAX_PACE), nodes_before=nodes
    )


def is_placed_again(pod: Manifest) -> bool:
    """Whether a scheduler could have given the pod its node, and the pod has not ended."""
    if not pod["spec"].get("nodeName") or is_terminating(pod) or phase_of(pod) in FINISHED_PHASES:
        return False
    owner = controller_of(pod)
    return MIRROR not in annotations_of(pod) and (owner is None or owner.get("kind") != "Node")


def without_node(pod: Manifest) -> Manifest:
    spec = {field: value for field, value in pod["spec"].items() if field != "nodeName"}
    kept = {field: value for field, value in status_of(pod).items() if field in KEPT_STATUS}
    return {**pod, "spec": spec, "status": {"phase": "Pending", **kept}}


def _released(claim: Manifest | None, uids: Container[str]) -> Manifest | None:
    """Return the claim of devices without its allocation, if all pods for which it is reserved are placed
    again."""
    users = status_of(claim or {}).get("reservedFor") or ()
    if claim is None or not users or not all(user.get("uid") in uids for user in users):
        return claim
    return with_status(claim, allocation=None, reservedFor=None, devices=None)
