"""PreBind of DynamicResources: the allocations are written, and the pod becomes a consumer of its claims
(bindClaim in dynamicresources.go). Upstream writes the finalizer and the status one after the other;
here they are one write."""

from typing import Final, NamedTuple

from simulator.api import Manifest, Micros
from simulator.apiserver.component_writes import ComponentWrites
from simulator.cluster.cluster import Cluster
from simulator.framework.handle import Client
from simulator.framework.status import PluginError, Status, error
from simulator.kernel.requests import Refused, Steps, Wait, Write
from simulator.objects.metadata import with_metadata, without_finalizer
from simulator.objects.pod import Pod
from simulator.objects.status import with_status
from simulator.objects.timestamps import timestamp
from simulator.plugins.dynamic_resources.allocated_devices import AllocatedDevices
from simulator.plugins.dynamic_resources.create_claim import create_claim, name_in_status
from simulator.plugins.dynamic_resources.extended_resources import ExtendedResources
from simulator.plugins.dynamic_resources.pod_claims import ClaimsState, is_reserved_for, reservations
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, ResourceClaim

FINALIZER: Final = "resource.kubernetes.io/delete-protection"
ATTEMPTS: Final = 5
RETRY_PERIOD: Final[Micros] = 10_000
"""The interval between retries, the same as retry.DefaultRetry of client-go."""


class ClaimBinding(NamedTuple):
    """What the writes of one PreBind share."""

    client: Client
    cluster: Cluster
    pod: Pod
    state: ClaimsState
    stamps: bool
    """Whether the time of the allocation is written, which the wait for binding conditions needs."""


def bind_claims(binding: ClaimBinding) -> Steps[Status | None]:
    """Write each claim that is not reserved for the pod yet. If a write fails, those before it stay:
    Unreserve undoes them."""
    state = binding.state
    for claim in state.claims:
        if state.extended is not None and claim is state.extended.claim:
            status = yield from _bind_extended_claim(binding, state.extended)
        else:
            status = yield from _bind_claim(binding, claim, state.allocations.get(claim.uid))
        if status is not None:
            return status
    return None


def _bind_extended_claim(binding: ClaimBinding, extended: ExtendedResources) -> Steps[Status | None]:
    """Create the claim for extended resources, and bind it. Nothing is to be done where the node has all
    resources itself."""
    client, _, pod, state, _ = binding
    allocation = state.allocations.get(extended.claim.uid)
    needed = extended.claim_for(state.needed_on_node)
    if allocation is None or not needed.requests:
        return None
    created = yield from create_claim(client, needed)
    if isinstance(created, Status):
        return created
    state.created = created
    status = yield from _bind_claim(binding, created, allocation)
    binding.cluster.object_index(AllocatedDevices).end(extended.claim.uid)
    if status is None:
        name_in_status(client, pod, created.name, extended.mappings_for(state.needed_on_node))
    return status


def _bind_claim(
    binding: ClaimBinding, claim: ResourceClaim, allocation: Manifest | None
) -> Steps[Status | None]:
    client, cluster, pod, _, stamps = binding
    refused = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            yield Wait(client.clock() + RETRY_PERIOD)
        current = client.get(RESOURCE_CLAIMS, claim.key)
        if current is None or current["metadata"].get("uid", "") != claim.uid:
            return error(f'resourceclaims.resource.k8s.io "{claim.name}" not found')
        if allocation is None and is_reserved_for(current, pod):
            return None
        try:
            bound = bound_claim(current, claim, pod, allocation)
            if stamps:
                bound = _with_allocation_time(bound, client.clock())
        except PluginError as fault:
            return error(str(fault))
        outcome = yield Write(ComponentWrites.update_by_component(RESOURCE_CLAIMS, current, bound))
        if not isinstance(outcome, Refused):
            # The next cycles see it before the watch shows it (AssumeClaimAfterAPICall).
            cluster.set_object(RESOURCE_CLAIMS, claim.key, bound)
            cluster.object_index(AllocatedDevices).end(claim.uid)
            # Unreserve, if it comes to that, finds what was written.
            yield Wait(client.clock())
            return None
        refused = outcome.message
        if outcome.reason != "Conflict":
            break
    return error(f"updating ResourceClaim {claim.key}: {refused}")


def bound_claim(current: Manifest, claim: ResourceClaim, pod: Pod, allocation: Manifest | None) -> Manifest:
    """Return the claim with the allocation, if it has none, and with the pod among its consumers. Raises
    PluginError if others have changed the claim."""
    if current["metadata"].get("deletionTimestamp"):
        raise PluginError(f"claim {claim.key} got deleted in the meantime")
    bound = current
    if allocation is not None:
        if (current.get("status") or {}).get("allocation") is not None:
            raise PluginError(f"claim {claim.key} got allocated elsewhere in the meantime")
        finalizers = current["metadata"].get("finalizers") or []
        if FINALIZER not in finalizers:
            bound = with_metadata(bound, finalizers=[*finalizers, FINALIZER])
        bound = with_status(bound, allocation=allocation)
    consumer = {"resource": "pods", "name": pod.name, "uid": pod.uid}
    return with_status(bound, reservedFor=[*reservations(current), consumer])


def _with_allocation_time(claim: Manifest, now: Micros) -> Manifest:
    allocation = claim["status"].get("allocation")
    if allocation is None or allocation.get("allocationTimestamp"):
        return claim
    return with_status(claim, allocation={**allocation, "allocationTimestamp": timestamp(now)})


def delete_claim(client: Client, claim: ResourceClaim) -> None:
    """Delete a claim that the scheduler has made, without waiting for the outcome (deleteClaim). Upstream
    removes the finalizer in a request before."""
    deletion = {"deletionTimestamp": timestamp(client.clock()), "deletionGracePeriodSeconds": 0}

    def deleted(current: Manifest) -> Manifest:
        return with_metadata(without_finalizer(current, FINALIZER), **deletion)

    client.update(RESOURCE_CLAIMS, claim.key, claim.uid, deleted)


def without_consumer(claim: Manifest, pod: Pod) -> Manifest:
    """Return the claim without the pod among its consumers; the claim itself if the pod is none."""
    if not is_reserved_for(claim, pod):
        return claim
    others = [consumer for consumer in reservations(claim) if consumer["uid"] != pod.uid]
    return with_status(claim, reservedFor=others or None)


def without_allocation(claim: Manifest) -> Manifest:
    """Return the claim without consumers, allocation and the status of its devices."""
    return with_status(claim, reservedFor=None, allocation=None, devices=None)
