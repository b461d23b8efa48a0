"""The ResourceClaims of a pod (foreachPodResourceClaim in dynamicresources.go, and Name in
staging/src/k8s.io/dynamic-resource-allocation/resourceclaim/resourceclaim.go, v1.34)."""

from collections.abc import Iterator

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.plugins.dynamic_resources.errors import ClaimError

RESOURCE_CLAIMS = "resourceclaims.resource.k8s.io"


def claims_of_pod(cluster: Cluster, pod: Pod) -> Iterator[Manifest]:
    """Yield the claims in the pod's order; one that the pod lists twice comes twice. Raises ClaimError for
    the first that cannot be used."""
    claims = cluster.objects(RESOURCE_CLAIMS)
    for reference in pod.spec.get("resourceClaims") or ():
        name = claim_name(pod, reference)
        if not name:
            continue
        claim = claims.get(f"{pod.namespace}/{name}")
        if claim is None:
            raise ClaimError(f'could not find ResourceClaim "{pod.namespace}/{name}"')
        if claim["metadata"].get("deletionTimestamp"):
            raise ClaimError(f'resourceclaim "{name}" is being deleted')
        if not reference.get("resourceClaimName") and not _is_owner(pod, claim):
            raise ClaimError(
                f"ResourceClaim {pod.namespace}/{name} was not created for pod {pod.key} (pod is not owner)"
            )
        yield claim


def claim_name(pod: Pod, reference: Manifest) -> str:
    """Return the name of the claim of one of ``spec.resourceClaims``; "" if the pod needs no claim for it.
    Raises ClaimError if the name is not known."""
    if reference.get("resourceClaimName"):
        name: str = reference["resourceClaimName"]
        return name
    if not reference.get("resourceClaimTemplateName"):
        raise ClaimError(
            f'pod "{pod.key}", spec.resourceClaim "{reference["name"]}": none of the supported fields are set'
        )
    status = pod.manifest.get("status") or {}
    for generated in status.get("resourceClaimStatuses") or ():
        if generated["name"] == reference["name"]:
            return generated.get("resourceClaimName") or ""
    raise ClaimError(f'pod "{pod.key}": ResourceClaim not created yet')


def _is_owner(pod: Pod, claim: Manifest) -> bool:
    """Return whether the claim was created for the pod (IsForPod)."""
    owner = controller_of(claim)
    return owner is not None and owner["uid"] == pod.uid
