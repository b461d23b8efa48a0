"""Validation of the status of a ResourceClaim (validateResourceClaimStatusUpdate in
pkg/apis/resource/validation/validation.go)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.condition_validation import validate_conditions
from simulator.apiserver.field_checks import IMMUTABLE, check_interface_address
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.devices.checks import (
    CONFIGURATION,
    MAX_REQUESTS,
    POOL_NAME,
    raw_object,
    request_names,
    request_reference,
    request_references,
)
from simulator.apiserver.kinds.volumes.validation import check_driver_name
from simulator.apiserver.selector_validation import NODE_SELECTOR
from simulator.apiserver.shapes import (
    all_of,
    choice,
    field,
    items,
    max_bytes,
    must_have,
    named_by,
    needed,
    value_at,
)
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid
from simulator.objects.metadata import is_terminating

_SHOWN_DEVICE: Final[Manifest] = {"Driver": {}, "Pool": {}, "Device": {}, "ShareID": {}}
"""Every device in a message: the fields of upstream's SharedDeviceID are not written as JSON."""
_CONSUMERS: Final = items(must_have("resource", "name", "uid"), most=256, unique="uid")
"""The users of a claim (validateResourceClaimUserReference)."""
_DEVICE_ID: Final = all_of(
    field("driver", check_driver_name, default=""),
    needed("pool", POOL_NAME),
    field("device", named_by(names.dns_label), default=""),
)
_DEVICE_STATUS: Final = all_of(
    field("conditions", items(most=8), validate_conditions),
    field("data", raw_object(10 * 1024)),
    field("networkData.interfaceName", max_bytes(256)),
    field("networkData.hardwareAddress", max_bytes(128)),
    field("networkData.ips", items(check_interface_address, most=16, unique="")),
)
"""validateDeviceStatus and validateNetworkDeviceData."""


def validate_claim_status(new: Manifest, old: Manifest) -> Iterator[Cause]:
    status, before = new.get("status", {}), old.get("status", {})
    users, path = status.get("reservedFor") or (), "status.reservedFor"
    yield from _CONSUMERS(users, path)
    allocation, allocated = status.get("allocation"), before.get("allocation")
    yield from _devices(status.get("devices") or (), _allocated(new), "status.devices")
    if users and allocation is None:
        yield forbidden(path, "may not be specified when `allocated` is not set")
    elif is_terminating(old) and any(user not in before.get("reservedFor", ()) for user in users):
        detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
        yield forbidden(path, detail)
    if allocation is None:
        return
    if allocated is None:
        yield from _allocation(allocation, request_names(new["spec"]), "status.allocation")
    elif allocation != allocated:
        shown = api_struct("resource.v1.AllocationResult", allocation)
        yield invalid("status.allocation", shown, IMMUTABLE, whole=True)


def _allocation(allocation: Manifest, known: set[str], path: str) -> Iterable[Cause]:
    """Return the faults that validateAllocationResult reports."""
    result = all_of(field("request", request_reference(known), default=""), _DEVICE_ID)
    source = field("source", choice(("FromClaim", "FromClass")), default="")
    config = all_of(source, request_references(known), CONFIGURATION)
    rules = all_of(
        field("devices.results", items(result, most=MAX_REQUESTS)),
        # Those of the class and those of the claim.
        field("devices.config", items(config, most=2 * MAX_REQUESTS)),
        field("nodeSelector", NODE_SELECTOR),
    )
    return rules(allocation, path)


def device_id(entry: Manifest) -> str:
    """Return the device of an entry (MakeDeviceID)."""
    return "/".join(entry.get(field, "") for field in ("driver", "pool", "device"))


def _allocated(claim: Manifest) -> set[str]:
    return {device_id(result) for result in value_at(claim, "status.allocation.devices.results") or ()}


def drop_statuses_of_released_devices(new: Manifest, old: Manifest) -> Manifest:
    """Remove from the new status the devices that the old one has allocated and the new one has not
    (dropDeallocatedStatusDevices in pkg/registry/resource/resourceclaim/strategy.go). Returns the new
    claim."""
    status, released = new.get("status") or {}, _allocated(old) - _allocated(new)
    kept = [each for each in status.get("devices") or () if device_id(each) not in released]
    if kept:
        status["devices"] = kept
    else:
        status.pop("devices", None)
    return new


def _devices(statuses: Sequence[Manifest], allocated: set[str], path: str) -> Iterator[Cause]:
    """Yield the faults of the statuses of devices, each of which is allocated to the claim."""
    for index, status in enumerate(statuses):
        at = f"{path}[{index}]"
        yield from _DEVICE_ID(status, at)
        if device_id(status) not in allocated:
            yield invalid(at, _SHOWN_DEVICE, "must be an allocated device in the claim", whole=True)
        yield from _DEVICE_STATUS(status, at)
    seen = set[str]()
    for index, device in enumerate(map(device_id, statuses)):
        if device in seen:
            yield duplicate(f"{path}[{index}].deviceID", _SHOWN_DEVICE, whole=True)
        seen.add(device)
