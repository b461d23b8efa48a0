"""The number of devices that a request needs, and the selectors that choose them (validateDeviceRequest in
allocator_experimental.go)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from simulator.plugins.dynamic_resources.device_selectors import AllocationError, is_selectable
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
) -> list[RequestedDevices]:
    """Return what each alternative of a request needs. ``classes``: DeviceClass -> its CEL expressions.
    Raises AllocationError."""
    # Upstream caches what is selectable by the index of the subrequest, and uses the index of the one before.
    caches: dict[int, dict[DeviceID, bool]] = {}
    found = []
    for index, alternative in enumerate(request.alternatives):
        selectors = _selectors(claim, alternative, classes)
        devices: list[PoolDevice] | None = None
        if alternative.mode == "All":
            cache = caches.setdefault(max(index - 1, 0), {})
            devices = _all_devices(claim, alternative, selectors, pools, cache)
        elif alternative.mode != "ExactCount":
            raise AllocationError(
                f"claim {claim.key}, request {alternative.name}: unsupported count mode {alternative.mode}"
            )
        number = alternative.number if devices is None else len(devices)
        found.append(RequestedDevices(request, alternative, selectors, number, devices))
    return found


def _selectors(
    claim: ResourceClaim, alternative: DeviceRequest, classes: Mapping[str, tuple[str, ...]]
) -> Selectors:
    place = f"claim {claim.key}, request {alternative.name}"
    expressions = []
    for index, expression in enumerate(alternative.selectors):
        if expression is None:
            raise AllocationError(
                f"{place}, selector #{index}: CEL expression empty (unsupported selector type?)"
            )
        expressions.append(expression)
    name = alternative.device_class
    if not name:
        raise AllocationError(f"{place}: missing device class name (unsupported request type?)")
    if name not in classes:
        raise AllocationError(
            f'{place}: could not retrieve device class {name}: deviceclass.resource.k8s.io "{name}" not found'
        )
    return ((f"class {name}", classes[name]), (f"claim {claim.key}", tuple(expressions)))


def _all_devices(
    claim: ResourceClaim,
    alternative: DeviceRequest,
    selectors: Selectors,
    pools: Sequence[Pool],
    cache: dict[DeviceID, bool],
) -> list[PoolDevice]:
    """Return all devices that the selectors choose. A pool that is incomplete or invalid is an error, even
    when it has nothing to do with the request."""
    found = []
    for pool in pools:
        trouble = "being updated" if pool.incomplete else "invalid" if pool.duplicate else ""
        if trouble:
            raise AllocationError(
                f"claim {claim.key}, request {alternative.name}: "
                f"asks for all devices, but resource pool {pool} is currently {trouble}"
            )
        for device in pool.devices:
            if device.device.has_binding_conditions:
                continue
            if device.id not in cache:
                cache[device.id] = is_selectable(device, selectors)
            if cache[device.id]:
                found.append(device)
    return found
