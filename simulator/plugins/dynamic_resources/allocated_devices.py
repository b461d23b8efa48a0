"""The devices that are in use: those of allocated claims, and those of allocations that are not yet written
(allocateddevices.go and the inFlightAllocations of claimtracker in dra_manager.go)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple

from simulator.api import Manifest
from simulator.cluster.other_objects import OtherObjects
from simulator.plugins.dynamic_resources.allocator_rules import AllocatorRules
from simulator.plugins.dynamic_resources.amounts import parse_amounts
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, DeviceID


class AllocatedDevices:
    """The number of claims that use each device, alone or with others; adminAccess does not count."""

    resources: ClassVar[tuple[str, ...]] = (RESOURCE_CLAIMS,)

    def __init__(self, objects: OtherObjects) -> None:
        self.alone: Counter[DeviceID] = Counter()
        """The number of claims that have a device alone; without the devices that none has."""
        self._shares: dict[DeviceID, Shares] = {}
        self._in_flight: dict[str, Manifest] = {}
        """The uid of a claim -> its allocation, from Reserve until it is written or given up."""
        self.changes = 0
        """The number of changes of devices."""
        self.changed: dict[tuple[str, str], int] = {}
        """Driver and name of a pool -> the number of ``changes`` after the last change of its devices. The
        pool that changed last is at the end."""

    def object_set(self, resource: str, key: str, before: Manifest | None, after: Manifest | None) -> None:
        old, new = _allocation(before), _allocation(after)
        if old != new:
            self._count(old, -1)
            self._count(new, 1)

    def shares(self, device: DeviceID) -> "Shares | None":
        """Return what claims have of a shared device; None if no claim has it."""
        return self._shares.get(device)

    def is_in_flight(self, uid: str) -> bool:
        """Whether a claim is being allocated for another pod (ClaimHasPendingAllocation)."""
        return uid in self._in_flight

    def begin(self, uid: str, allocation: Manifest) -> None:
        """Mark a claim's allocation as being written (SignalClaimPendingAllocation). Of two allocations of
        one claim the later one stays."""
        self.end(uid)
        self._in_flight[uid] = allocation
        self._count(allocation, 1)

    def end(self, uid: str) -> None:
        """Remove an allocation that was written, or given up (RemoveClaimPendingAllocation)."""
        self._count(self._in_flight.pop(uid, None), -1)

    def _count(self, allocation: Manifest | None, by: int) -> None:
        for result in results_in_use(allocation):
            device = device_of(result)
            if result.get("shareID") is None:
                self.alone[device] += by
                if not self.alone[device]:
                    del self.alone[device]
            else:
                shares = self._shares.setdefault(device, Shares())
                shares.add(result.get("consumedCapacity"), by)
                if not shares.count:
                    del self._shares[device]
            self.changes += 1
            self.changed.pop((device.driver, device.pool), None)
            self.changed[device.driver, device.pool] = self.changes


class Shares:
    """What claims have of a shared device."""

    def __init__(self) -> None:
        self.count = 0
        self.with_capacity = 0
        """The number of shares that consume capacity."""
        self.consumed: Counter[str] = Counter()

    def add(self, consumed: Mapping[str, object] | None, by: int) -> None:
        self.count += by
        if consumed is not None:
            self.with_capacity += by
            for name, amount in parse_amounts(consumed):
                self.consumed[name] += by * amount.nanos


class AllocatedState(NamedTuple):
    """The devices in use as the allocator sees them (AllocatedState). Without the feature
    DRAConsumableCapacity, each claim has its devices alone."""

    devices: AllocatedDevices
    rules: AllocatorRules

    def is_in_use(self, device: DeviceID) -> bool:
        if device in self.devices.alone:
            return True
        return not self.rules.consumable_capacity and self.devices.shares(device) is not None

    def is_allocated(self, device: DeviceID) -> bool:
        """Return whether any claim has the device, alone or not (IsDeviceAllocated)."""
        return device in self.devices.alone or self.devices.shares(device) is not None

    def consumed(self, device: DeviceID) -> Mapping[str, int] | None:
        """Return what is consumed of the capacity of a shared device; None if no claim has capacity of it."""
        shares = self.devices.shares(device) if self.rules.consumable_capacity else None
        return shares.consumed if shares is not None and shares.with_capacity else None


def devices_in_use(allocation: Manifest | None) -> Iterator[DeviceID]:
    """Yield the devices of an allocation, except those with adminAccess (foreachAllocatedDevice)."""
    return (device_of(result) for result in results_in_use(allocation))


def device_of(result: Manifest) -> DeviceID:
    return DeviceID(result["driver"], result["pool"], result["device"])


def results_in_use(allocation: Manifest | None) -> Iterator[Manifest]:
    """Yield the results of an allocation, except those with adminAccess."""
    for result in ((allocation or {}).get("devices") or {}).get("results") or ():
        if not result.get("adminAccess"):
            yield result


def _allocation(claim: Manifest | None) -> Manifest | None:
    found: Manifest | None = ((claim or {}).get("status") or {}).get("allocation")
    return found
