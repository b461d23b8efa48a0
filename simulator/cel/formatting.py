"""``"%s".format([...])`` (cel-go ext/formatting.go, v0.26)."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Final

from simulator.cel.conversions import to_string
from simulator.cel.errors import ExpressionError
from simulator.cel.functions import Function
from simulator.cel.operators import bound
from simulator.cel.values import Duration, Map, Timestamp, Uint, Value, type_name
from simulator.kernel.go_text import quote

_CLAUSE: Final = re.compile(r"(?:\.([0-9]*))?(.?)", re.DOTALL)
_MAX_PRECISION: Final = 1_000
_TEXT: Final = (
    "bool", "bytes", "double", "google.protobuf.Duration", "google.protobuf.Timestamp", "int", "list", "map",
    "null_type", "string", "type", "uint",
)  # fmt: skip
_FOR_TEXT: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations,"
    " and timestamps"
)
_RAISED: Final = str.maketrans("0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
_KINDS: Final = {
    "s": (_FOR_TEXT, _TEXT),
    "d": ("decimal clause can only be used on integers", ("int", "uint")),
    "f": ("fixed-point clause can only be used on doubles", ("double", "string")),
    "e": ("scientific clause can only be used on doubles", ("double", "string")),
    "b": ("only integers and bools can be formatted as binary", ("int", "uint", "bool")),
    "x": (
        "only integers, byte buffers, and strings can be formatted as hex", ("int", "uint", "string", "bytes")
    ),
    "o": ("octal clause can only be used on integers", ("int", "uint")),
}  # fmt: skip


def read_format(text: str, count: int, show: Callable[[int, str, int], str]) -> tuple[str, int]:
    """Return the text with its clauses shown, and how many there are. ``show`` is given the number of the
    argument, the letter and the precision. Raises ExpressionError."""
    found: list[str] = []
    at = used = 0
    while at < len(text):
        if text[at] != "%":
            end = text.find("%", at)
            end = len(text) if end < 0 else end
            found.append(text[at:end])
            at = end
            continue
        if text[at + 1 : at + 2] == "%":
            found.append("%")
            at += 2
            continue
        if at + 1 >= len(text):
            raise ExpressionError("unexpected end of string")
        if used >= count:
            raise ExpressionError(f"index {used} out of range")
        clause = _CLAUSE.match(text, at + 1)
        assert clause
        precision, letter = clause.groups()
        if letter.replace("X", "x") not in _KINDS:
            problem = f'unrecognized formatting clause "{letter}"'
            if not letter:
                problem = "unable to find end of precision specifier"
            raise ExpressionError(f"could not parse formatting clause: {problem}")
        found.append(show(used, letter, min(int(precision or 6), _MAX_PRECISION)))
        at = clause.end()
        used += 1
    return "".join(found), used


def check_kind(letter: str, kind: str) -> None:
    """Check that a clause can show values of a type. Raises ExpressionError if not."""
    text, kinds = _KINDS[letter.lower() if letter == "X" else letter]
    if kind not in kinds:
        raise ExpressionError(f"error during formatting: {text}, was given {kind}")


def _format(text: str, values: Sequence[Value]) -> str:
    return bound(read_format(text, len(values), lambda *each: _show(values[each[0]], *each[1:]))[0])


def _show(value: Value, letter: str, precision: int) -> str:
    check_kind(letter, type_name(value))
    if letter == "s":
        return _show_text(value)
    if letter in "fe":
        return _show_double(value, letter, precision)
    if letter in "xX" and isinstance(value, str | bytes):
        shown = (value.encode() if isinstance(value, str) else value).hex()
        return shown.upper() if letter == "X" else shown
    return format(int(value), letter)


def _show_double(value: Value, letter: str, precision: int) -> str:
    if isinstance(value, str):
        if value not in ("NaN", "Infinity", "-Infinity"):
            check_kind(letter, "string ")
        value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "\u221e" if value > 0 else "-\u221e"
    if letter == "f":
        return f"{value:,.{precision}f}"
    mantissa, _, power = f"{value:.{precision}e}".partition("e")
    sign = "\u207b" if power[0] == "-" else ""
    raised = f"{int(power[1:]):02}".translate(_RAISED)
    return f"{mantissa}\u202f\u00d7\u202f10{sign}{raised}"


def _show_text(value: Value) -> str:
    if value is None:
        return "null"
    if type(value) is list:
        return f"[{', '.join(map(_show_inside, value))}]"
    if isinstance(value, Map):
        pairs = sorted((_show_inside(key), _show_inside(each)) for key, each in value.items())
        return "{" + ", ".join(f"{key}:{each}" for key, each in pairs) + "}"
    return str(value.name) if type_name(value) == "type" else to_string(value)


def _show_inside(value: Value) -> str:
    """Return the value within a list or a map, as a literal of CEL."""
    if type(value) is str:
        return quote(value)
    if type(value) is bytes:
        return f"b{quote(to_string(value))}"
    if type(value) is float:
        return f"{value:.6f}"
    if type(value) in (int, Uint):
        return str(int(value))
    if type(value) is Timestamp:
        return f"timestamp({quote(to_string(value))})"
    if type(value) is Duration:
        return f"duration({quote(to_string(value))})"
    if type_name(value) not in _TEXT:
        raise ExpressionError(f"error during formatting: no formatting function for {type_name(value)}")
    return _show_text(value)


FUNCTIONS: Final = (Function("format", "string.(list(dyn)) -> string", _format),)
