"""Reads the values of an arrivals file's columns and those of a file of nodes."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from simulator.api import SECOND, Micros
from simulator.apiserver import names
from simulator.arrivals.arrival import ArrivalError
from simulator.objects.durations import MAX_DURATION, parse_duration
from simulator.objects.quantity import QuantityError, canonical
from simulator.objects.timestamps import is_timestamp, micros

MISSING: Final = ("", "nan", "nat", "null", "none")
"""Values of a column, in small letters, that say that there is none."""
MAX_SHOWN: Final = 60
"""Maximum number of characters of a value in a message."""

Fields = Mapping[str, Any]
T = TypeVar("T")


class Row:
    """The columns of one line."""

    def __init__(self, fields: Fields, line: int) -> None:
        self.line = line
        self._fields = {
            name: value.strip() if isinstance(value, str) else value for name, value in fields.items()
        }

    def get(self, *names: str) -> Any:
        """Return the value of the first of the columns that has one; None if none has."""
        return self.find(*names)[1]

    def find(self, *names: str) -> tuple[str, Any]:
        """Return the first of the columns that has a value, and the value."""
        for name in names:
            value = self._fields.get(name)
            if value is not None and not (isinstance(value, str) and value.lower() in MISSING):
                return name, value
        return names[0], None

    def read(self, convert: Callable[[Any], T], *names: str) -> T | None:
        """Return the converted value of the first of the columns that has one. Raises ArrivalError."""
        name, value = self.find(*names)
        if value is None:
            return None
        try:
            return convert(value)
        except (ValueError, TypeError, OverflowError) as wrong:
            raise ArrivalError(str(wrong), self.line, name) from None

    def has(self, *names: str) -> bool:
        """Whether the line has one of the columns, with or without a value."""
        return any(name in self._fields for name in names)

    def resources(self) -> list[str]:
        """Return the columns that have the name of a resource."""
        return [name for name in self._fields if "/" in name]

    def fault(self, problem: str, column: str) -> ArrivalError:
        return ArrivalError(problem, self.line, column)


def read_time(value: Any) -> Micros:
    """Return a time, in seconds or as a duration. Raises ValueError."""
    if isinstance(value, str) and is_timestamp(value):
        return micros(value)
    try:
        seconds = float(value)
    except ValueError:
        return parse_duration(value)
    if isinstance(value, bool) or not math.isfinite(seconds):
        raise ValueError(f"{shown(value)} is not a number of seconds")
    return round(seconds * SECOND)


def read_duration(value: Any) -> Micros:
    """Return a duration of at least 0, and at most a year. Raises ValueError."""
    found = read_time(value)
    if not 0 <= found <= MAX_DURATION:
        raise ValueError(f"{shown(value)} is not from 0 to a year")
    return found


def read_name(value: Any) -> str:
    """Return the name of an object. Raises ValueError."""
    return _checked(str(value), names.dns_subdomain(str(value)))


def read_namespace(value: Any) -> str:
    return _checked(str(value), names.dns_label(str(value)))


def read_count(value: Any, most: int) -> int:
    """Return a whole number from 1 to ``most``. Raises ValueError."""
    return read_whole(value, 1, most)


def read_whole(value: Any, least: int, most: int) -> int:
    """Return a whole number in a range. Raises ValueError."""
    found = _whole(value)
    if not least <= found <= most:
        raise ValueError(f"{shown(value)} is not from {least} to {most:,}")
    return found


def read_priority(value: Any) -> int | str:
    """Return a priority, or the name of a PriorityClass. Raises ValueError."""
    try:
        found = _whole(value)
    except ValueError:
        return read_name(value)
    if abs(found) > 1_000_000_000:
        raise ValueError(f"{shown(value)} is not from -1,000,000,000 to 1,000,000,000")
    return found


def read_amount(unit: str = "") -> Callable[[Any], str]:
    """Return a function that reads an amount of a resource in a unit. It raises ValueError."""

    def read(value: Any) -> str:
        try:
            found = canonical(f"{value}{unit}")
        except QuantityError as wrong:
            raise ValueError(f"{shown(value)}: {wrong}") from None
        if found.startswith("-"):
            raise ValueError(f"{shown(value)} is less than 0")
        return found

    return read


def read_pairs(value: Any) -> dict[str, str]:
    """Return pairs: ``a=b;c=d``, or an object of JSON. Raises ValueError."""
    if isinstance(value, dict):
        return {str(key): str(item) for key, item in value.items()}
    found = {}
    for part in filter(None, str(value).split(";")):
        key, equals, item = (each.strip() for each in part.partition("="))
        if not equals:
            raise ValueError(f"{shown(part)} is not of the form key=value")
        found[key] = item
    return found


def read_labels(value: Any) -> dict[str, str]:
    """Return labels. Raises ValueError."""
    found = read_pairs(value)
    for key, item in found.items():
        _checked(key, names.qualified_name(key))
        _checked(item, names.label_value(item))
    return found


def read_node_labels(value: Any) -> dict[str, list[str]]:
    """Return the values that are allowed for labels: ``key=a|b``. Raises ValueError."""
    found = {}
    pairs = value.items() if isinstance(value, dict) else read_pairs(value).items()
    for key, item in pairs:
        _checked(key, names.qualified_name(key))
        values = [str(each) for each in item] if isinstance(item, list) else str(item).split("|")
        for each in values:
            _checked(each, names.label_value(each))
        found[key] = values
    return found


def shown(value: Any) -> str:
    return repr(value)[:MAX_SHOWN]


def _whole(value: Any) -> int:
    number = float(value)
    if isinstance(value, bool) or not number.is_integer():
        raise ValueError(f"{shown(value)} is not a whole number")
    return int(number)


def _checked(text: str, problems: list[str]) -> str:
    if problems:
        raise ValueError(f"{shown(text)}: {problems[0]}")
    return text
