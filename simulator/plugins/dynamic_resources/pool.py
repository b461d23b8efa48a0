"""Pools of devices as one node sees them (GatherPools in
staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go)."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from simulator.plugins.dynamic_resources.allocator_rules import AllocatorRules
from simulator.plugins.dynamic_resources.amounts import Amounts
from simulator.plugins.dynamic_resources.device import Device
from simulator.plugins.dynamic_resources.node_selection import NodeSelection
from simulator.plugins.dynamic_resources.resource_claim import DeviceID
from simulator.plugins.dynamic_resources.resource_slice import ResourceSlice


class PoolDevice(NamedTuple):
    id: DeviceID
    device: Device
    slice: ResourceSlice
    here: bool
    """Whether the node is among the device's own nodes, in a slice in which each device has such."""

    @property
    def nodes(self) -> NodeSelection:
        """The nodes on which the device can be used."""
        return self.device.nodes if self.slice.per_device else self.slice.nodes


class Pool(NamedTuple):
    driver: str
    name: str
    devices: tuple[PoolDevice, ...]
    """The devices of the slices that serve the node, in the order in which they are tried."""
    elsewhere: tuple[PoolDevice, ...]
    """The devices of the other slices that consume counters."""
    counter_sets: Mapping[str, Amounts]
    incomplete: bool
    invalid: str
    """The reason for which the pool is invalid; "" for a valid one."""

    @property
    def key(self) -> tuple[str, str]:
        return self.driver, self.name

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"

    def content(self) -> tuple[object, ...]:
        """Return all that the allocator reads of the pool, except its name and those of the devices: it does
        the same with two pools of equal content, but for names in errors and results."""
        devices = tuple(
            (each.device.content(), each.here, selector_terms(each.nodes)) for each in self.devices
        )
        elsewhere = tuple(each.device.consumes for each in self.elsewhere)
        counters = tuple(self.counter_sets.items())
        return self.driver, self.incomplete, self.invalid, devices, elsewhere, counters


def selector_terms(nodes: NodeSelection) -> int:
    """Return the number of terms in the node selector, where that is what selects the nodes."""
    return len((nodes.required or {}).get("nodeSelectorTerms") or ())


class ServingSlice(NamedTuple):
    """A slice that counts for a node."""

    slice: ResourceSlice
    here: tuple[bool, ...] | None
    """For each device whether it can be used on the node; None = each can."""


def serve(
    of: ResourceSlice, matches: Callable[[NodeSelection], bool], rules: AllocatorRules
) -> ServingSlice | None:
    """Return the slice as it counts for a node; None if it does not. ``matches``: whether the node is
    selected."""
    if not rules.partitionable_devices and (
        of.per_device is not None or (of.counter_sets and rules.version.device_pools_are_whole)
    ):
        return None
    if of.counter_sets and rules.version.device_pools_are_whole:
        return ServingSlice(of, None)
    if of.nodes.is_given:
        return ServingSlice(of, None) if matches(of.nodes) else None
    if not of.per_device:
        return None
    here = tuple(matches(device.nodes) for device in of.devices)
    return ServingSlice(of, here) if any(here) else None


def gather_pools(
    serving: Sequence[ServingSlice],
    slices_of: Callable[[tuple[str, str]], Sequence[ResourceSlice]],
    rules: AllocatorRules,
) -> tuple[Pool, ...]:
    """Group the slices that count for a node into pools: of each, those of the highest generation.
    ``slices_of``: all slices of a pool, by driver and name. Until v1.35 slices and pools are in the random
    order of Go's maps; here they are in the given one. Pools in which a device has binding conditions come
    last."""
    groups: dict[tuple[str, str], list[ServingSlice]] = {}
    for each in serving:
        group = groups.setdefault(each.slice.pool_key, [])
        if group and each.slice.generation > group[0].slice.generation:
            group.clear()
        if not group or each.slice.generation == group[0].slice.generation:
            group.append(each)
    found = [_pool(key, group, slices_of, rules) for key, group in groups.items()]
    pools = [pool for pool in found if pool is not None]
    if rules.version.devices_are_sorted:
        pools.sort(key=lambda pool: pool.key)
    return tuple(sorted(pools, key=has_binding_conditions))


def _pool(
    key: tuple[str, str],
    serving: list[ServingSlice],
    slices_of: Callable[[tuple[str, str]], Sequence[ResourceSlice]],
    rules: AllocatorRules,
) -> Pool | None:
    """Return a pool; None if it is obsolete: slices for other nodes have a higher generation."""
    first = serving[0].slice
    others: list[ResourceSlice] = []
    incomplete = len(serving) != first.slice_count
    if incomplete and rules.version.device_pools_are_whole:
        whole = slices_of(key)
        if any(each.generation > first.generation for each in whole):
            return None
        whole = [each for each in whole if each.generation == first.generation]
        incomplete = len(whole) != first.slice_count
        if incomplete:
            return Pool(*key, (), (), {}, incomplete=True, invalid="")
        names = {each.slice.name for each in serving}
        others = [each for each in whole if each.name not in names]
    if rules.version.devices_are_sorted:
        serving = sorted(serving, key=lambda each: each.slice.name)
    # Since v1.35 a slice has either devices or counters.
    one_or_other = rules.partitionable_devices and rules.version.device_pools_are_whole
    devices = tuple(
        PoolDevice(DeviceID(*key, device.name), device, each.slice, each.here is None or each.here[index])
        for each in serving
        if not (each.slice.counter_sets and one_or_other)
        for index, device in enumerate(each.slice.devices)
    )
    elsewhere = tuple(
        PoolDevice(DeviceID(*key, device.name), device, each, False)
        for each in others
        for device in each.devices
        if device.consumes and rules.partitionable_devices
    )
    sets = [
        counter_set
        for each in serving
        for counter_set in each.slice.counter_sets
        if rules.partitionable_devices
    ]
    invalid = _duplicate("device name", [each.id.device for each in devices])
    if rules.partitionable_devices:
        invalid = (
            invalid
            or _duplicate("counter set name", [name for name, _ in sets])
            or _missing_counter(dict(sets), devices)
            or _missing_counter(dict(sets), elsewhere)
        )
    if invalid and rules.version.device_pools_are_whole:
        devices = elsewhere = ()
    return Pool(*key, devices, elsewhere, dict(sets), incomplete, invalid)


def _duplicate(kind: str, names: Sequence[str]) -> str:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return f"duplicate {kind} {name}"
        seen.add(name)
    return ""


def _missing_counter(sets: Mapping[str, Amounts], devices: Sequence[PoolDevice]) -> str:
    """Return the reason for which a device cannot consume its counters (validateDeviceCounterConsumption)."""
    for each in devices:
        for consumed in each.device.consumes:
            if consumed.counter_set not in sets:
                return f"counter set {consumed.counter_set} not found"
            counters = dict(sets[consumed.counter_set])
            for name, _ in consumed.counters:
                if name not in counters:
                    return f"counter {name} not found in counter set {consumed.counter_set}"
    return ""


def has_binding_conditions(pool: Pool) -> bool:
    return any(each.device.binding_conditions for each in pool.devices)
