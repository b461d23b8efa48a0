"""A DRA driver on each node whose annotation ``schedviz/devices`` describes devices: it publishes them in
ResourceSlices of the node, as the kubelet plugin of a driver does
(staging/src/k8s.io/dynamic-resource-allocation/resourceslice/resourceslicecontroller.go). The slices
are deleted with their node, which owns them."""

from functools import partial
from typing import Final

from simulator.api import Manifest
from simulator.controllers.controller import Controller
from simulator.objects.device_notation import DEVICES, Device, DeviceNotationError, parse_devices
from simulator.objects.metadata import annotations_of, name_of, uid_of
from simulator.plugins.dynamic_resources.node_devices import RESOURCE_SLICES

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
        wanted, published = _wanted(manifest), self._published(manifest)
        missing = [driver for driver in wanted if driver not in published]
        if missing:
            self.create(manifest, [_slice(name_of(manifest), driver, wanted[driver]) for driver in missing])
        for driver, found in published.items():
            if driver in wanted and found["spec"].get("devices") != wanted[driver]:
                self.patch(RESOURCE_SLICES, found, partial(_with, wanted[driver]))
        useless = [found for driver, found in published.items() if driver not in wanted]
        self.delete(manifest, useless, "the node has no devices of this driver")

    def _published(self, node: Manifest) -> dict[str, Manifest]:
        """Return a mapping of each driver to the slice of the node that this controller has published."""
        items = self._ownership.controlled(uid_of(node), RESOURCE_SLICES)
        found = [
            each
            for each in map(self._get, items)
            if each is not None and PUBLISHED_BY in annotations_of(each)
        ]
        return {each["spec"]["driver"]: each for each in found}

    def describe(self, manifest: Manifest) -> str:
        return f"{self.component} {name_of(manifest)}"


def _described(manifest: Manifest | None) -> str:
    return annotations_of(manifest).get(DEVICES, "") if manifest is not None else ""


def _wanted(node: Manifest) -> dict[str, list[Device]]:
    """Return a mapping of each driver to its devices. A text that the API server would refuse describes
    none."""
    try:
        return parse_devices(_described(node))
    except DeviceNotationError:
        return {}


def _slice(node: str, driver: str, devices: list[Device]) -> Manifest:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {
            "generateName": f"{node}-{driver}-",
            "annotations": {PUBLISHED_BY: DeviceDriver.component},
        },
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }


def _with(devices: list[Device], published: Manifest) -> Manifest:
    """Return the slice with other devices, as the next generation of its pool."""
    spec = published["spec"]
    pool = {**spec["pool"], "generation": spec["pool"].get("generation", 0) + 1}
    return {**published, "spec": {**spec, "devices": devices, "pool": pool}}
