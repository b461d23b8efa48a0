"""Validation of the status of a ResourceClaim (validateResourceClaimStatusUpdate in
pkg/apis/resource/validation/validation.go, v1.34)."""

from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.condition_validation import validate_conditions
from simulator.apiserver.field_checks import (
    IMMUTABLE,
    check_choice,
    check_interface_address,
    too_many,
)
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.kinds.devices.checks import (
    MAX_REQUESTS,
    check_configuration,
    check_list,
    check_pool_name,
    check_raw_object,
    check_request_reference,
    check_request_references,
    check_unique,
    request_names,
)
from simulator.apiserver.kinds.volumes.validation import check_driver_name
from simulator.apiserver.repeated import repeats
from simulator.apiserver.selector_validation import NODE_SELECTOR
from simulator.apiserver.shapes import all_of, field, max_bytes, must_have, named_by
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid
from simulator.objects.metadata import is_terminating

_MAX_CONSUMERS: Final = 256
_MAX_CONDITIONS: Final = 8
_MAX_DATA: Final = 10 * 1024
_MAX_ADDRESSES: Final = 16

_SHOWN_DEVICE: Final[Manifest] = {"Driver": {}, "Pool": {}, "Device": {}, "ShareID": {}}
"""Every device in a message: the fields of upstream's SharedDeviceID are not written as JSON."""


def validate_claim_status(new: Manifest, old: Manifest) -> Iterator[Cause]:
    status, before = new.get("status", {}), old.get("status", {})
    users, path = status.get("reservedFor") or (), "status.reservedFor"
    yield from check_list(users, _MAX_CONSUMERS, path, _CONSUMER)
    yield from check_unique(users, "uid", path)
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


def _allocation(allocation: Manifest, known: set[str], path: str) -> Iterator[Cause]:
    """Yield the faults that validateAllocationResult reports."""
    devices = allocation.get("devices") or {}

    def result(entry: Manifest, at: str) -> Iterator[Cause]:
        yield from check_request_reference(entry.get("request", ""), known, f"{at}.request")
        yield from _DEVICE_ID(entry, at)

    def config(entry: Manifest, at: str) -> Iterator[Cause]:
        choices = ("FromClaim", "FromClass")
        yield from check_choice(entry.get("source", ""), choices, f"{at}.source")
        yield from check_request_references(entry.get("requests"), known, f"{at}.requests")
        yield from check_configuration(entry, at)

    yield from check_list(devices.get("results"), MAX_REQUESTS, f"{path}.devices.results", result)
    # Those of the class and those of the claim.
    yield from check_list(devices.get("config"), 2 * MAX_REQUESTS, f"{path}.devices.config", config)
    if allocation.get("nodeSelector") is not None:
        yield from NODE_SELECTOR(allocation["nodeSelector"], f"{path}.nodeSelector")


def device_id(entry: Manifest) -> str:
    """Return the device of an entry (MakeDeviceID)."""
    return "/".join(entry.get(field, "") for field in ("driver", "pool", "device"))


def _allocated(claim: Manifest) -> set[str]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return {device_id(result) for result in (allocation.get("devices") or {}).get("results") or ()}


def drop_statuses_of_released_devices(old: Manifest, new: Manifest) -> None:
    """Remove from the new status the devices that the old one has allocated and the new one has not
    (dropDeallocatedStatusDevices in pkg/registry/resource/resourceclaim/strategy.go)."""
    status, released = new.get("status") or {}, _allocated(old) - _allocated(new)
    kept = [each for each in status.get("devices") or () if device_id(each) not in released]
    if kept:
        status["devices"] = kept
    else:
        status.pop("devices", None)


def _devices(statuses: Sequence[Manifest], allocated: set[str], path: str) -> Iterator[Cause]:
    """Yield the statuses of devices, each of which is allocated to the claim."""
    seen = set[str]()
    for index, status in enumerate(statuses):
        yield from _device_status(status, allocated, f"{path}[{index}]")
    for index, status in enumerate(statuses):
        device = device_id(status)
        if device in seen:
            yield duplicate(f"{path}[{index}].deviceID", _SHOWN_DEVICE, whole=True)
        seen.add(device)


def _device_status(status: Manifest, allocated: set[str], path: str) -> Iterator[Cause]:
    """Yield the faults that validateDeviceStatus reports."""
    yield from _DEVICE_ID(status, path)
    device = device_id(status)
    if device not in allocated:
        yield invalid(path, _SHOWN_DEVICE, "must be an allocated device in the claim", whole=True)
    conditions = status.get("conditions") or ()
    if len(conditions) > _MAX_CONDITIONS:
        yield too_many(f"{path}.conditions", len(conditions), _MAX_CONDITIONS)
    yield from validate_conditions(conditions, f"{path}.conditions")
    if status.get("data") is not None:
        yield from check_raw_object(status["data"], f"{path}.data", _MAX_DATA)
    yield from _network_data(status.get("networkData") or {}, f"{path}.networkData")


def _network_data(data: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateNetworkDeviceData reports."""
    yield from _NAMES(data, path)
    addresses = data.get("ips") or []
    yield from check_list(addresses, _MAX_ADDRESSES, f"{path}.ips", check_interface_address)
    for index, (address, is_repeated) in enumerate(zip(addresses, repeats(addresses), strict=True)):
        if is_repeated:
            yield duplicate(f"{path}.ips[{index}]", address)


_CONSUMER: Final = must_have("resource", "name", "uid")
"""A user of a claim (validateResourceClaimUserReference)."""
_DEVICE_ID: Final = all_of(
    field("driver", check_driver_name, default=""),
    field("pool", check_pool_name, default=""),
    field("device", named_by(names.dns_label), default=""),
)
_NAMES: Final = all_of(field("interfaceName", max_bytes(256)), field("hardwareAddress", max_bytes(128)))
