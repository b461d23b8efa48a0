"""The devices of a simulated node as text: the annotation ``schedviz/devices`` of a Node.

A line (or a part behind ``;``) for each driver: ``gpu.example.com: 4 x a100 memory=40Gi, 2 x t4``. A group of
equal devices is ``[NUMBER x] MODEL [KEY=VALUE ...] [+FEATURE ...]``. MODEL is the attribute ``model``. A
value with a unit is capacity; another one is an attribute: an int, a bool, a version (``1.2.3``) or a
string. Features (since v1.36; without effect before): ``+shared``, ``+taint=broken:NoExecute``,
``+partitions=7x5Gi`` of the first capacity, ``+attach=30s``."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from simulator.objects.device_features import (
    MAX_SPECIAL_DEVICES,
    Device,
    DeviceNotationError,
    Partition,
    add_features,
    partitioned,
)
from simulator.objects.quantity import parse_quantity

DEVICES: Final = "schedviz/devices"
"""Annotation of a Node."""
MAX_DEVICES: Final = 128
"""The maximum number of devices of a driver: those of one slice (ResourceSliceMaxDevices)."""
MAX_DRIVERS: Final = 8
MAX_PAIRS: Final = 31
"""The maximum of pairs of a device beside its model (ResourceSliceMaxAttributesAndCapacitiesPerDevice is
32)."""

_DRIVER: Final = re.compile(r"(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_COUNT: Final = re.compile(r"(\d{1,6})\s*x\s+(.*)", re.DOTALL)
_KEY: Final = re.compile(r"([a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?/)?[A-Za-z_][A-Za-z0-9_]{0,31}")
_INT: Final = re.compile(r"-?\d{1,18}")
_CAPACITY: Final = re.compile(r"\d+(\.\d+)?(Ki|Mi|Gi|Ti|Pi|Ei|m|k|M|G|T|P|E)")
_VERSION: Final = re.compile(r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")


def parse_devices(text: str) -> dict[str, list[Device]]:
    """Return a mapping of each driver to its devices. Raises DeviceNotationError."""
    found: dict[str, list[Device]] = {}
    for line in filter(None, (each.strip() for each in re.split(r"[\n;]", text))):
        driver, colon, groups = (each.strip() for each in line.partition(":"))
        if not colon or not _DRIVER.fullmatch(driver):
            raise DeviceNotationError(f'"{line[:80]}" must begin with the name of a driver and a colon')
        if driver in found:
            raise DeviceNotationError(f"the driver {driver} is there twice")
        found[driver] = _devices(driver, groups)
    if len(found) > MAX_DRIVERS:
        raise DeviceNotationError(f"must have at most {MAX_DRIVERS} drivers")
    return found


def _devices(driver: str, groups: str) -> list[Device]:
    found: list[Device] = []
    base, number_of_base = driver.partition(".")[0], 0
    for group in groups.split(","):
        counted = _COUNT.fullmatch(group.strip())
        number, words = (int(counted[1]), counted[2]) if counted else (1, group)
        if not 1 <= number <= MAX_DEVICES - len(found):
            raise DeviceNotationError(f"a driver must have 1 to {MAX_DEVICES} devices")
        described, partitions = _described(words.split(), group.strip())
        for _ in range(number):
            found += partitioned(f"{base}-{number_of_base}", described, partitions)
            number_of_base += 1
    most = (
        MAX_SPECIAL_DEVICES if any("taints" in d or "consumesCounters" in d for d in found) else MAX_DEVICES
    )
    if len(found) > most:
        raise DeviceNotationError(
            f"a driver must have at most {most} devices"
            + (", as some have taints or partitions" if most < MAX_DEVICES else "")
        )
    return found


def _described(words: list[str], group: str) -> tuple[Device, list[Partition]]:
    """Return the fields of a group, ``a100 memory=40Gi``, and its partitions."""
    if not words or "=" in words[0] or words[0].startswith("+") or len(words[0]) > 64:
        raise DeviceNotationError(f'"{group[:80]}" does not have the form NUMBER x MODEL KEY=VALUE')
    if len(words) - 1 > MAX_PAIRS:
        raise DeviceNotationError(f"a device must have at most {MAX_PAIRS} attributes and capacities")
    attributes: dict[str, Any] = {"model": {"string": words[0]}}
    capacity: dict[str, Any] = {}
    for key, value in _pairs(each for each in words[1:] if not each.startswith("+")):
        if key in attributes or key in capacity:
            raise DeviceNotationError(f'"{key}" is there twice in "{group[:80]}"')
        if _CAPACITY.fullmatch(value):
            parse_quantity(value)
            capacity[key] = {"value": value}
        else:
            attributes[key] = _attribute(value)
    device: Device = {"attributes": attributes, **({"capacity": capacity} if capacity else {})}
    features = [each.removeprefix("+") for each in words[1:] if each.startswith("+")]
    return device, add_features(device, features)


def _pairs(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not value or len(value) > 64 or not _KEY.fullmatch(key):
            raise DeviceNotationError(f'"{word[:80]}" does not have the form KEY=VALUE')
        yield key, value


def _attribute(value: str) -> dict[str, Any]:
    if _INT.fullmatch(value):
        return {"int": int(value)}
    if value in ("true", "false"):
        return {"bool": value == "true"}
    return {"version": value} if _VERSION.fullmatch(value) else {"string": value}
