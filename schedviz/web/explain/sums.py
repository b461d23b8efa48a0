"""A formula with its numbers and its result: "(16000-9200)*100/16000 = 42"."""

from typing import Final

import msgspec

DIGITS: Final = 6
"""Decimal places of a fraction that is shown; results are computed from the exact value."""


class Sum(msgspec.Struct, frozen=True):
    """One formula: what it computes, the expression with its numbers, and the result. Integer results are
    rounded down at each division, as in upstream's integer arithmetic."""

    name: str
    expression: str
    result: str

    @property
    def text(self) -> str:
        return f"{self.expression} = {self.result}"


def signed(value: int) -> str:
    """The number as it follows an operator: -30 is written (-30)."""
    return str(value) if value >= 0 else f"({value})"


def fraction(value: float) -> str:
    return f"{value:.{DIGITS}f}".rstrip("0").rstrip(".") or "0"
