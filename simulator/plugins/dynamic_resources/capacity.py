"""The capacity that requests consume of devices (consumable_capacity.go in
staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating)."""

from collections.abc import Mapping

from simulator.objects.quantity import Nanos
from simulator.plugins.dynamic_resources.amounts import Amount, Amounts, binary_amount
from simulator.plugins.dynamic_resources.device import Device, DeviceCapacity, RequestPolicy

Consumed = Mapping[str, Nanos]
"""The amount that is consumed of each capacity of a device."""


def consumed_capacity(device: Device, requested: Amounts) -> dict[str, Amount]:
    """Return what a request consumes of each capacity of the device (GetConsumedCapacityFromRequest)."""
    amounts = dict(requested)
    return {name: _consumed(amounts.get(name), capacity) for name, capacity in device.capacity}


def has_capacity(device: Device, requested: Amounts, used: Consumed, taken: Consumed) -> bool:
    """Return whether a device can serve the requested amounts, too (CmpRequestOverCapacity). ``used``: by
    allocated claims; ``taken``: by this search."""
    if not (requested or used or taken or any(each.policy for _, each in device.capacity)):
        return True
    capacities = dict(device.capacity)
    if any(name not in capacities for name, _ in requested):
        return False
    for name, amount in consumed_capacity(device, requested).items():
        if _violates(amount, capacities[name].policy):
            return False
        if used.get(name, 0) + amount.nanos + taken.get(name, 0) > capacities[name].value.nanos:
            return False
    return True


def _consumed(requested: Amount | None, capacity: DeviceCapacity) -> Amount:
    """Return what a request consumes (calculateConsumedCapacity): the amount, rounded up to one that the
    policy allows; if none is requested, the policy's default, or all of the capacity."""
    policy = capacity.policy
    if requested is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return requested
    if policy.minimum is not None:
        return _round_up(requested, policy.minimum, policy.step)
    return next((each for each in policy.valid_values if requested.nanos <= each.nanos), requested)


def _round_up(requested: Amount, minimum: Amount, step: Amount | None) -> Amount:
    if requested.nanos < minimum.nanos:
        return minimum
    if step is None or not step.units:
        return requested
    steps = -(-(requested.units - minimum.units) // step.units)
    return binary_amount(minimum.units + steps * step.units)


def _violates(amount: Amount, policy: RequestPolicy | None) -> bool:
    """Return whether the policy does not allow an amount (violatesPolicy)."""
    if policy is None or amount == policy.default:
        return False
    if policy.minimum is not None or policy.maximum is not None or policy.step is not None:
        if policy.maximum is not None and amount.nanos > policy.maximum.nanos:
            return True
        if policy.step is None or policy.minimum is None or not policy.step.units:
            return False
        return (amount.units - policy.minimum.units) % policy.step.units != 0
    return bool(policy.valid_values) and all(amount.nanos != each.nanos for each in policy.valid_values)
