"""The part of the simulated driver that attaches devices to nodes: it reports that a device is attached when
the time has passed which the node's annotation says (``+attach=30s``). Pods wait for it in PreBind."""

from simulator.api import SECOND, Manifest
from simulator.controllers.controller import Controller
from simulator.controllers.device_driver import PUBLISHED_BY
from simulator.objects.device_features import ATTACH_SECONDS, ATTACHED
from simulator.objects.metadata import annotations_of
from simulator.objects.status import status_of, with_status
from simulator.objects.timestamps import micros, timestamp
from simulator.plugins.dynamic_resources.allocated_devices import device_of
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES
from simulator.plugins.dynamic_resources.resource_claim import RESOURCE_CLAIMS, DeviceID


class DeviceAttacher(Controller):
    component = "DeviceAttacher"
    resource = RESOURCE_CLAIMS
    watches = (RESOURCE_CLAIMS,)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if new is not None and _waiting(new):
            self.enqueue(key)

    def sync(self, key: str, manifest: Manifest) -> None:
        allocated_at = (status_of(manifest).get("allocation") or {}).get("allocationTimestamp")
        if not allocated_at:
            return
        attached = []
        for device in _waiting(manifest):
            seconds = self._seconds(device)
            if seconds is None:
                continue
            due = micros(allocated_at) + seconds * SECOND
            if due > self._world.now:
                self.enqueue(key, due)
            else:
                attached.append(device)
        if attached:
            now = timestamp(self._world.now)
            self.patch(RESOURCE_CLAIMS, manifest, lambda newest: _with_attached(newest, attached, now))

    def _seconds(self, device: DeviceID) -> int | None:
        """Return how long it takes to attach a device; None for one of another driver."""
        for each in self._world.informer.of(RESOURCE_SLICES).values():
            spec = each["spec"]
            if (spec["driver"], spec["pool"]["name"]) != (device.driver, device.pool):
                continue
            for found in spec.get("devices") or ():
                if found["name"] == device.device and PUBLISHED_BY in annotations_of(each):
                    seconds: int | None = (found["attributes"].get(ATTACH_SECONDS) or {}).get("int")
                    return seconds
        return None


def _waiting(claim: Manifest) -> list[DeviceID]:
    """Return the allocated devices that have to be attached, and of which that is not reported yet."""
    status = status_of(claim)
    reported = {
        device_of(device)
        for device in status.get("devices") or ()
        if any(
            each["type"] == ATTACHED and each["status"] == "True" for each in device.get("conditions") or ()
        )
    }
    results = ((status.get("allocation") or {}).get("devices") or {}).get("results") or ()
    return [
        device_of(result)
        for result in results
        if ATTACHED in (result.get("bindingConditions") or ()) and device_of(result) not in reported
    ]


def _with_attached(claim: Manifest, devices: list[DeviceID], now: str) -> Manifest:
    waiting = [device for device in devices if device in _waiting(claim)]
    if not waiting:
        return claim
    condition = {
        "type": ATTACHED,
        "status": "True",
        "reason": "Attached",
        "message": "the device is attached to the node",
        "lastTransitionTime": now,
    }
    others = [each for each in status_of(claim).get("devices") or () if device_of(each) not in waiting]
    new = [{**device._asdict(), "conditions": [condition]} for device in waiting]
    return with_status(claim, devices=[*others, *new])
