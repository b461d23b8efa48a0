"""The texts and values of errors as Go prints them, and durations in Go's notation."""

import json
import re
from decimal import Decimal
from typing import Any, Final

_ESCAPES: Final = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\",
    '"': r"\"",
}  # fmt: skip


def quote(text: str) -> str:
    """Return the text in double quotes (strconv.Quote)."""
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_kind(value: Any) -> str:
    """Return the kind of a value that was decoded from JSON, as the errors of Go's decoder name it."""
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
    return "object"


def go_type_error(value: Any, wanted: str) -> str:
    """Return the message of Go's decoder for a value of another type than the Go type ``wanted``."""
    return f"json: cannot unmarshal {json_kind(value)} into Go value of type {wanted}"


def plain(value: Any) -> str:
    """Return a value that was decoded from JSON, as ``%v`` prints it."""
    match value:
        case None:
            return "<nil>"
        case dict():
            return f"map[{' '.join(f'{name}:{plain(item)}' for name, item in sorted(value.items()))}]"
        case list():
            return f"[{' '.join(map(plain, value))}]"
        case str():
            return value
        case float():
            return _float(value)
    return json.dumps(value)


def _float(value: float) -> str:
    """A finite number as ``%v`` prints it: with the fewest digits, and an exponent unless it is small."""
    shortest = Decimal(repr(value)).normalize()
    power = shortest.adjusted()
    if not value or -5 < power < 6:
        return f"{shortest:f}"
    sign = "-" if power < 0 else "+"
    return f"{shortest.scaleb(-power):f}e{sign}{abs(power):02}"


def go_json(value: Any) -> str:
    """A value that was decoded from JSON, as Go's encoder writes it: its keys in order."""
    return escaped(json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False))


def escaped(text: str) -> str:
    """A JSON text without ``<``, ``>`` and ``&``, which Go's encoder escapes."""
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def go_syntax(value: Any) -> str:
    """Return a value that was decoded from JSON, as ``%#v`` prints it."""
    match value:
        case None:
            return "interface {}(nil)"
        case dict():
            items = ", ".join(f"{quote(name)}:{go_syntax(item)}" for name, item in sorted(value.items()))
            return f"map[string]interface {{}}{{{items}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(go_syntax, value))}}}"
        case str():
            return quote(value)
    return json.dumps(value)


NANOSECONDS: Final = {
    "ns": 1, "us": 1_000, "\u00b5s": 1_000, "\u03bcs": 1_000, "ms": 1_000_000, "s": 1_000_000_000,
    "m": 60_000_000_000, "h": 3_600_000_000_000,
}  # fmt: skip
_MAX: Final = 2**63 - 1
_LONGEST_PART: Final = 64
"""Characters of a number with its unit."""
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)", re.ASCII)


def parse_go_duration(text: str) -> int:
    """Return the nanoseconds. Raises ValueError with Go's message."""
    problem = ValueError(f"time: invalid duration {quote(text)}")
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0
    if not rest:
        raise problem
    total = at = 0
    while at < len(rest):
        found = _PART.match(rest, at)
        assert found
        whole, fraction, unit = found.groups()
        if not (whole or fraction) or len(found[0]) > _LONGEST_PART:
            raise problem
        if not unit:
            raise ValueError(f"time: missing unit in duration {quote(text)}")
        if unit not in NANOSECONDS:
            raise ValueError(f"time: unknown unit {quote(unit)} in duration {quote(text)}")
        total += int(whole or 0) * NANOSECONDS[unit]
        if fraction:
            total += int(fraction) * NANOSECONDS[unit] // 10 ** len(fraction)
        at = found.end()
    if total > _MAX + (text[0] == "-"):
        raise problem
    return -total if text[0] == "-" else total
