"""The claims of a StatefulSet's pods, and who owns them: by that they go with the set, with a pod that is
scaled away, or with nobody (persistentVolumeClaimRetentionPolicy; pkg/controller/statefulset, v1.34:
stateful_set_utils.go)."""

from simulator.api import Manifest
from simulator.controllers.ownership import controller_of, controller_reference, references, uid

KEEP = "Retain"


def claim_name(template: Manifest, pod: str) -> str:
    return f"{template['metadata']['name']}-{pod}"


def new_claim(manifest: Manifest, template: Manifest, name: str) -> Manifest:
    labels = {
        **(template["metadata"].get("labels") or {}),
        **(manifest["spec"]["selector"].get("matchLabels") or {}),
    }
    metadata = {**template["metadata"], "name": name, "labels": labels, "ownerReferences": []}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": template["spec"],
    }


def with_owner(claim: Manifest, manifest: Manifest, pod: Manifest, *, scaled_away: bool) -> Manifest:
    """The claim as the policy wants it owned; itself where it is, or where somebody else controls it
    (updateClaimOwnerRefForSetAndPod)."""
    policy = manifest["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    owner = None
    if scaled_away and policy.get("whenScaled", KEEP) != KEEP:
        owner = pod
    elif policy.get("whenDeleted", KEEP) != KEEP:
        owner = manifest
    ours = {uid(manifest), uid(pod)}
    controller = controller_of(claim)
    if controller is not None and controller["uid"] not in ours:
        return claim
    kept = [reference for reference in references(claim) if reference["uid"] not in ours]
    wanted = kept if owner is None else [*kept, controller_reference(owner)]
    if wanted == [*references(claim)]:
        return claim
    return {**claim, "metadata": {**claim["metadata"], "ownerReferences": wanted}}
