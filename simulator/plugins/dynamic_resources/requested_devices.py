"""The number of devices that a request needs, and the selectors that choose them (validateDeviceRequest in
allocator_experimental.go)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from simulator.plugins.dynamic_resources.allocator_rules import AllocatorRules
from simulator.plugins.dynamic_resources.device_selectors import AllocationError
from simulator.plugins.dynamic_resources.pool import Pool, PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import (
    ClaimRequest,
    DeviceID,
    DeviceRequest,
    ResourceClaim,
)

Selectors = tuple[tuple[str, tuple[str, ...]], ...]
"""The words for an error, and the CEL expressions: first those of the class, then those of the claim."""


class RequestedDevices(NamedTuple):
    request: ClaimRequest
    alternative: DeviceRequest
    selectors: Selectors
    number: int
    all_devices: list[PoolDevice] | None
    """The devices that the selectors choose, in use or not, with the allocation mode All; None with another
    mode."""


def requested_devices(
    claim: ResourceClaim,
    request: ClaimRequest,
    classes: Mapping[str, tuple[str, ...]],
    pools: Sequence[Pool],
    usable: Callable[[DeviceRequest, PoolDevice, Selectors], bool],
    *,
    rules: AllocatorRules,
) -> list[RequestedDevices]:
    """Return what each alternative of a request needs. ``classes``: DeviceClass -> its CEL expressions.
    ``usable``: whether a device counts for the allocation mode All. Raises AllocationError."""
    _check_features(claim, request, rules)
    # Until v1.35 upstream caches what is selectable by the index of the subrequest, and uses the index of the
    # one before.
    caches: dict[int, dict[DeviceID, bool]] = {}
    found = []
    for index, alternative in enumerate(request.alternatives):
        selectors = _selectors(claim, alternative, classes, rules)
        devices: list[PoolDevice] | None = None
        if alternative.mode == "All":
            cached_as = index if rules.version.mode_all_knows_subrequest else max(index - 1, 0)
            cache = caches.setdefault(cached_as, {})
            devices = []
            for device in _devices_for_all(claim, alternative, pools):
                if device.id not in cache:
                    cache[device.id] = usable(alternative, device, selectors)
                if cache[device.id]:
                    devices.append(device)
        elif alternative.mode != "ExactCount":
            raise AllocationError(
                f"claim {claim.key}, request {alternative.name}: unsupported count mode {alternative.mode}"
            )
        number = alternative.number if devices is None else len(devices)
        found.append(RequestedDevices(request, alternative, selectors, number, devices))
    return found


def _check_features(claim: ResourceClaim, request: ClaimRequest, rules: AllocatorRules) -> None:
    if request.first_available and not rules.prioritized_list:
        raise AllocationError(
            f"claim {claim.key}, request {request.name}: "
            "has subrequests, but the DRAPrioritizedList feature is disabled"
        )
    for alternative in request.alternatives:
        if alternative.capacity is not None and rules.knows_capacity and not rules.consumable_capacity:
            kind, name = "request", request.name
            if request.first_available and rules.version.device_pools_are_whole:
                kind, name = "subrequest", alternative.name
            raise AllocationError(
                f"claim {claim.key}, {kind} {name}: "
                "has capacity requests, but the DRAConsumableCapacity feature is disabled"
            )


def _selectors(
    claim: ResourceClaim,
    alternative: DeviceRequest,
    classes: Mapping[str, tuple[str, ...]],
    rules: AllocatorRules,
) -> Selectors:
    place = f"claim {claim.key}, request {alternative.name}"
    expressions = []
    for index, expression in enumerate(alternative.selectors):
        if expression is None:
            raise AllocationError(
                f"{place}, selector #{index}: CEL expression empty (unsupported selector type?)"
            )
        expressions.append(expression)
    if alternative.admin_access and not rules.admin_access:
        raise AllocationError(f"{place}: admin access is requested, but the feature is disabled")
    name = alternative.device_class
    if not name:
        raise AllocationError(f"{place}: missing device class name (unsupported request type?)")
    if name not in classes:
        raise AllocationError(
            f'{place}: could not retrieve device class {name}: deviceclass.resource.k8s.io "{name}" not found'
        )
    return ((f"class {name}", classes[name]), (f"claim {claim.key}", tuple(expressions)))


def _devices_for_all(
    claim: ResourceClaim, alternative: DeviceRequest, pools: Sequence[Pool]
) -> Iterator[PoolDevice]:
    """Yield the devices of all pools. A pool that is incomplete or invalid is an error, even when it has
    nothing to do with the request."""
    for pool in pools:
        trouble = "being updated" if pool.incomplete else "invalid" if pool.invalid else ""
        if trouble:
            raise AllocationError(
                f"claim {claim.key}, request {alternative.name}: "
                f"asks for all devices, but resource pool {pool} is currently {trouble}"
            )
        yield from pool.devices
