"""ResourceSlices as the allocator reads them (staging/src/k8s.io/api/resource/v1/types.go, v1.34)."""

from typing import NamedTuple

from simulator.api import Manifest
from simulator.cel.device_value import DeviceValue
from simulator.objects.node_selector import NodeSelector
from simulator.plugins.dynamic_resources.node_selection import NodeSelectorError, checked_node_selector


class Device(NamedTuple):
    name: str
    value: DeviceValue
    """The device as selectors see it."""
    attributes: Manifest
    capacity: Manifest
    consumes_counters: bool
    has_binding_conditions: bool


class ResourceSlice(NamedTuple):
    """A ResourceSlice. ``node_name``, ``all_nodes`` and ``node_selector`` decide for which nodes the slice
    counts; the first that is set decides."""

    name: str
    driver: str
    pool: str
    generation: int
    slice_count: int
    """The value of ``pool.resourceSliceCount``."""
    node_name: str
    all_nodes: bool
    selector_manifest: Manifest | None
    node_selector: NodeSelector | None
    fault: str
    """The reason for which ``node_selector`` could not be parsed."""
    devices: tuple[Device, ...]


def parse_slice(manifest: Manifest) -> ResourceSlice | None:
    """Parse a slice; None for one that counts for no node. A selection for each device needs the feature
    DRAPartitionableDevices, which is off."""
    spec, name = manifest["spec"], manifest["metadata"]["name"]
    if spec.get("perDeviceNodeSelection") is not None:
        return None
    if not spec.get("nodeName") and not spec.get("allNodes") and spec.get("nodeSelector") is None:
        return None
    selector: NodeSelector | None = None
    fault = ""
    if spec.get("nodeSelector") is not None:
        try:
            selector = checked_node_selector(spec["nodeSelector"])
        except NodeSelectorError as error:
            fault = f"node selector in resource slice {name}: {error}"
    pool, driver = spec["pool"], spec["driver"]
    return ResourceSlice(
        name,
        driver,
        pool["name"],
        pool.get("generation") or 0,
        pool.get("resourceSliceCount") or 0,
        spec.get("nodeName") or "",
        bool(spec.get("allNodes")),
        spec.get("nodeSelector"),
        selector,
        fault,
        tuple(_device(driver, each) for each in spec.get("devices") or ()),
    )


def _device(driver: str, manifest: Manifest) -> Device:
    return Device(
        manifest["name"],
        DeviceValue.of(driver, manifest),
        manifest.get("attributes") or {},
        manifest.get("capacity") or {},
        bool(manifest.get("consumesCounters")),
        bool(manifest.get("bindingConditions")),
    )
