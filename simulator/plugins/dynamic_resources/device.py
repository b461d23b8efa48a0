"""The devices of ResourceSlices (Device in staging/src/k8s.io/api/resource/v1/types.go)."""

from functools import lru_cache
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.cel.device_value import DeviceValue
from simulator.plugins.dynamic_resources.amounts import Amount, Amounts, parse_amount, parse_amounts
from simulator.plugins.dynamic_resources.node_selection import NO_NODES, NodeSelection, parse_node_selection

CACHED: Final = 1_024
"""The most distinct capacities that are shared by devices."""
_USUAL_FIELDS: Final = frozenset(("name", "attributes", "capacity"))


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


Capacities = tuple[tuple[str, DeviceCapacity], ...]
"""The capacities of a device by name."""


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
    capacity: Capacities
    shareable: bool = False
    """``allowMultipleAllocations``."""
    consumes: tuple[CounterConsumption, ...] = ()
    taints: tuple[DeviceTaint, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    binds_to_node: bool = False
    nodes: NodeSelection = NO_NODES
    """The device's own nodes, which count in a slice with ``perDeviceNodeSelection``."""
    node_allocatable: tuple[tuple[str, NodeAllocatableMapping], ...] = ()
    """The node's resources that the device is part of."""

    def content(self) -> tuple[object, ...]:
        """Return all that the search reads of the device, except its name and its nodes."""
        return self.value, self.capacity, self.consumes, self.taints, bool(self.binding_conditions)


def parse_device(driver: str, manifest: Manifest) -> Device:
    value = DeviceValue.of(driver, manifest)
    attributes = manifest.get("attributes") or {}
    capacity = _capacities(manifest.get("capacity") or {})
    if manifest.keys() <= _USUAL_FIELDS:  # most devices have no other, and there are many
        return Device(manifest["name"], value, attributes, capacity)
    return Device(
        manifest["name"],
        value,
        attributes,
        capacity,
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


def _capacities(manifest: Manifest) -> Capacities:
    if any("requestPolicy" in each for each in manifest.values()):
        return tuple((name, _capacity(each)) for name, each in manifest.items())
    return _amounts_only(tuple((name, each["value"]) for name, each in manifest.items()))


@lru_cache(maxsize=CACHED)
def _amounts_only(given: tuple[tuple[str, Any], ...]) -> Capacities:
    """Return capacities without a policy. Devices that have the same share them."""
    return tuple((name, DeviceCapacity(parse_amount(value), None)) for name, value in given)


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
