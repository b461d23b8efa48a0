"""Durations in Go's notation: ``400ms``, ``12s``, ``1m30s`` (time.ParseDuration)."""

import re
from collections.abc import Mapping
from fractions import Fraction

from simulator.api import SECOND, Micros
from simulator.objects.numbers import whole_number

_UNITS = {"us": 1, "ms": SECOND // 1000, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(us|ms|s|m|h)", re.ASCII)
MAX_LENGTH = 32
MAX_DURATION: Micros = 366 * 24 * 3600 * SECOND
"""A year. Longer durations are refused as a probable mistake."""


def parse_duration(text: object) -> Micros:
    """Parse a duration. Raises ValueError with a message for users."""
    problem = ValueError(f"{str(text)[:MAX_LENGTH]!r} is not a duration; write 400ms, 12s or 1m30s")
    if not isinstance(text, str) or not text or len(text) > MAX_LENGTH:
        raise problem
    if text == "0":
        return 0
    end = 0
    total: int | Fraction = 0
    for part in _PART.finditer(text):
        if part.start() != end:
            raise problem
        end = part.end()
        amount = int(part[1]) if part[1].isdigit() else Fraction(part[1])
        total += amount * _UNITS[part[2]]
    if end != len(text):
        raise problem
    if total > MAX_DURATION:
        raise ValueError(f"{text!r} is longer than a year")
    return int(total)


def annotated_seconds(annotations: Mapping[str, str], name: str) -> int | None:
    """Return the whole seconds in an annotation, at most a year; None if it is missing or not a number."""
    seconds = whole_number(annotations.get(name, ""))
    return None if seconds is None else min(seconds, MAX_DURATION // SECOND)


def format_duration(duration: Micros) -> str:
    """Format a duration in Go's notation: 1m30s, 400ms."""
    if duration and duration < SECOND:
        return f"{duration / 1000:g}ms"
    minutes, rest = divmod(duration, 60 * SECOND)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{hours}h"] if hours else []
    if hours or minutes:
        parts.append(f"{minutes}m")
    return "".join(parts) + f"{rest / SECOND:g}s"
