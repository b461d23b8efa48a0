"""The value of ``device`` in selectors (dynamic-resource-allocation/cel/compile.go, DeviceMatches)."""

from functools import lru_cache
from typing import Any, Final, NamedTuple

from simulator.cel.errors import ExpressionError
from simulator.cel.quantities import Quantity
from simulator.cel.semvers import parse_version
from simulator.cel.values import DomainMap, Map, Value
from simulator.objects.quantity import parse_quantity

CACHED: Final = 4_096
"""Limit of distinct devices in the cache."""
Manifest = dict[str, Any]


class DeviceValue:
    """The parts of a device that a selector can read. Two devices with the same parts are equal."""

    __slots__ = ("_hash", "_key", "error", "list_error", "value")

    def __init__(self, key: "_Key") -> None:
        self._key = key
        self._hash = hash(key)
        self.error: ExpressionError | None = None
        """The reason for which no selector can be evaluated for the device."""
        self.list_error: ExpressionError | None = None
        """The reason for which no selector can be evaluated that does not know lists."""
        driver = key.driver
        try:
            attributes = [(name, _read(name, kind, content)) for name, kind, content in key.attributes]
        except ExpressionError as error:
            self.error = error
            attributes = []
        of_lists = [name for name, kind, _ in key.attributes if kind in _LISTS]
        if of_lists:
            self.list_error = _unsupported(of_lists[0])
        capacity = [(name, _read_capacity(text)) for name, text in key.capacity]
        self.value: Value = Map(
            (
                ("driver", driver),
                ("attributes", _group(driver, attributes)),
                ("capacity", _group(driver, capacity)),
                ("allowMultipleAllocations", key.allows_several),
            )
        )

    @staticmethod
    def of(driver: str, device: Manifest) -> "DeviceValue":
        """Return the value of a device in the manifest of a ResourceSlice (v1)."""
        attributes = device.get("attributes") or {}
        capacity = device.get("capacity") or {}
        return _make(
            _Key(
                driver,
                tuple(sorted((name, *_choose(attribute)) for name, attribute in attributes.items())),
                tuple(sorted((name, str(found["value"])) for name, found in capacity.items())),
                bool(device.get("allowMultipleAllocations")),
            )
        )

    @property
    def alone(self) -> "DeviceValue":
        """The device as one that does not allow multiple allocations."""
        return _make(self._key._replace(allows_several=False)) if self._key.allows_several else self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceValue) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash


class _Key(NamedTuple):
    driver: str
    attributes: tuple[tuple[str, str, Value], ...]
    """The name, the kind and the content of each."""
    capacity: tuple[tuple[str, str], ...]
    allows_several: bool


_KINDS: Final = ("int", "bool", "string", "version")
_LISTS: Final = ("ints", "bools", "strings", "versions")


def _choose(attribute: Manifest) -> tuple[str, Value]:
    """Return the kind and the content of an attribute, a list as a tuple; an empty kind if it has none
    (getAttributeValue)."""
    for kind in _LISTS:
        if attribute.get(kind) is not None:
            return kind, tuple(attribute[kind])
    found = ((kind, attribute[kind]) for kind in _KINDS if attribute.get(kind) is not None)
    return next(found, ("", None))


def _unsupported(name: str) -> ExpressionError:
    return ExpressionError(f"attribute {name}: unsupported attribute value")


@lru_cache(maxsize=CACHED)
def _make(key: _Key) -> DeviceValue:
    return DeviceValue(key)


def _read(name: str, kind: str, content: Value) -> Value:
    if not kind:
        raise _unsupported(name)
    if kind in _LISTS:
        return [_read(name, kind.removesuffix("s"), each) for each in content]
    if kind != "version":
        return content
    try:
        return parse_version(content)
    except ExpressionError as error:
        raise ExpressionError(f"attribute {name}: parse semantic version: {error}") from None


def _read_capacity(text: str) -> Quantity:
    return Quantity(parse_quantity(text))


def _group(driver: str, found: list[tuple[str, Value]]) -> DomainMap:
    """Return values by domain and id. A name without a domain is in that of the driver
    (parseQualifiedName)."""
    domains: dict[str, list[tuple[str, Value]]] = {}
    for name, value in found:
        domain, slash, identifier = name.partition("/")
        if not slash:
            domain, identifier = driver, name
        domains.setdefault(domain, []).append((identifier, value))
    return DomainMap((domain, Map(entries)) for domain, entries in domains.items())
