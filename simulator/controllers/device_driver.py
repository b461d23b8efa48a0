"""A DRA driver on each node whose annotation ``schedviz/devices`` describes devices: it publishes them in
ResourceSlices of the node, as the kubelet plugin of a driver does
(staging/src/k8s.io/dynamic-resource-allocation/resourceslice/resourceslicecontroller.go). The slices
are deleted with their node, which owns them."""

from functools import partial
from typing import Any, Final

from simulator.api import Manifest
from simulator.controllers.controller import Controller
from simulator.objects.device_features import Device, DeviceNotationError, counter_sets
from simulator.objects.device_notation import DEVICES, parse_devices
from simulator.objects.metadata import annotations_of, name_of, uid_of
from simulator.objects.timestamps import timestamp
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES

Part = dict[str, Any]
"""The devices of a slice, or its shared counters."""
_GATES: Final = {
    "allowMultipleAllocations": "DRAConsumableCapacity",
    "bindingConditions": "DRADeviceBindingConditions",
    "bindingFailureConditions": "DRADeviceBindingConditions",
    "consumesCounters": "DRAPartitionableDevices",
    "taints": "DRADeviceTaints",
}
PUBLISHED_BY: Final = "schedviz/published-by"
"""Annotation of the slices that this controller publishes, and alone changes."""


class DeviceDriver(Controller):
    component = "DeviceDriver"
    resource = "nodes"
    watches = ("nodes", RESOURCE_SLICES)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if resource == self.resource:
            if new is not None and _described(old) != _described(new):
                self.enqueue(key)
            return
        for manifest in (old, new):
            if manifest is not None and PUBLISHED_BY in annotations_of(manifest):
                self.enqueue(manifest["spec"]["nodeName"])

    def sync(self, key: str, manifest: Manifest) -> None:
        """Create, update and delete slices until they are what the annotation describes."""
        wanted, published = self._wanted(manifest), self._published(manifest)
        now = timestamp(self._world.now)
        for driver, described in wanted.items():
            found = published.get(driver, [])
            parts = [_with_times(part, found, now) for part in described]
            if [_contents(each["spec"]) for each in found] == parts:
                continue
            generation = 1 + max((each["spec"]["pool"].get("generation", 0) for each in found), default=0)
            pool = {
                "name": name_of(manifest),
                "generation": generation,
                "resourceSliceCount": len(parts),
            }
            for old, part in zip(found, parts, strict=False):
                self.patch(RESOURCE_SLICES, old, partial(_with, part, pool))
            new = parts[len(found) :]
            if new:
                self.create(manifest, [_slice(name_of(manifest), driver, part, pool) for part in new])
        useless = [
            each for driver, found in published.items() for each in found[len(wanted.get(driver, ())) :]
        ]
        self.delete(manifest, useless, "the node has no devices of this driver")

    def _wanted(self, node: Manifest) -> dict[str, list[Part]]:
        """Return a mapping of each driver to what its slices hold: its devices, and the counters of these. A
        text that the API server would refuse describes none."""
        try:
            described = parse_devices(_described(node))
        except DeviceNotationError:
            return {}
        found: dict[str, list[Part]] = {}
        for driver, devices in described.items():
            enabled = [each for each in map(self._enabled, devices) if each is not None]
            found[driver] = [{"devices": enabled}]
            counters = counter_sets(enabled)
            if counters:
                found[driver].append({"sharedCounters": counters})
        return found

    def _enabled(self, device: Device) -> Device | None:
        """Return a device without the fields whose feature gate is off; None for a partition where its gate
        is off."""
        features = self._world.features
        off = {field for field, gate in _GATES.items() if field in device and not features.enabled(gate)}
        consumed = device.get("consumesCounters") or [{"counterSet": device["name"]}]
        if "consumesCounters" in off and consumed[0]["counterSet"] != device["name"]:
            return None
        return {field: value for field, value in device.items() if field not in off} if off else device

    def _published(self, node: Manifest) -> dict[str, list[Manifest]]:
        """Return a mapping of each driver to the slices of the node that this controller has published: that
        with the devices first."""
        found: dict[str, list[Manifest]] = {}
        for item in self._ownership.controlled(uid_of(node), RESOURCE_SLICES):
            each = self._get(item)
            if each is not None and PUBLISHED_BY in annotations_of(each):
                found.setdefault(each["spec"]["driver"], []).append(each)
        for slices in found.values():
            slices.sort(key=lambda each: "sharedCounters" in each["spec"])
        return found

    def describe(self, manifest: Manifest) -> str:
        return f"{self.component} {name_of(manifest)}"


def _described(manifest: Manifest | None) -> str:
    return annotations_of(manifest).get(DEVICES, "") if manifest is not None else ""


def _with_times(part: Part, published: list[Manifest], now: str) -> Part:
    """Return the part with the time at which each taint was added, which the API server adds otherwise."""
    if not any("taints" in device for device in part.get("devices") or ()):
        return part
    known = {
        (device["name"], taint["key"], taint["effect"]): taint.get("timeAdded")
        for each in published
        for device in each["spec"].get("devices") or ()
        for taint in device.get("taints") or ()
    }
    devices = []
    for device in part["devices"]:
        taints = [
            {**taint, "timeAdded": known.get((device["name"], taint["key"], taint["effect"])) or now}
            for taint in device.get("taints") or ()
        ]
        devices.append({**device, "taints": taints} if taints else device)
    return {"devices": devices}


def _contents(spec: Manifest) -> Part:
    return {field: spec[field] for field in ("devices", "sharedCounters") if spec.get(field)}


def _slice(node: str, driver: str, part: Part, pool: Manifest) -> Manifest:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {
            "generateName": f"{node}-{driver}-",
            "annotations": {PUBLISHED_BY: DeviceDriver.component},
        },
        "spec": {"driver": driver, "nodeName": node, "pool": pool, **part},
    }


def _with(part: Part, pool: Manifest, published: Manifest) -> Manifest:
    """Return the slice with other contents, as another generation of its pool."""
    rest = {
        field: value
        for field, value in published["spec"].items()
        if field not in ("devices", "sharedCounters")
    }
    return {**published, "spec": {**rest, **part, "pool": pool}}
