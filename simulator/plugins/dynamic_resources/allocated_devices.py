"""The devices that are in use: those of allocated claims, and those of allocations that are not yet written
(allocateddevices.go and the inFlightAllocations of claimtracker in dra_manager.go)."""

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from simulator.api import Manifest
from simulator.cluster.other_objects import OtherObjects
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, DeviceID


class AllocatedDevices:
    """The number of claims that use each device; adminAccess does not count."""

    resources: ClassVar[tuple[str, ...]] = (RESOURCE_CLAIMS,)

    def __init__(self, objects: OtherObjects) -> None:
        self._counts: Counter[DeviceID] = Counter()
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

    def is_in_use(self, device: DeviceID) -> bool:
        return self._counts[device] > 0

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
        for device in devices_in_use(allocation):
            self._counts[device] += by
            if not self._counts[device]:
                del self._counts[device]
            self.changes += 1
            self.changed.pop((device.driver, device.pool), None)
            self.changed[device.driver, device.pool] = self.changes


def devices_in_use(allocation: Manifest | None) -> Iterator[DeviceID]:
    """Yield the devices of an allocation that no other claim may use (foreachAllocatedDevice)."""
    for result in ((allocation or {}).get("devices") or {}).get("results") or ():
        if not result.get("adminAccess"):
            yield DeviceID(result["driver"], result["pool"], result["device"])


def _allocation(claim: Manifest | None) -> Manifest | None:
    found: Manifest | None = ((claim or {}).get("status") or {}).get("allocation")
    return found
