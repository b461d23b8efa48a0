"""ResourceSlices as the allocator reads them (staging/src/k8s.io/api/resource/v1/types.go)."""

from typing import NamedTuple

from simulator.api import Manifest
from simulator.plugins.dynamic_resources.amounts import Amounts
from simulator.plugins.dynamic_resources.device import Device, parse_counters, parse_device
from simulator.plugins.dynamic_resources.node_selection import NodeSelection, parse_node_selection


class ResourceSlice(NamedTuple):
    name: str
    driver: str
    pool: str
    generation: int
    slice_count: int
    """The value of ``pool.resourceSliceCount``."""
    nodes: NodeSelection
    per_device: bool | None
    """``perDeviceNodeSelection``: each device has its own nodes."""
    devices: tuple[Device, ...]
    counter_sets: tuple[tuple[str, Amounts], ...]
    """``sharedCounters``: the name of each set, and its counters."""

    @property
    def pool_key(self) -> tuple[str, str]:
        return self.driver, self.pool


def parse_slice(manifest: Manifest) -> ResourceSlice:
    spec, name = manifest["spec"], manifest["metadata"]["name"]
    pool, driver = spec["pool"], spec["driver"]
    return ResourceSlice(
        name,
        driver,
        pool["name"],
        pool.get("generation") or 0,
        pool.get("resourceSliceCount") or 0,
        parse_node_selection(spec),
        spec.get("perDeviceNodeSelection"),
        tuple(parse_device(driver, each) for each in spec.get("devices") or ()),
        tuple((each["name"], parse_counters(each)) for each in spec.get("sharedCounters") or ()),
    )
