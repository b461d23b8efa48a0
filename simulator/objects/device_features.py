"""The features of devices in the notation of a node: ``+shared``, ``+taint=KEY[=VALUE]:EFFECT``,
``+partitions=7x5Gi`` and ``+attach=30s``."""

import re
from typing import Any, Final, NamedTuple

from simulator.objects.durations import parse_duration
from simulator.objects.quantity import Nanos, parse_quantity

SECONDS: Final = 1_000_000
MAX_SPECIAL_DEVICES: Final = 64
"""The maximum number of devices of a slice where one has taints or counters
(ResourceSliceMaxDevicesWithTaintsOrConsumesCounters)."""
MAX_TAINTS: Final = 4
LONGEST_ATTACHMENT: Final = 3600
"""Seconds."""
ATTACHED: Final = "schedviz/attached"
"""The condition that the simulated driver reports of a device that had to be attached."""
NOT_ATTACHED: Final = "schedviz/not-attached"
"""The condition of a device that could not be attached. The simulated driver never reports it; the API asks
for one beside the other."""
ATTACH_SECONDS: Final = "attachSeconds"
"""The attribute of a device that has to be attached: for how long that takes."""
EFFECTS: Final = ("NoSchedule", "NoExecute")

_TAINT: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_./]{0,62})(=[-A-Za-z0-9_.]{0,63})?:(\w+)")
_PARTITIONS: Final = re.compile(r"(\d{1,2})x(.+)")

Device = dict[str, Any]
"""An entry of a ResourceSlice's ``spec.devices``."""


class DeviceNotationError(ValueError):
    """The error of a text that describes no devices. The message says what is wrong, for an error of the API
    server."""


class Partition(NamedTuple):
    """A part of a device that can be allocated in place of the device."""

    capacity: str
    """The capacity that is partitioned."""
    amount: str


def add_features(device: Device, features: list[str]) -> list[Partition]:
    """Add the features to a device. Return its partitions. Raises DeviceNotationError."""
    partitions: list[Partition] = []
    for feature in features:
        name, _, value = feature.partition("=")
        match name:
            case "shared" if not value:
                device["allowMultipleAllocations"] = True
            case "taint":
                device.setdefault("taints", []).append(_taint(value))
            case "attach":
                _attach(device, value)
            case "partitions":
                partitions += _partitions(device, value)
            case _:
                raise DeviceNotationError(
                    f'"+{feature[:80]}" is none of +shared, +taint=KEY:EFFECT, +partitions=7x5Gi, +attach=30s'
                )
    if len(device.get("taints", ())) > MAX_TAINTS:
        raise DeviceNotationError(f"a device must have at most {MAX_TAINTS} taints")
    if partitions and device.get("allowMultipleAllocations"):
        raise DeviceNotationError("a device cannot have +partitions and +shared")
    return partitions


def _taint(value: str) -> dict[str, str]:
    found = _TAINT.fullmatch(value)
    if found is None or found[3] not in EFFECTS:
        effects = " or ".join(EFFECTS)
        raise DeviceNotationError(
            f'"+taint={value[:80]}" must have the form KEY=VALUE:EFFECT, with {effects}'
        )
    taint = {"key": found[1], "effect": found[3]}
    return {**taint, "value": found[2].removeprefix("=")} if found[2] else taint


def _attach(device: Device, value: str) -> None:
    try:
        seconds = parse_duration(value) / SECONDS
    except ValueError:
        seconds = 0
    if not 1 <= seconds <= LONGEST_ATTACHMENT or seconds != int(seconds):
        raise DeviceNotationError(f'"+attach={value[:80]}" must be whole seconds, from 1s to 1h')
    device["attributes"] = {**device["attributes"], ATTACH_SECONDS: {"int": int(seconds)}}
    device["bindingConditions"] = [ATTACHED]
    device["bindingFailureConditions"] = [NOT_ATTACHED]


def _partitions(device: Device, value: str) -> list[Partition]:
    capacity = device.get("capacity") or {}
    if not capacity:
        raise DeviceNotationError("+partitions needs a capacity before it, such as memory=40Gi")
    name = next(iter(capacity))
    found = _PARTITIONS.fullmatch(value)
    try:
        amount: Nanos = parse_quantity(found[2]) if found is not None else 0
    except ValueError:
        amount = 0
    if found is None or amount <= 0 or not int(found[1]):
        raise DeviceNotationError(f'"+partitions={value[:80]}" must have the form NUMBERxAMOUNT')
    if amount > parse_quantity(capacity[name]["value"]):
        raise DeviceNotationError(f"a partition must not have more than the {name} of its device")
    return [Partition(name, found[2])] * int(found[1])


def partitioned(name: str, device: Device, partitions: list[Partition]) -> list[Device]:
    """Return a device and its partitions, which share the counters of a set with its name."""
    if not partitions:
        return [{"name": name, **device}]

    def consuming(amount: str) -> list[dict[str, Any]]:
        counters = {partitions[0].capacity: {"value": amount}}
        return [{"counterSet": name, "counters": counters}]

    whole = device["capacity"][partitions[0].capacity]["value"]
    found = [{"name": name, **device, "consumesCounters": consuming(whole)}]
    for number, part in enumerate(partitions):
        rest = {field: value for field, value in device.items() if field != "capacity"}
        capacity = {part.capacity: {"value": part.amount}}
        part_name = f"{name}-part-{number}"
        found.append(
            {"name": part_name, **rest, "capacity": capacity, "consumesCounters": consuming(part.amount)}
        )
    return found


def counter_sets(devices: list[Device]) -> list[dict[str, Any]]:
    """Return the shared counters of devices with partitions: those that the whole device consumes."""
    found: dict[str, dict[str, Any]] = {}
    for device in devices:
        for consumed in device.get("consumesCounters") or ():
            if consumed["counterSet"] == device["name"]:
                found[device["name"]] = consumed["counters"]
    return [{"name": name, "counters": counters} for name, counters in found.items()]
