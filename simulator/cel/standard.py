"""The functions of CEL's standard library and of its optionals, by name."""

from collections.abc import Callable
from typing import Final

from simulator.cel.conversions import (
    to_bool,
    to_bytes,
    to_double,
    to_duration,
    to_int,
    to_string,
    to_timestamp,
    to_type,
    to_uint,
)  # fmt: skip
from simulator.cel.durations import READERS
from simulator.cel.errors import ExpressionError, no_such_overload
from simulator.cel.functions import Function
from simulator.cel.operators import OPERATORS, find_optionally, look_up
from simulator.cel.regexes import matches
from simulator.cel.values import NONE, Duration, Map, Optional, Timestamp, Value


def _size(value: Value) -> int:
    if type(value) in (str, bytes, list) or isinstance(value, Map):
        return len(value)
    raise no_such_overload("size")


def _of_texts(run: Callable[[str, str], bool]) -> Callable[[Value, Value], bool]:
    def check(text: Value, part: Value) -> bool:
        if type(text) is not str or type(part) is not str:
            raise no_such_overload()
        return run(text, part)

    return check


def _matches(text: Value, pattern: Value) -> bool:
    if type(text) is not str:
        raise no_such_overload("matches")
    if type(pattern) is not str:
        raise no_such_overload()
    return matches(text, pattern)


def _is_zero(value: Value) -> bool:
    if type(value) is Timestamp:
        return False
    if type(value) is Duration:
        return bool(value.nanos == 0)
    if type(value) is Optional:
        return not value.items
    return value is None or (isinstance(value, int | float | str | bytes | list | Map) and not value)


def _get(value: Value) -> Value:
    if type(value) is not Optional:
        raise no_such_overload("value")
    if not value.items:
        raise ExpressionError("optional.none() dereference")
    return value.items[0]


def _has_value(value: Value) -> bool:
    if type(value) is not Optional:
        raise no_such_overload("hasValue")
    return bool(value.items)


def _unwrap(values: list[Value]) -> list[Value]:
    return [each.items[0] for each in values if each.items]


def _insert(entries: Map, key: Value, *values: Value) -> Map:
    if not values:
        for each in key.items():
            _insert(entries, *each)
        return entries
    if entries.contains(key):
        raise ExpressionError(f"insert failed: key {key} already exists")
    entries.put(key, values[0])
    return entries


STANDARD: Final[dict[str, Callable[..., Value]]] = {
    **OPERATORS,
    **READERS,
    "_[_]": look_up,
    "_[?_]": find_optionally,
    "_?._": find_optionally,
    "size": _size,
    "contains": _of_texts(lambda text, part: part in text),
    "startsWith": _of_texts(str.startswith),
    "endsWith": _of_texts(str.endswith),
    "matches": _matches,
    "int": to_int, "uint": to_uint, "double": to_double, "bool": to_bool, "bytes": to_bytes,
    "duration": to_duration, "timestamp": to_timestamp, "type": to_type, "dyn": lambda value: value,
    "optional.none": lambda: NONE,
    "optional.of": lambda value: Optional((value,)),
    "optional.ofNonZeroValue": lambda value: NONE if _is_zero(value) else Optional((value,)),
    "hasValue": _has_value,
    "value": _get,
    "first": lambda items: Optional(tuple(items[:1])),
    "last": lambda items: Optional(tuple(items[-1:])),
    "cel.@mapInsert": _insert,
}  # fmt: skip

_PRINTED: Final = ("string", "int", "uint", "double", "bytes", "bool", "duration", "timestamp")
FUNCTIONS: Final = tuple(Function("string", f"({each}) -> string", to_string) for each in _PRINTED)
OPTIONAL_FUNCTIONS: Final = (
    Function("optional.unwrap", "(list(optional_type(T))) -> list(T)", _unwrap),
    Function("unwrapOpt", "list(optional_type(T)).() -> list(T)", _unwrap),
)
