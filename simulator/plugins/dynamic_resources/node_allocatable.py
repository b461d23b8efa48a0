"""Devices that are cpu, memory or huge pages of their node: what a pod gets of them is added to its requests,
and both have to fit (nativedynamicresources.go, v1.36, with the feature gate DRANodeAllocatableResources)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.framework.handle import Client
from simulator.framework.node_batch import NodeBatch
from simulator.framework.status import Status, error, unresolvable, unschedulable
from simulator.objects.pod import Pod
from simulator.objects.pod_requests import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    Requests,
    pod_level_requests,
    pod_requests,
    to_amounts,
)
from simulator.objects.quantity import NANO, canonical
from simulator.objects.status import status_of, with_status
from simulator.plugins.dynamic_resources.allocator import ClaimAllocation

GATE: Final = "DRANodeAllocatableResources"
STATUSES: Final = "nodeAllocatableResourceClaimStatuses"


class NodeAllocatableError(Exception):
    """A device does not say how much of a resource it is. The message is upstream's."""


class NodeAllocatable:
    """What a pod would get of a node's resources by its claims."""

    def __init__(self, pod: Pod, allocated: Sequence[ClaimAllocation], names: Mapping[str, str]) -> None:
        """``names``: the uid of each claim, by the pod's name for it."""
        self._pod = pod
        self._allocated = allocated
        self._names = names

    def check(self, nodes: NodeBatch, index: int) -> Status | None:
        """Return the reason for which a node cannot give the pod its own requests and these devices; None if
        it can (calculateAndCheckNodeAllocatableResources)."""
        try:
            statuses = self.statuses()
        except NodeAllocatableError as fault:
            return error(str(fault))
        if not statuses:
            return None
        for status in statuses:
            if not status["containers"]:
                return unresolvable(
                    f"claim {status['resourceClaimName']}: node-allocatable resource claim not referenced by "
                    "any container within the pod"
                )
        manifest, from_claims = self._pod.manifest, _sum_of(self._allocated)
        demand = pod_requests(manifest, use_status=False, from_claims=from_claims)
        if pod_level_requests(self._pod.spec):
            without = pod_requests(manifest, use_status=False, from_claims=from_claims, pod_level=False)
            for name, nanos in demand.items():
                if without.get(name, 0) > nanos:
                    return unresolvable(
                        f"pod level request for {name} is insufficient to cover the aggregated container and "
                        "node-allocatable DRA requests"
                    )
        return _fits(to_amounts(demand), nodes, index)

    def statuses(self) -> list[Manifest]:
        """Return what the claims give the pod, as its status says it (buildNodeAllocatableDRAInfo). Raises
        NodeAllocatableError."""
        spec = self._pod.spec
        containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
        found = []
        for each in self._allocated:
            amounts = _amounts(each)
            if amounts:
                uid = each.claim.uid
                users = [c["name"] for c in containers for name in _claims(c) if self._names.get(name) == uid]
                resources = {resource: canonical(f"{nanos}n") for resource, nanos in amounts.items()}
                name = each.claim.name
                found.append({"resourceClaimName": name, "containers": users, "resources": resources})
        return sorted(found, key=lambda status: str(status["resourceClaimName"]))


def write_node_allocatable(client: Client, pod: Pod, statuses: list[Manifest]) -> None:
    """Write them into the pod's status (patchNodeAllocatableResourceClaimStatus)."""

    def with_statuses(manifest: Manifest) -> Manifest:
        return with_status(manifest, **{STATUSES: statuses})

    client.update("pods", pod.key, pod.uid, with_statuses)


def conflicting_claim(pods: Iterable[Pod], pod: Pod, claims: Sequence[str]) -> Status | None:
    """Return the reason for which a claim cannot be used as other pods of the node have node-allocatable
    resources of it (validateNodeAllocatableDRAClaimSharing). ``pods``: those of the node."""
    users: dict[str, set[str]] = {}
    for other in pods:
        if other.namespace == pod.namespace:
            for status in status_of(other.manifest).get(STATUSES) or ():
                users.setdefault(status["resourceClaimName"], set()).add(other.uid)
    for name in claims:
        consumers = users.get(name, set())
        if len(consumers) > 1:
            return unresolvable(f"node allocatable resource claim {name} shared by multiple pods")
        if consumers and pod.uid not in consumers:
            return unresolvable(f"node allocatable resource claim {name} is already used by another pod")
    return None


def _claims(container: Manifest) -> Iterator[str]:
    for each in (container.get("resources") or {}).get("claims") or ():
        yield each["name"]


def _sum_of(allocated: Sequence[ClaimAllocation]) -> Requests:
    total: Requests = {}
    for each in allocated:
        for name, nanos in _amounts(each).items():
            total[name] = total.get(name, 0) + nanos
    return total


def _amounts(of: ClaimAllocation) -> Requests:
    """Return what a claim's devices are of the node's resources. Raises NodeAllocatableError."""
    found: Requests = {}
    for taken in of.devices:
        for resource, mapping in taken.device.device.node_allocatable:
            nanos = NANO if mapping.multiplier is None else mapping.multiplier.nanos
            if mapping.capacity_key:
                if not taken.consumed:
                    raise NodeAllocatableError(
                        f"claim {of.claim.key}, device {taken.device.id.device}: ConsumedCapacity is nil, "
                        f"but Capacity key '{mapping.capacity_key}' is set in "
                        f"NodeAllocatableResourceMappings for resource {resource}"
                    )
                consumed = taken.consumed.get(mapping.capacity_key)
                if consumed is None:
                    continue
                nanos = -(-consumed.nanos * nanos // NANO)
            elif mapping.multiplier is None:
                nanos = 0
            found[resource] = found.get(resource, 0) + nanos
    return found


def _fits(demand: Mapping[str, int], nodes: NodeBatch, index: int) -> Status | None:
    """Return the reason for which a node lacks a resource (nodeFitsResources)."""
    reasons = []
    is_too_small = False
    large_pages = sorted(name for name in demand if name.startswith("hugepages-"))
    for name in (CPU, MEMORY, EPHEMERAL_STORAGE, *large_pages):
        amount = demand.get(name, 0)
        allocatable = int(nodes.take(nodes.cluster.allocatable.column(name))[index])
        if amount > 0 and amount > allocatable - int(nodes.requested(name)[index]):
            reasons.append(f"Insufficient {name}")
            is_too_small |= amount > allocatable
    if not reasons:
        return None
    return (unresolvable if is_too_small else unschedulable)(*reasons)
