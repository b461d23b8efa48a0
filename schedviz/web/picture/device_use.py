"""Who has which device, and which free devices are blocked because others have their counters."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from simulator.api import Manifest
from simulator.objects.metadata import name_of, namespace_of
from simulator.objects.quantity import Nanos
from simulator.objects.status import status_of
from simulator.plugins.dynamic_resources.allocated_devices import device_of, results_in_use
from simulator.plugins.dynamic_resources.amounts import Amounts, parse_amounts
from simulator.plugins.dynamic_resources.counters import CounterName, available_counters, consumption
from simulator.plugins.dynamic_resources.device import Device
from simulator.plugins.dynamic_resources.pool import Pool, PoolDevice
from simulator.plugins.dynamic_resources.resource_claim import DeviceID

DeviceState = Literal["free", "used", "kept", "shared", "blocked"]
"""The states of a device. used: some pod uses the claim that has the device. kept: the claim is allocated,
and no pod uses it. shared: claims have it, and others can have it, too. blocked: no claim has it, but others
have its counters."""


class Holder(msgspec.Struct, frozen=True):
    """An allocated claim, the pods for which it is reserved, by their keys, and what it consumes of a shared
    device."""

    claim: str
    pods: tuple[str, ...]
    consumed: Amounts = ()


Holders = tuple[Holder, ...]


def holders_in(claim: Manifest) -> dict[DeviceID, Holder]:
    """Return the devices that a claim has, except with adminAccess."""
    key, pods = f"{namespace_of(claim)}/{name_of(claim)}", pods_of_claim(claim)
    found: dict[DeviceID, Holder] = {}
    for result in results_in_use(status_of(claim).get("allocation")):
        device = device_of(result)
        before = found[device].consumed if device in found else ()
        consumed = parse_amounts(result.get("consumedCapacity") or {})
        found[device] = Holder(key, pods, (*before, *consumed))
    return found


def holders_of_devices(claims: Iterable[Manifest]) -> dict[DeviceID, Holders]:
    found: dict[DeviceID, Holders] = {}
    for claim in claims:
        for device, holder in holders_in(claim).items():
            found[device] = (*found.get(device, ()), holder)
    return found


def pods_of_claim(claim: Manifest) -> tuple[str, ...]:
    """Return the keys of the pods for which the claim is reserved."""
    return tuple(
        f"{namespace_of(claim)}/{consumer['name']}"
        for consumer in status_of(claim).get("reservedFor") or ()
        if consumer["resource"] == "pods"
    )


class PoolUse:
    """The use of the devices of one pool."""

    def __init__(self, pool: Pool, holders: Callable[[DeviceID], Holders]) -> None:
        self._holders = holders
        self.counters: Mapping[CounterName, Nanos] = {}
        """What is left of each counter."""
        if pool.counter_sets:
            self.counters = available_counters(pool, lambda device: bool(holders(device)))

    def state(self, device: PoolDevice) -> DeviceState:
        holders = self._holders(device.id)
        if not holders:
            return "blocked" if self.lacking(device.device) else "free"
        if device.device.shareable and has_room(device.device, holders):
            return "shared"
        return "used" if any(each.pods for each in holders) else "kept"

    def lacking(self, device: Device) -> tuple[CounterName, Nanos, Nanos] | None:
        """Return the first counter of which the device consumes more than is left: its name, the amount that
        is needed and the one that is left."""
        for name, nanos in consumption(device).items():
            left = self.counters.get(name, nanos)
            if nanos > left:
                return name, nanos, left
        return None


def has_room(device: Device, holders: Holders) -> bool:
    """Return whether something of each capacity of a shared device is left."""
    used = used_capacity(holders)
    return all(used.get(name, 0) < each.value.nanos for name, each in device.capacity)


def used_capacity(holders: Holders) -> dict[str, Nanos]:
    found: dict[str, Nanos] = {}
    for holder in holders:
        for name, amount in holder.consumed:
            found[name] = found.get(name, 0) + amount.nanos
    return found


def is_partition(pool: Pool, device: Device) -> bool:
    """Return whether the device consumes less than all of some counter."""
    return any(
        (name, amount) not in pool.counter_sets.get(each.counter_set, ())
        for each in device.consumes
        for name, amount in each.counters
    )
