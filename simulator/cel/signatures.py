"""The types of the functions of CEL's standard library, of its optionals and of its comprehensions of two
variables (cel-go common/stdlib, cel/library.go, ext/comprehensions.go; v0.26)."""

from collections.abc import Mapping
from typing import Final

from simulator.cel.functions import Signature

_NUMBERS: Final = ("int", "uint", "double")
_COMPARED: Final = ("bool", *_NUMBERS, "string", "bytes", "timestamp", "duration")
_COMPARISON: Final = tuple(f"({each}, {each}) -> bool" for each in _COMPARED)
_PAIR: Final = ("(bool, bool) -> bool",)
_EQUALITY: Final = ("(A, A) -> bool",)
_NUMERIC: Final = tuple(f"({each}, {each}) -> {each}" for each in ("double", "int", "uint"))
_TEXT: Final = ("string.(string) -> bool",)
_OPTIONAL_INDEX: Final = (
    "(optional_type(list(V)), int) -> optional_type(V)",
    "(optional_type(map(K, V)), K) -> optional_type(V)",
)
_SIZED: Final = ("bytes", "list(A)", "map(A, B)", "string")


def _converts(target: str, *sources: str) -> tuple[str, ...]:
    return tuple(f"({each}) -> {target}" for each in sources)


_OF_TIME: Final = ("timestamp.() -> int", "timestamp.(string) -> int")
_OF_BOTH: Final = (*_OF_TIME, "duration.() -> int")
_TEXTS: Final = {
    "_?_:_": ("(bool, A, A) -> A",), "_&&_": _PAIR, "_||_": _PAIR, "!_": ("(bool) -> bool",),
    "@not_strictly_false": ("(bool) -> bool",), "_==_": _EQUALITY, "_!=_": _EQUALITY,
    "_<_": _COMPARISON, "_<=_": _COMPARISON, "_>_": _COMPARISON, "_>=_": _COMPARISON,
    "_+_": (
        "(bytes, bytes) -> bytes", "(double, double) -> double", "(duration, duration) -> duration",
        "(duration, timestamp) -> timestamp", "(timestamp, duration) -> timestamp", "(int, int) -> int",
        "(list(A), list(A)) -> list(A)", "(string, string) -> string", "(uint, uint) -> uint",
    ),
    "_-_": (
        "(double, double) -> double", "(duration, duration) -> duration", "(int, int) -> int",
        "(timestamp, duration) -> timestamp", "(timestamp, timestamp) -> duration", "(uint, uint) -> uint",
    ),
    "_*_": _NUMERIC, "_/_": _NUMERIC, "_%_": ("(int, int) -> int", "(uint, uint) -> uint"),
    "-_": ("(double) -> double", "(int) -> int"),
    "_[_]": ("(list(A), int) -> A", "(map(A, B), A) -> B"),
    "@in": ("(A, list(A)) -> bool", "(A, map(A, B)) -> bool"),
    "size": tuple(f"({each}) -> int" for each in _SIZED) + tuple(f"{each}.() -> int" for each in _SIZED),
    "contains": _TEXT, "startsWith": _TEXT, "endsWith": _TEXT,
    "matches": ("(string, string) -> bool", *_TEXT),
    "type": ("(A) -> type(A)",), "dyn": ("(A) -> dyn",),
    "int": _converts("int", "int", "double", "duration", "string", "timestamp", "uint"),
    "uint": _converts("uint", "uint", "double", "int", "string"),
    "double": _converts("double", "double", "int", "string", "uint"),
    "bool": _converts("bool", "bool", "string"),
    "bytes": _converts("bytes", "bytes", "string"),
    "duration": _converts("duration", "duration", "int", "string"),
    "timestamp": _converts("timestamp", "timestamp", "int", "string"),
    **dict.fromkeys(
        ("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"), _OF_TIME
    ),
    **dict.fromkeys(("getHours", "getMinutes", "getSeconds", "getMilliseconds"), _OF_BOTH),
}  # fmt: skip
_OPTIONAL_TEXTS: Final = {
    "_[_]": _OPTIONAL_INDEX,
    "_[?_]": (
        "(list(V), int) -> optional_type(V)", "(map(K, V), K) -> optional_type(V)", *_OPTIONAL_INDEX,
    ),
    "optional.none": ("() -> optional_type(V)",),
    "optional.of": ("(V) -> optional_type(V)",),
    "optional.ofNonZeroValue": ("(V) -> optional_type(V)",),
    "hasValue": ("optional_type(V).() -> bool",),
    "value": ("optional_type(V).() -> V",),
    "or": ("optional_type(V).(optional_type(V)) -> optional_type(V)",),
    "orValue": ("optional_type(V).(V) -> V",),
    "first": ("list(V).() -> optional_type(V)",),
    "last": ("list(V).() -> optional_type(V)",),
}  # fmt: skip


Signatures = Mapping[str, tuple[Signature, ...]]
"""The overloads of functions, by name."""


def _read(texts: Mapping[str, tuple[str, ...]]) -> Signatures:
    return {name: tuple(map(Signature, each)) for name, each in texts.items()}


STANDARD_SIGNATURES: Final = _read(_TEXTS)
OPTIONAL_SIGNATURES: Final = _read(_OPTIONAL_TEXTS)
_OF_TWO_TYPES: Final = tuple(
    f"({one}, {other}) -> bool" for one in _NUMBERS for other in _NUMBERS if one != other
)
NUMERIC_SIGNATURES: Final = _read(dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _OF_TWO_TYPES))
"""Comparisons of numbers of two types (cel.CrossTypeNumericComparisons)."""
COMPREHENSION_SIGNATURES: Final = _read(
    {"cel.@mapInsert": ("(map(K, V), map(K, V)) -> map(K, V)", "(map(K, V), K, V) -> map(K, V)")}
)
"""What the macros of two variables stand for."""
