"""Quantities that are added and compared exactly, with their canonical form."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from simulator.objects.quantity import (
    NANO,
    Nanos,
    QuantityError,
    canonical,
    parse_quantity,
    text_in_format_of,
    value,
)

CACHED: Final = 1_024
"""The most distinct quantities that are kept: the devices of a cluster have few."""


class Amount(NamedTuple):
    text: str
    nanos: Nanos

    @property
    def units(self) -> int:
        """The whole units, rounded up (Quantity.Value)."""
        return value(self.nanos)


Amounts = tuple[tuple[str, Amount], ...]
"""Names, and the amount of each."""


@lru_cache(maxsize=CACHED)
def parse_amount(given: str | int | float) -> Amount:
    try:
        text = canonical(given)
    except QuantityError:
        text = str(given)
    return Amount(text, parse_quantity(given))


def parse_amounts(given: Mapping[str, Any]) -> Amounts:
    return tuple((name, parse_amount(each)) for name, each in given.items())


def binary_amount(units: int) -> Amount:
    """Return an amount as NewQuantity(units, BinarySI) prints it."""
    return Amount(text_in_format_of(units * NANO, "Ki"), units * NANO)
