"""The pending pod's resource claims, and the devices that its requests can take."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from simulator.api import Manifest
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.plugins.dynamic_resources.bind_claims import without_allocation
from simulator.plugins.dynamic_resources.device_selectors import (
    AllocationError,
    ClaimError,
    class_expressions,
    is_selectable,
)
from simulator.plugins.dynamic_resources.node_devices import NodeDevices
from simulator.plugins.dynamic_resources.pod_claims import claim_name, reservations
from simulator.plugins.dynamic_resources.pool import PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import (
    RESOURCE_CLAIMS,
    DeviceID,
    DeviceRequest,
    parse_claim,
)
from simulator.what_if.edit import Edit, delete_object, update_object
from simulator.what_if.situation import Situation

PLUGIN = "DynamicResources"


class ClaimPart(NamedTuple):
    """An ``exactly`` or one entry of ``firstAvailable``, and where it is in the claim's manifest."""

    claim: Manifest
    key: str
    """The key of the claim."""
    path: tuple[str | int, ...]
    request: DeviceRequest
    name: str
    """The name: ``REQUEST`` or ``REQUEST/SUBREQUEST``."""


def pod_claim_keys(situation: Situation) -> Iterable[str]:
    """Return the keys of the pod's claims, each once."""
    keys: dict[str, None] = {}
    for reference in situation.pod.spec.get("resourceClaims") or ():
        try:
            name = claim_name(situation.pod, reference)
        except ClaimError:
            continue
        keys[f"{situation.pod.namespace}/{name}"] = None
    return keys


def unallocated_claims(situation: Situation) -> Iterator[tuple[str, Manifest]]:
    """Yield key and manifest of the pod's claims that are not allocated yet."""
    claims = situation.cluster.objects(RESOURCE_CLAIMS)
    for key in pod_claim_keys(situation):
        manifest = claims.get(key)
        if manifest is not None and not (manifest.get("status") or {}).get("allocation"):
            yield key, manifest


def claim_parts(situation: Situation) -> Iterator[ClaimPart]:
    for key, manifest in unallocated_claims(situation):
        for i, request in enumerate(parse_claim(manifest).requests):
            for j, alternative in enumerate(request.alternatives):
                inner = ("firstAvailable", j) if request.first_available else ("exactly",)
                path = ("spec", "devices", "requests", i, *inner)
                yield ClaimPart(manifest, key, path, alternative, request.result_name(alternative))


def devices_of(situation: Situation, row: int) -> list[PoolDevice]:
    """Return the devices that the node in a row of the cluster can use."""
    try:
        pools = situation.cluster.object_index(NodeDevices).pools(row)
    except AllocationError:
        return []
    return [device for pool in pools for device in pool.devices]


def can_take(situation: Situation, part: ClaimPart, device: PoolDevice) -> bool:
    """Whether the selectors of the class and of the request select a device, in use or not."""
    rules = situation.cluster.object_index(NodeDevices).rules
    expressions = class_expressions(situation.cluster).get(part.request.device_class)
    if expressions is None or not rules.allocates(device.device):
        return False
    own = tuple(each or "" for each in part.request.selectors)
    try:
        return is_selectable(device, (("", expressions), ("", own)))
    except AllocationError:
        return False


def listed_devices(devices: list[DeviceID]) -> str:
    """Return the pools and names of the first devices: ``node-1/gpu-0, node-1/gpu-1, …``."""
    named = [f"{each.pool}/{each.device}" for each in devices[:DEVICES_AT_MOST]]
    return ", ".join([*named, "…"] if len(named) < len(devices) else named)


def claims_without_pod(situation: Situation, pod: Pod) -> Iterator[Edit]:
    """Yield the edits for claims that only this pod uses: those created for it are deleted, the others are
    deallocated (simulator/controllers/resource_claim.py)."""
    for key, claim in situation.cluster.objects(RESOURCE_CLAIMS).items():
        owner = controller_of(claim)
        if owner is not None and owner["uid"] == pod.uid != "":
            yield delete_object(RESOURCE_CLAIMS, key)
        elif [each["uid"] for each in reservations(claim)] == [pod.uid]:
            yield update_object(RESOURCE_CLAIMS, key, claim, without_allocation(claim))


DEVICES_AT_MOST = 3
"""Maximum number of devices that :func:`listed_devices` names."""
