"""A formula with its numbers and its result: "(16000-9200)*100/16000 = 42"."""

from typing import Final

import msgspec

UNITS: Final = ((1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki"))

DIGITS: Final = 6
"""Number of decimal places of a fraction that is shown; results are computed from the exact value."""


class Sum(msgspec.Struct, frozen=True):
    """One formula: what it computes, the expression with its numbers, and the result. Integer results are
    rounded down at each division, as in upstream's integer arithmetic."""

    name: str
    expression: str
    result: str
    named: str = ""
    """The expression with the names and units of its numbers; empty if it has only numbers that say
    themselves what they are."""

    @property
    def text(self) -> str:
        return f"{self.expression} = {self.result}"


def amount(resource: str, value: int) -> str:
    """Return the amount of a resource with its unit, not rounded: 7900m of cpu, 24320Mi of memory."""
    if resource == "cpu":
        return f"{value}m"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        unit = next(((size, suffix) for size, suffix in UNITS if value and value % size == 0), (1, ""))
        return f"{value // unit[0]}{unit[1]}"
    return str(value)


def signed(value: int) -> str:
    """Return the number as it follows an operator: -30 is written (-30)."""
    return str(value) if value >= 0 else f"({value})"


def fraction(value: float) -> str:
    return f"{value:.{DIGITS}f}".rstrip("0").rstrip(".") or "0"
