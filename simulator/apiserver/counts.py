"""Checks of numbers of pods that may be percentages.

Upstream: ValidatePositiveIntOrPercent and IsNotMoreThan100Percent in pkg/apis/apps/validation/validation.go,
v1.34.
"""

import re
from collections.abc import Iterator
from typing import Final

from simulator.apiserver.field_checks import NOT_NEGATIVE
from simulator.apiserver.status import Cause, invalid
from simulator.objects.labels import parse_int64

PERCENTAGE: Final = re.compile("[0-9]{1,9}%", re.ASCII)
"""A percentage. It has at most nine digits, because with more the number overflows upstream."""
_NO_PERCENTAGE: Final = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def validate_int_or_percent(value: int | str, path: str) -> Iterator[Cause]:
    """Validate a number that is not negative, or a percentage (ValidatePositiveIntOrPercent)."""
    if isinstance(value, int):
        if value < 0:
            yield invalid(path, value, NOT_NEGATIVE)
    elif not PERCENTAGE.fullmatch(value):
        yield invalid(path, value, _NO_PERCENTAGE)


def check_at_most_all(value: int | str, path: str) -> Iterator[Cause]:
    """Yield the faults that IsNotMoreThan100Percent reports."""
    if isinstance(value, str) and PERCENTAGE.fullmatch(value) and int(value[:-1]) > 100:
        yield invalid(path, value, "must not be greater than 100%")


def amount_of(value: int | str) -> int:
    """Return the number or the percentage (getIntOrPercentValue)."""
    if isinstance(value, int):
        return value
    return int(value[:-1]) if PERCENTAGE.fullmatch(value) else parse_int64(value) or 0
