"""The values of CEL, and what all of them can do (cel-go common/types).

bool, int, float, str, bytes, None and list are themselves, int within 64 bits; a map is a :class:`Map`. A
type of Kubernetes is a subclass of :class:`Opaque`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulator.cel.errors import ExpressionError, no_such_overload
from simulator.kernel.work import spend_work

Value = Any
"""bool | int | Uint | float | str | bytes | None | list | Map | Duration | Timestamp | TypeName | Optional |
Opaque."""

MIN_INT: Final = -(1 << 63)
MAX_INT: Final = (1 << 63) - 1
MAX_UINT: Final = (1 << 64) - 1


class Uint(int):
    """An unsigned integer."""


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Duration:
    nanos: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    nanos: int
    """Nanoseconds since 1970-01-01T00:00:00Z."""


@dataclass(frozen=True, slots=True)
class Optional:
    """An optional value: ``items`` has one element or none."""

    items: tuple[Value, ...]


NONE: Final = Optional(())


class Opaque:
    """A value of a type of Kubernetes."""

    __slots__ = ()
    type_name = ""
    go_name = ""
    """The type in errors of Go."""
    prints = False
    """Whether ``string(x)`` is its str."""

    def equals(self, other: Value) -> bool | None:
        """Whether both are equal. None = there is no such overload."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _BoolKey:
    """A key that is bool. Python's True equals 1."""

    value: bool


class Map:
    """A map. Numbers of different types are the same key if they are equal."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[tuple[Value, Value]] = ()) -> None:
        self._entries: dict[Value, tuple[Value, Value]] = {_key(key): (key, found) for key, found in entries}

    def find(self, key: Value) -> tuple[Value, ...]:
        """Return the value of a key, in a tuple; () = there is none."""
        try:
            found = self._entries.get(_key(key))
        except TypeError:  # not a key: a list, a map
            return ()
        return () if found is None else found[1:]

    def contains(self, key: Value) -> bool:
        """Whether the key is there."""
        try:
            return _key(key) in self._entries
        except TypeError:
            return False

    def put(self, key: Value, value: Value) -> None:
        """Adds an entry to a map that is being made."""
        self._entries[_key(key)] = (key, value)

    def keys(self) -> Iterator[Value]:
        return (key for key, _ in self._entries.values())

    def items(self) -> Iterable[tuple[Value, Value]]:
        return self._entries.values()

    def __len__(self) -> int:
        return len(self._entries)


class DomainMap(Map):
    """A map in which each key that is not there has an empty map (dynamic-resource-allocation/cel,
    newStringInterfaceMapWithDefault)."""

    __slots__ = ()

    def find(self, key: Value) -> tuple[Value, ...]:
        return super().find(key) or (Map(),)


class JsonMap(Map):
    """A map that is an object of JSON. Its values become those of CEL when they are read."""

    __slots__ = ("_json",)

    def __init__(self, json: Mapping[str, Any]) -> None:
        self._json = json

    def find(self, key: Value) -> tuple[Value, ...]:
        return (from_json(self._json[key]),) if self.contains(key) else ()

    def contains(self, key: Value) -> bool:
        return type(key) is str and key in self._json

    def keys(self) -> Iterator[Value]:
        return iter(self._json)

    def items(self) -> Iterable[tuple[Value, Value]]:
        return ((key, from_json(value)) for key, value in self._json.items())

    def __len__(self) -> int:
        return len(self._json)


def from_json(value: Any) -> Value:
    """Return a value of JSON as one of CEL. A tuple is a list, too."""
    if type(value) is dict:
        return JsonMap(value)
    return [from_json(each) for each in value] if type(value) in (list, tuple) else value


def _key(key: Value) -> Value:
    return _BoolKey(key) if isinstance(key, bool) else key


_NAMES: Final = {
    bool: "bool", int: "int", Uint: "uint", float: "double", str: "string", bytes: "bytes",
    type(None): "null_type", list: "list", Map: "map", DomainMap: "map", JsonMap: "map", TypeName: "type",
    Duration: "google.protobuf.Duration", Timestamp: "google.protobuf.Timestamp", Optional: "optional_type",
}  # fmt: skip
_GO_NAMES: Final = {
    bool: "types.Bool", int: "types.Int", Uint: "types.Uint", float: "types.Double", str: "types.String",
    bytes: "types.Bytes", type(None): "types.Null", TypeName: "*types.Type", Duration: "types.Duration",
    Timestamp: "types.Timestamp", Optional: "*types.Optional",
}  # fmt: skip


def type_name(value: Value) -> str:
    """Return the name of a value's type."""
    return _NAMES.get(type(value)) or str(value.type_name)


def go_name(value: Value) -> str:
    """Return the type that holds a value in cel-go."""
    return _GO_NAMES.get(type(value)) or str(value.go_name)


_NUMBERS: Final = (int, Uint, float)
_ELEMENTS_OF_A_UNIT: Final = 8
_ENTRIES_OF_A_UNIT: Final = 2
"""The elements of lists, and the entries of maps, that are compared in the time of one unit of work. The cost
of an evaluation does not count those that are within others."""


def equal(left: Value, right: Value) -> bool | None:
    """Whether two values are equal (types.Equal). None = there is no such overload, which only values of
    Kubernetes' types on the left answer. Raises OutOfWork."""
    if left is None or right is None:
        return left is right
    if isinstance(left, Opaque):
        return left.equals(right)
    kind, other = type(left), type(right)
    if kind in _NUMBERS:
        return other in _NUMBERS and bool(left == right)
    if kind is list:
        if other is not list or len(left) != len(right):
            return False
        spend_work(1 + len(left) // _ELEMENTS_OF_A_UNIT)
        return all(equal(*pair) is not False for pair in zip(left, right, strict=True))
    if isinstance(left, Map):
        return isinstance(right, Map) and _equal_maps(left, right)
    if kind is Optional:
        if other is not Optional or len(left.items) != len(right.items):
            return False
        return equal(left.items[0], right.items[0]) if left.items else True
    return kind is other and bool(left == right)


def _equal_maps(left: Map, right: Map) -> bool:
    if len(left) != len(right):
        return False
    spend_work(1 + len(left) // _ENTRIES_OF_A_UNIT)
    for key, value in left.items():
        found = right.find(key)
        if not found or equal(value, found[0]) is False:
            return False
    return True


_ORDERED: Final = {bool, str, bytes, Duration, Timestamp}


def compare(left: Value, right: Value) -> int:
    """Return -1, 0 or 1 (traits.Comparer). ``left`` must be of a type with an order.

    Raises ExpressionError."""
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        if (kind is float and math.isnan(left)) or (other is float and math.isnan(right)):
            raise ExpressionError("NaN values cannot be ordered")
    elif kind is not other:
        raise no_such_overload()
    elif kind in (Duration, Timestamp):
        left, right = left.nanos, right.nanos
    # Texts are in the order of their code points, which is that of their bytes, as in Go.
    return int(left > right) - int(left < right)


def is_ordered(value: Value) -> bool:
    """Whether values of this type have an order."""
    return type(value) in _NUMBERS or type(value) in _ORDERED


def make_int(value: int) -> int:
    """Return the int, if it fits into 64 bits. Raises ExpressionError."""
    if not MIN_INT <= value <= MAX_INT:
        raise ExpressionError("integer overflow")
    return value


def make_uint(value: int) -> Uint:
    """Return the uint, if it fits into 64 bits. Raises ExpressionError."""
    if not 0 <= value <= MAX_UINT:
        raise ExpressionError("unsigned integer overflow")
    return Uint(value)
