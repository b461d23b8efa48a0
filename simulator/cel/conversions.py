"""Conversions between types: ``int(x)``, ``string(x)`` ... (ConvertToType of cel-go common/types)."""

import math
import re
from typing import Final

from simulator.cel.durations import format_seconds, format_timestamp, parse_duration, parse_timestamp
from simulator.cel.errors import ExpressionError
from simulator.cel.operators import format_double, make_duration, make_timestamp
from simulator.cel.values import (
    MAX_INT,
    MIN_INT,
    Duration,
    Opaque,
    Timestamp,
    TypeName,
    Uint,
    Value,
    make_int,
    make_uint,
    type_name,
)  # fmt: skip

_BOOLS: Final = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}
_INT: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UINT: Final = re.compile(r"[0-9]+", re.ASCII)
_DOUBLE: Final = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)


def _fail(value: Value, target: str) -> ExpressionError:
    return ExpressionError(f"type conversion error from '{type_name(value)}' to '{target}'")


def to_int(value: Value) -> int:
    kind = type(value)
    if kind in (int, Uint):
        return make_int(int(value))
    if kind is float:
        if not -9.223372036854775e18 < value < 9.223372036854775e18:
            raise ExpressionError("integer overflow")
        return int(value)
    if kind is str and _INT.fullmatch(value) and len(value) < 64 and MIN_INT <= int(value) <= MAX_INT:
        return int(value)
    if kind is Timestamp:
        return int(value.nanos // 1_000_000_000)
    if kind is Duration:
        return int(value.nanos)
    raise _fail(value, "int")


def to_uint(value: Value) -> Uint:
    kind = type(value)
    if kind in (int, Uint):
        return make_uint(int(value))
    if kind is float:
        if not 0 <= value < 18446744073709551616.0:
            raise ExpressionError("unsigned integer overflow")
        return Uint(math.trunc(value))
    if kind is str and _UINT.fullmatch(value) and len(value) < 64 and int(value) < 1 << 64:
        return Uint(int(value))
    raise _fail(value, "uint")


def to_double(value: Value) -> float:
    if type(value) in (int, Uint, float):
        return float(value)
    if type(value) is str and _DOUBLE.fullmatch(value):
        return float(value)
    raise _fail(value, "double")


def to_bool(value: Value) -> bool:
    if type(value) is bool:
        return value
    if type(value) is str and value in _BOOLS:
        return _BOOLS[value]
    raise _fail(value, "bool")


def to_string(value: Value) -> str:
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind in (int, Uint):
        return str(int(value))
    if kind is float:
        return format_double(value)
    if kind is bytes:
        try:
            return str(value.decode())
        except UnicodeDecodeError:
            raise ExpressionError("invalid UTF-8 in bytes, cannot convert to string") from None
    if kind is Duration:
        return format_seconds(value)
    if kind is Timestamp:
        return format_timestamp(value)
    if isinstance(value, Opaque) and value.prints:
        return str(value)
    raise _fail(value, "string")


def to_bytes(value: Value) -> bytes:
    if type(value) is bytes:
        return value
    if type(value) is str:
        return value.encode()
    raise _fail(value, "bytes")


def to_duration(value: Value) -> Duration:
    if type(value) is Duration:
        return value
    if type(value) is int:
        return make_duration(value)
    found = parse_duration(value) if type(value) is str else None
    if found is None:
        raise _fail(value, "google.protobuf.Duration")
    return found


def to_timestamp(value: Value) -> Timestamp:
    if type(value) is Timestamp:
        return value
    if type(value) is int:
        return make_timestamp(value * 1_000_000_000)
    found = parse_timestamp(value) if type(value) is str else None
    if found is None:
        raise _fail(value, "google.protobuf.Timestamp")
    return make_timestamp(found.nanos)


def to_type(value: Value) -> TypeName:
    return TypeName(type_name(value))
