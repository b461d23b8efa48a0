"""The claims of a StatefulSet's pods and their owners, which decide whether the claims are deleted with the
StatefulSet, with a pod that is scaled down, or not at all (persistentVolumeClaimRetentionPolicy;
pkg/controller/statefulset/stateful_set_utils.go)."""

from simulator.api import Manifest
from simulator.objects.metadata import uid_of, with_metadata
from simulator.objects.owner_references import controller_of, controller_reference, owner_references

RETAIN = "Retain"


def claim_name(template: Manifest, pod: str) -> str:
    """Return the name of a claim (getPersistentVolumeClaimName)."""
    return f"{template_name(template)}-{pod}"


def template_name(template: Manifest) -> str:
    """Return the name of a template; "" for one without a name: the API server accepts it, and refuses its
    claims."""
    name: str = template["metadata"].get("name", "")
    return name


def claim_from_template(stateful_set: Manifest, template: Manifest, name: str) -> Manifest:
    labels = {
        **(template["metadata"].get("labels") or {}),
        **(stateful_set["spec"]["selector"].get("matchLabels") or {}),
    }
    metadata = {**template["metadata"], "name": name, "labels": labels, "ownerReferences": []}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": template["spec"],
    }


def with_retention_owner(
    claim: Manifest, stateful_set: Manifest, pod: Manifest, *, scaled_down: bool
) -> Manifest:
    """Return the claim with the owner that the retention policy asks for; the claim itself if it has that
    one, or if another object controls it (updateClaimOwnerRefForSetAndPod)."""
    policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    owner = None
    if scaled_down and policy.get("whenScaled", RETAIN) != RETAIN:
        owner = pod
    elif policy.get("whenDeleted", RETAIN) != RETAIN:
        owner = stateful_set
    managed = {uid_of(stateful_set), uid_of(pod)}
    controller = controller_of(claim)
    if controller is not None and controller["uid"] not in managed:
        return claim
    kept = [reference for reference in owner_references(claim) if reference["uid"] not in managed]
    wanted = kept if owner is None else [*kept, controller_reference(owner)]
    return claim if wanted == [*owner_references(claim)] else with_metadata(claim, ownerReferences=wanted)
