"""Pools of devices as one node sees them (GatherPools in pools_experimental.go)."""

from collections.abc import Sequence
from typing import NamedTuple

from simulator.plugins.dynamic_resources.resource_claim import DeviceID
from simulator.plugins.dynamic_resources.resource_slice import Device, ResourceSlice


class PoolDevice(NamedTuple):
    id: DeviceID
    device: Device
    slice: ResourceSlice


class Pool(NamedTuple):
    driver: str
    name: str
    devices: tuple[PoolDevice, ...]
    """The devices, in the order of the slices."""
    incomplete: bool
    duplicate: str
    """The name that two devices have, which makes the pool invalid; "" for a valid one."""

    @property
    def key(self) -> tuple[str, str]:
        return self.driver, self.name

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"

    def content(self) -> tuple[object, ...]:
        """Return all that the allocator reads of the pool, except its name and those of the devices: it does
        the same with two pools of equal content, but for names in errors and results."""
        devices = tuple(
            (
                each.device.value,
                each.device.consumes_counters,
                each.device.has_binding_conditions,
                selector_terms(each.slice),
            )
            for each in self.devices
        )
        return self.driver, self.incomplete, self.duplicate, devices


def selector_terms(of: ResourceSlice) -> int:
    """Return the number of terms in the slice's node selector, where that is what selects its nodes."""
    if of.node_name or of.selector_manifest is None or of.all_nodes:
        return 0
    return len(of.selector_manifest.get("nodeSelectorTerms") or ())


def gather_pools(slices: Sequence[ResourceSlice]) -> tuple[Pool, ...]:
    """Group the slices that count for a node into pools: of each, those of the highest generation. Upstream
    has slices and pools in the random order of Go's maps; here they are in the order of ``slices``. Pools in
    which a device has binding conditions come last."""
    groups: dict[tuple[str, str], list[ResourceSlice]] = {}
    for each in slices:
        group = groups.setdefault((each.driver, each.pool), [])
        if group and each.generation > group[0].generation:
            group.clear()
        if not group or each.generation == group[0].generation:
            group.append(each)
    pools = [_pool(driver, name, group) for (driver, name), group in groups.items()]
    return tuple(sorted(pools, key=_has_binding_conditions))


def _pool(driver: str, name: str, slices: Sequence[ResourceSlice]) -> Pool:
    devices = tuple(
        PoolDevice(DeviceID(driver, name, device.name), device, each)
        for each in slices
        for device in each.devices
    )
    seen: set[str] = set()
    duplicate = ""
    for each in devices:
        if each.id.device in seen:
            duplicate = each.id.device
            break
        seen.add(each.id.device)
    return Pool(driver, name, devices, len(slices) != slices[0].slice_count, duplicate)


def _has_binding_conditions(pool: Pool) -> bool:
    return any(each.device.has_binding_conditions for each in pool.devices)
