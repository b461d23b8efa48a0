"""The conditions of allocated devices for which a pod waits before it is bound (isClaimReadyForBinding and
isClaimTimeout in dynamicresources.go). A driver sets them in ``status.devices`` of the claim."""

from collections.abc import Iterator

from simulator.api import Manifest, Micros
from simulator.objects.timestamps import micros
from simulator.plugins.dynamic_resources.allocated_devices import device_of


class BindingFailed(Exception):
    """A device has a condition with which it cannot be used. The message is upstream's."""


def has_binding_conditions(claim: Manifest) -> bool:
    return any(True for _ in _results_with_conditions(claim))


def is_ready(claim: Manifest) -> bool:
    """Return whether all binding conditions of the devices of an allocated claim are true. Raises
    BindingFailed."""
    for result in _results_with_conditions(claim):
        conditions = conditions_of_device(claim, result)
        if conditions is None:
            return False
        for name in result.get("bindingFailureConditions") or ():
            failed = conditions.get(name) or {}
            if failed.get("status") == "True":
                raise BindingFailed(
                    f"claim {claim['metadata']['name']} binding failed: "
                    f'reason={failed.get("reason") or ""}, message="{failed.get("message") or ""}"'
                )
        if any((conditions.get(name) or {}).get("status") != "True" for name in result["bindingConditions"]):
            return False
    return True


def is_overdue(claim: Manifest, timeout: Micros, now: Micros | None) -> bool:
    """Return whether the devices have not become ready in time. ``now``: None where there is no clock: the
    allocation is long past. A claim without the time of its allocation has no timeout."""
    allocated_at = claim["status"]["allocation"].get("allocationTimestamp")
    if not allocated_at or not has_binding_conditions(claim):
        return False
    return now is None or micros(allocated_at) + timeout < now


def is_unavailable(claim: Manifest, timeout: Micros, now: Micros | None) -> bool:
    """Return whether the binding of a pod of an allocated claim has failed, or is overdue."""
    try:
        return not is_ready(claim) and is_overdue(claim, timeout, now)
    except BindingFailed:
        return True


def _results_with_conditions(claim: Manifest) -> Iterator[Manifest]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    for result in (allocation.get("devices") or {}).get("results") or ():
        if result.get("bindingConditions"):
            yield result


def conditions_of_device(claim: Manifest, result: Manifest) -> dict[str, Manifest] | None:
    """Return the conditions of an allocated device by type; None if the driver has not reported any."""
    for device in (claim.get("status") or {}).get("devices") or ():
        if device_of(device) == device_of(result):
            return {each["type"]: each for each in reversed(device.get("conditions") or ())}
    return None
