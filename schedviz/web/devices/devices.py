"""Devices and resource claims in the panels of nodes and pods."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from schedviz.store.past import Readable
from schedviz.web.picture.device_index import counts_for, pods_of_claim, pools_of
from simulator.api import Manifest
from simulator.objects.metadata import labels_of, name_of, namespace_of
from simulator.objects.pod import Pod
from simulator.objects.status import status_of
from simulator.plugins.dynamic_resources.device import DeviceCapacity
from simulator.plugins.dynamic_resources.device_selectors import ClaimError
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
from simulator.plugins.dynamic_resources.pod_claims import claim_name
from simulator.plugins.dynamic_resources.pool import Pool
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, DeviceRequest, parse_claim
from simulator.plugins.dynamic_resources.resource_slice import ResourceSlice, parse_slice

DEVICES_AT_MOST: Final = 64
"""The maximum number of devices of a node that its panel shows."""


class DeviceView(msgspec.Struct, frozen=True):
    name: str
    attributes: list[str]
    """The attributes and the capacity: ``model a100``."""
    claim: str
    """The key of the claim that has the device; "" if it is free."""
    pods: list[str]
    """The keys of the pods that use the claim."""


class PoolView(msgspec.Struct, frozen=True):
    name: str
    """The driver and the pool."""
    free: int
    count: int
    incomplete: bool
    duplicate: str
    devices: list[DeviceView]
    more: int
    """The number of devices that are not shown."""


class ClaimView(msgspec.Struct, frozen=True):
    entry: str
    """The name in the pod's spec."""
    key: str
    """The key of the claim; "" if there is none."""
    template: str
    requests: list[str]
    """The requests of the claim: ``gpus: 2 of class gpu``."""
    devices: list[str]
    """The allocated devices: ``node-1/gpu-0``."""
    others: list[str]
    """The keys of other pods that use the claim."""
    problem: str
    """The reason for which the claim cannot be used."""


def pools_of_node(sandbox: Readable, node: Manifest) -> list[PoolView]:
    """Return the pools of devices of a node, as the allocator sees them."""
    pools = pools_seen_by(sandbox, node)
    if not pools:
        return []
    users = _users(sandbox)
    return [_pool_view(pool, users) for pool in pools]


def pools_seen_by(sandbox: Readable, node: Manifest) -> tuple[Pool, ...]:
    """Return the pools of devices of a node, with the contents of the devices."""
    slices = [each for each in _slices(sandbox) if counts_for(each, name_of(node), labels_of(node))]
    return pools_of(slices)


def _slices(sandbox: Readable) -> Iterator[ResourceSlice]:
    for manifest in sandbox.list(RESOURCE_SLICES).items:
        yield parse_slice(manifest)


def _users(sandbox: Readable) -> dict[tuple[str, str, str], Manifest]:
    """Return a mapping: driver, pool and device -> the claim that has it."""
    return {
        (result["driver"], result["pool"], result["device"]): claim
        for claim in sandbox.list(RESOURCE_CLAIMS).items
        for result in _results(claim)
        if not result.get("adminAccess")
    }


def _results(claim: Manifest) -> list[Manifest]:
    allocation = status_of(claim).get("allocation") or {}
    found: list[Manifest] = (allocation.get("devices") or {}).get("results") or []
    return found


def _pool_view(pool: Pool, users: dict[tuple[str, str, str], Manifest]) -> PoolView:
    taken = [users.get(device.id) for device in pool.devices]
    shown = zip(pool.devices[:DEVICES_AT_MOST], taken, strict=False)
    return PoolView(
        name=str(pool),
        free=taken.count(None),
        count=len(taken),
        incomplete=pool.incomplete,
        duplicate=pool.invalid.removeprefix("duplicate device name "),
        devices=[
            DeviceView(
                name=each.id.device,
                attributes=[*_attributes(each.device.attributes, each.device.capacity)],
                claim=_key(claim) if claim is not None else "",
                pods=[*pods_of_claim(claim)] if claim is not None else [],
            )
            for each, claim in shown
        ],
        more=max(len(taken) - DEVICES_AT_MOST, 0),
    )


def _attributes(attributes: Manifest, capacity: Sequence[tuple[str, DeviceCapacity]]) -> Iterator[str]:
    for name, value in attributes.items():
        [shown] = value.values() if len(value) == 1 else ("",)
        yield f"{name} {str(shown).lower() if isinstance(shown, bool) else shown}"
    for name, each in capacity:
        yield f"{name} {each.value.text}"


def _key(claim: Manifest) -> str:
    return f"{namespace_of(claim)}/{name_of(claim)}"


def claims_of_pod(sandbox: Readable, manifest: Manifest) -> list[ClaimView]:
    """Return the claims of a pod, in the order of its spec."""
    references = manifest["spec"].get("resourceClaims") or ()
    if not references:
        return []
    pod = Pod.parse(manifest)
    return [_claim_view(sandbox, pod, reference) for reference in references]


def _claim_view(sandbox: Readable, pod: Pod, reference: Manifest) -> ClaimView:
    template = reference.get("resourceClaimTemplateName") or ""
    problem, claim, key = "", None, ""
    try:
        name = claim_name(pod, reference)
        key = f"{pod.namespace}/{name}" if name else ""
        claim = sandbox.get(RESOURCE_CLAIMS, key) if name else None
        if name and claim is None:
            problem = f'could not find ResourceClaim "{key}"'
    except ClaimError as missing:
        problem = str(missing)
    if claim is None:
        return ClaimView(reference["name"], "", template, [], [], [], problem)
    return ClaimView(
        entry=reference["name"],
        key=key,
        template=template,
        requests=[*_requests(claim)],
        devices=[f"{each['pool']}/{each['device']}" for each in _results(claim)],
        others=[other for other in pods_of_claim(claim) if other != pod.key],
        problem=problem,
    )


def _requests(claim: Manifest) -> Iterator[str]:
    for request in parse_claim(claim).requests:
        yield f"{request.name}: {' | '.join(_amount(each) for each in request.alternatives)}"


def _amount(request: DeviceRequest) -> str:
    return f"{'all' if request.mode == 'All' else request.number} of class {request.device_class}"
