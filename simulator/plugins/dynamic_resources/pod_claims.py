"""The ResourceClaims of a pod (foreachPodResourceClaim in dynamicresources.go, and Name in
staging/src/k8s.io/dynamic-resource-allocation/resourceclaim/resourceclaim.go), and their state in one
scheduling cycle (stateData)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Ints, Rows
from simulator.objects.node_selector import NodeSelector
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.plugins.dynamic_resources.allocated_devices import AllocatedDevices, AllocatedState
from simulator.plugins.dynamic_resources.allocator import ClaimAllocation, allocate
from simulator.plugins.dynamic_resources.device_selectors import ClaimError, class_expressions, device_classes
from simulator.plugins.dynamic_resources.extended_resources import ExtendedResources
from simulator.plugins.dynamic_resources.node_devices import NodeDevices
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, ResourceClaim
from simulator.plugins.dynamic_resources.results import check_node_selectors
from simulator.versions.kubernetes_version import KubernetesVersion


def claims_of_pod(cluster: Cluster, pod: Pod, version: KubernetesVersion) -> Iterator[Manifest]:
    """Yield the claims in the pod's order; one that the pod lists twice comes twice. Raises ClaimError for
    the first that cannot be used."""
    for _, claim in named_claims_of_pod(cluster, pod, version):
        yield claim


def named_claims_of_pod(
    cluster: Cluster, pod: Pod, version: KubernetesVersion
) -> Iterator[tuple[str, Manifest]]:
    """Yield the same, each with its name in the pod's ``spec.resourceClaims``. Raises ClaimError."""
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
        if not reference.get("resourceClaimName") and not is_owner(pod, claim):
            word = "Pod" if version.owner_reason_is_capitalized else "pod"
            raise ClaimError(
                f"ResourceClaim {pod.namespace}/{name} was not created for {word} {pod.key} "
                f"({word} is not owner)"
            )
        yield reference["name"], claim


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


def is_owner(pod: Pod, claim: Manifest) -> bool:
    """Return whether the claim was created for the pod (IsForPod)."""
    owner = controller_of(claim)
    return owner is not None and owner["uid"] == pod.uid


STATE = "DynamicResources"


@dataclass
class ClaimsState:
    """Shared by all clones of the CycleState, as upstream."""

    claims: list[ResourceClaim] = field(default_factory=list)
    """The claims, in the order of the pod; the one for extended resources is the last."""
    extended: ExtendedResources | None = None
    selectors: list[tuple[int, NodeSelector]] = field(default_factory=list)
    """Indices of allocated claims, and the nodes on which they can be used."""
    failed: set[int] = field(default_factory=set)
    """Indices of allocated claims whose devices did not become ready."""
    unavailable: set[int] = field(default_factory=set)
    """Indices of allocated claims that some node cannot use: for PostFilter."""
    allocations: dict[str, Manifest] = field(default_factory=dict)
    """Uid of a claim -> the allocation that Reserve chose."""
    needed_on_node: int = 0
    """The extended resources for which the chosen node needs a claim."""
    node_allocatable: list[Manifest] = field(default_factory=list)
    """What the claims give the pod of the chosen node's resources, as its status says it."""
    created: ResourceClaim | None = None
    """The claim for them that PreBind has created."""

    def claims_to_deallocate(self, pod: Pod) -> list[ResourceClaim]:
        """Return the claims that some node could not use, and that no other pod uses; each once."""
        found = {self.claims[index].uid: self.claims[index] for index in sorted(self.unavailable)}
        return [
            claim
            for claim in found.values()
            if (self.extended is None or claim is not self.extended.claim)
            and [consumer["uid"] for consumer in reservations(claim.manifest)] in ([], [pod.uid])
        ]

    @property
    def left_over(self) -> ResourceClaim | None:
        """The claim for extended resources that an earlier attempt has left."""
        return self.extended.claim if self.extended is not None and self.extended.is_leftover else None

    def to_allocate(self, needed: int = 0) -> list[ResourceClaim]:
        """Return the claims without an allocation. ``needed``: the extended resources for which a node needs
        a claim; without any, a pod that has no other claim needs none."""
        claims = [claim for claim in self.claims if claim.allocation is None]
        if self.extended is None:
            return claims
        if not needed and len(self.claims) == 1:
            return []
        return [self.extended.claim_for(needed) if each is self.extended.claim else each for each in claims]

    def bound_claims(self) -> list[str]:
        """Return the keys of the claims that are there for the pod after PreBind has written them."""
        keys = [each.key for each in self.claims if self.extended is None or each is not self.extended.claim]
        return keys if self.created is None else [*keys, self.created.key]

    def needed(self, cluster: Cluster, rows: Rows) -> Ints:
        """Return int64[n], for each node the extended resources for which it needs a claim."""
        if self.extended is None:
            return np.zeros(len(rows), dtype=np.int64)
        return self.extended.needed(cluster, rows)

    def claims_on(self, cluster: Cluster, row: int) -> list[ResourceClaim]:
        """Return the claims that are to be allocated on the node in a row of the cluster."""
        return self.to_allocate(int(self.needed(cluster, np.array([row]))[0]))


def missing_class(cluster: Cluster, claim: ResourceClaim) -> str | None:
    """Return the error of the first request whose class does not exist (validateDeviceClass); None if all
    exist."""
    classes = device_classes(cluster)
    for request in claim.requests:
        if not request.alternatives:
            return f"resource claim {claim.key}, request {request.name}: unknown request type"
        for alternative in request.alternatives:
            if alternative.device_class not in classes:
                name = request.result_name(alternative)
                return f"request {name}: device class {alternative.device_class} does not exist"
    return None


def is_reserved_for(claim: Manifest, pod: Pod) -> bool:
    """Return whether the claim is reserved for the pod (IsReservedForPod)."""
    return any(consumer["uid"] == pod.uid for consumer in reservations(claim))


def reservations(claim: Manifest) -> Iterator[Manifest]:
    """Yield the consumers of a claim."""
    yield from (claim.get("status") or {}).get("reservedFor") or ()


def allocate_on(cluster: Cluster, claims: list[ResourceClaim], row: int) -> list[ClaimAllocation] | None:
    """Search for devices on the node in a row of the cluster, by the rules that NodeDevices has. Raises
    AllocationError, InvalidPools, OutOfWork."""
    devices = cluster.object_index(NodeDevices)
    allocated = AllocatedState(cluster.object_index(AllocatedDevices), devices.rules)
    found = allocate(claims, class_expressions(cluster), devices.pools(row), allocated)
    for each in found or ():
        check_node_selectors(each)
    return found
