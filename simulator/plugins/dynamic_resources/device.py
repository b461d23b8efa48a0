"""The devices of ResourceSlices (Device in staging/src/k8s.io/api/resource/v1/types.go)."""

from typing import NamedTuple

from simulator.api import Manifest
from simulator.cel.device_value import DeviceValue
from simulator.plugins.dynamic_resources.amounts import Amount, Amounts, parse_amount, parse_amounts
from simulator.plugins.dynamic_resources.node_selection import NodeSelection, parse_node_selection


class RequestPolicy(NamedTuple):
    """The amounts of a capacity that a request gets (CapacityRequestPolicy)."""

    default: Amount | None
    """The amount for a request that names none."""
    valid_values: tuple[Amount, ...]
    minimum: Amount | None
    """Of ``validRange``, which always has it."""
    maximum: Amount | None
    step: Amount | None


class DeviceCapacity(NamedTuple):
    value: Amount
    policy: RequestPolicy | None


class CounterConsumption(NamedTuple):
    """What a device takes of a set of shared counters while it is allocated."""

    counter_set: str
    counters: Amounts


class NodeAllocatableMapping(NamedTuple):
    """How much of a node's resource a device is (NodeAllocatableResourceMapping)."""

    capacity_key: str
    """The capacity whose consumed amount counts; "" = the multiplier alone."""
    multiplier: Amount | None


class DeviceTaint(NamedTuple):
    key: str
    value: str
    effect: str


class Device(NamedTuple):
    name: str
    value: DeviceValue
    """The device as selectors see it."""
    attributes: Manifest
    capacity: tuple[tuple[str, DeviceCapacity], ...]
    shareable: bool
    """``allowMultipleAllocations``."""
    consumes: tuple[CounterConsumption, ...]
    taints: tuple[DeviceTaint, ...]
    binding_conditions: tuple[str, ...]
    binding_failure_conditions: tuple[str, ...]
    binds_to_node: bool
    nodes: NodeSelection
    """The device's own nodes, which count in a slice with ``perDeviceNodeSelection``."""

    node_allocatable: tuple[tuple[str, NodeAllocatableMapping], ...]
    """The node's resources that the device is part of."""

    def content(self) -> tuple[object, ...]:
        """Return all that the search reads of the device, except its name and its nodes."""
        return self.value, self.capacity, self.consumes, self.taints, bool(self.binding_conditions)


def parse_device(driver: str, manifest: Manifest) -> Device:
    capacity = manifest.get("capacity") or {}
    return Device(
        manifest["name"],
        DeviceValue.of(driver, manifest),
        manifest.get("attributes") or {},
        tuple((name, _capacity(each)) for name, each in capacity.items()),
        bool(manifest.get("allowMultipleAllocations")),
        tuple(
            CounterConsumption(each.get("counterSet") or "", parse_counters(each))
            for each in manifest.get("consumesCounters") or ()
        ),
        tuple(
            DeviceTaint(each.get("key") or "", each.get("value") or "", each.get("effect") or "")
            for each in manifest.get("taints") or ()
        ),
        tuple(manifest.get("bindingConditions") or ()),
        tuple(manifest.get("bindingFailureConditions") or ()),
        bool(manifest.get("bindsToNode")),
        parse_node_selection(manifest),
        tuple(
            (name, _mapping(each))
            for name, each in (manifest.get("nodeAllocatableResourceMappings") or {}).items()
        ),
    )


def _mapping(manifest: Manifest) -> NodeAllocatableMapping:
    return NodeAllocatableMapping(
        manifest.get("capacityKey") or "", _amount(manifest, "allocationMultiplier")
    )


def parse_counters(manifest: Manifest) -> Amounts:
    counters = manifest.get("counters") or {}
    return parse_amounts({name: each["value"] for name, each in counters.items()})


def _capacity(manifest: Manifest) -> DeviceCapacity:
    given: Manifest | None = manifest.get("requestPolicy")
    if given is None:
        return DeviceCapacity(parse_amount(manifest["value"]), None)
    allowed: Manifest = given.get("validRange") or {}
    policy = RequestPolicy(
        _amount(given, "default"),
        tuple(parse_amount(each) for each in given.get("validValues") or ()),
        _amount(allowed, "min"),
        _amount(allowed, "max"),
        _amount(allowed, "step"),
    )
    return DeviceCapacity(parse_amount(manifest["value"]), policy)


def _amount(manifest: Manifest, name: str) -> Amount | None:
    return None if manifest.get(name) is None else parse_amount(manifest[name])
