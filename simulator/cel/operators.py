"""The operators of CEL and the lookup in values (cel-go common/stdlib, interpreter/attributes.go; v0.26)."""

import math
from collections.abc import Callable
from typing import Final

from simulator.cel.errors import ExpressionError, cost_exceeded, no_such_overload
from simulator.cel.meter import spend_on_lengths
from simulator.cel.values import (
    MIN_INT,
    NONE,
    Duration,
    Map,
    Optional,
    Timestamp,
    Uint,
    Value,
    compare,
    equal,
    is_ordered,
    make_int,
    make_uint,
    type_name,
)  # fmt: skip

MAX_SIZE: Final = 1 << 20
"""Limit of characters or elements in the result of an operator."""
_EXPONENT: Final = 6
"""The power of ten from which on Go prints doubles with an exponent."""
_MIN_TIME: Final = -62_135_596_800_000_000_000
_MAX_TIME: Final = 253_402_300_799_999_999_999


def make_timestamp(nanos: int) -> Timestamp:
    """Return the time, if its year is 1 to 9999. Raises ExpressionError."""
    if not _MIN_TIME <= nanos <= _MAX_TIME:
        raise ExpressionError("timestamp overflow")
    return Timestamp(nanos)


def make_duration(nanos: int) -> Duration:
    """Return the duration, if Go can hold it. Raises ExpressionError."""
    if not MIN_INT <= nanos < -MIN_INT:
        raise ExpressionError("duration overflow")
    return Duration(nanos)


def bound(value: str) -> str:
    """Return the text, if it is not too long. Raises ExpressionError."""
    if len(value) > MAX_SIZE:
        raise cost_exceeded()
    return value


def add(left: Value, right: Value) -> Value:
    kind, other = type(left), type(right)
    if kind is bool or not (kind is list or is_ordered(left)):
        raise no_such_overload("_+_")
    if kind is Duration and other is Timestamp:
        return make_timestamp(left.nanos + right.nanos)
    if kind is Timestamp and other is Duration:
        return make_timestamp(left.nanos + right.nanos)
    if kind is not other or kind is Timestamp:
        raise no_such_overload()
    if kind is int:
        return make_int(left + right)
    if kind is Uint:
        return make_uint(left + right)
    if kind is Duration:
        return make_duration(left.nanos + right.nanos)
    if kind is float:
        return left + right
    if len(left) + len(right) > MAX_SIZE:
        raise cost_exceeded()
    return left + right


def subtract(left: Value, right: Value) -> Value:
    kind, other = type(left), type(right)
    if kind not in (int, Uint, float, Duration, Timestamp):
        raise no_such_overload("_-_")
    if kind is Timestamp and other is Duration:
        return make_timestamp(left.nanos - right.nanos)
    if kind is not other:
        raise no_such_overload()
    if kind is int:
        return make_int(left - right)
    if kind is Uint:
        return make_uint(left - right)
    return left - right if kind is float else make_duration(left.nanos - right.nanos)


def multiply(left: Value, right: Value) -> Value:
    kind = _check_numbers(left, right, "_*_", (int, Uint, float))
    found = left * right
    return make_int(found) if kind is int else make_uint(found) if kind is Uint else found


def divide(left: Value, right: Value) -> Value:
    kind = _check_numbers(left, right, "_/_", (int, Uint, float))
    if kind is float:
        if right == 0:
            infinite = math.copysign(math.inf, left) * math.copysign(1, right)
            return math.nan if left == 0 or math.isnan(left) else infinite
        return left / right
    if right == 0:
        raise ExpressionError("division by zero")
    if kind is Uint:
        return Uint(left // right)
    found = abs(left) // abs(right)
    return make_int(found if (left < 0) == (right < 0) else -found)


def modulo(left: Value, right: Value) -> Value:
    kind = _check_numbers(left, right, "_%_", (int, Uint))
    if right == 0:
        raise ExpressionError("modulus by zero")
    if kind is Uint:
        return Uint(left % right)
    if left == MIN_INT and right == -1:
        raise ExpressionError("integer overflow")
    found = abs(left) % abs(right)
    return -found if left < 0 else found


def _check_numbers(left: Value, right: Value, function: str, kinds: tuple[type, ...]) -> type:
    if type(left) not in kinds:
        raise no_such_overload(function)
    if type(left) is not type(right):
        raise no_such_overload()
    return type(left)


def negate(value: Value) -> Value:
    if type(value) is int:
        return make_int(-value)
    if type(value) is float:
        return -value
    if type(value) is Duration:
        return make_duration(-value.nanos)
    raise no_such_overload("-_")


def invert(value: Value) -> Value:
    if type(value) is not bool:
        raise no_such_overload()
    return not value


def is_equal(left: Value, right: Value) -> Value:
    found = equal(left, right)
    if found is None:
        raise no_such_overload()
    return found


def is_unequal(left: Value, right: Value) -> Value:
    return equal(left, right) is not True


def _ordering(function: str, holds: Callable[[int], bool]) -> Callable[[Value, Value], Value]:
    def run(left: Value, right: Value) -> Value:
        if not is_ordered(left):
            raise no_such_overload(function)
        return holds(compare(left, right))

    return run


def is_in(value: Value, container: Value) -> Value:
    if type(container) is list:
        return any(equal(value, each) is True for each in container)
    if isinstance(container, Map):
        return container.contains(value)
    raise no_such_overload()


OPERATORS: Final[dict[str, Callable[..., Value]]] = {
    "_+_": add, "_-_": subtract, "_*_": multiply, "_/_": divide, "_%_": modulo, "-_": negate, "!_": invert,
    "_==_": is_equal, "_!=_": is_unequal, "@in": is_in,
    "_<_": _ordering("_<_", lambda found: found < 0), "_<=_": _ordering("_<=_", lambda found: found <= 0),
    "_>_": _ordering("_>_", lambda found: found > 0), "_>=_": _ordering("_>=_", lambda found: found >= 0),
}  # fmt: skip


def find(value: Value, key: Value) -> tuple[Value, ...]:
    """Return the value that another value has under a key, in a tuple; () = nothing. Raises ExpressionError
    (refQualify)."""
    if isinstance(value, Map):
        return value.find(key)
    if type(value) is list:
        index = _index(key)
        return (value[index],) if 0 <= index < len(value) else ()
    if type(value) is Optional:
        return (find_optionally(value, key),)
    return ()


def look_up(value: Value, key: Value) -> Value:
    """Return the value that another value has under a key. Raises ExpressionError."""
    found = find(value, key)
    if not found:
        kind = "index out of bounds" if type(value) is list else "no such key"
        spend_on_lengths((key,))
        raise ExpressionError(f"{kind}: {show(key)}")
    return found[0]


def find_optionally(value: Value, key: Value) -> Optional:
    """Return the value that another value, or the value of an optional, has under a key."""
    if type(value) is Optional:
        return find_optionally(value.items[0], key) if value.items else NONE
    found = find(value, key)
    return found[0] if found and type(found[0]) is Optional else Optional(found) if found else NONE


def _index(key: Value) -> int:
    if type(key) in (int, Uint):
        return int(key)
    if type(key) is float:
        if not key.is_integer():
            raise ExpressionError(f"unsupported index value {show(key)} in list")
        return int(key)
    raise ExpressionError(f"unsupported index type '{type_name(key)}' in list")


def show(value: Value) -> str:
    """Return the value as Go's %v prints it in errors."""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return format_double(value)
    return str(value)


def format_double(value: float) -> str:
    """Return the shortest text of a double, as strconv.FormatFloat(value, 'g', -1, 64) writes it."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    sign = "-" if math.copysign(1, value) < 0 else ""
    mantissa, _, power = f"{abs(value)!r}".partition("e")
    whole, _, decimals = mantissa.partition(".")
    digits = (whole + decimals).lstrip("0")
    point = len(whole) + int(power or 0) - (len(whole + decimals) - len(digits) if digits else 0)
    digits = digits.rstrip("0")
    if not digits:
        return sign + "0"
    exponent = point - 1
    if exponent < -4 or exponent >= _EXPONENT:
        rest = "." + digits[1:] if digits[1:] else ""
        return f"{sign}{digits[0]}{rest}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    digits = digits.ljust(point, "0")
    return sign + digits[:point] + ("." + digits[point:] if digits[point:] else "")
