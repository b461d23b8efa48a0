"""Sums as people write them, worked out: "(16000-9200)*100/16000 = 42"."""

from typing import Final

import msgspec

DIGITS: Final = 6
"""Of a fraction that is shown; what follows is worked out with all of them."""


class Sum(msgspec.Struct, frozen=True):
    """One line: what is worked out, the expression with its numbers, what comes of it. Where the result is
    whole, it is rounded down at each division, as upstream's integers are."""

    name: str
    expression: str
    result: str

    @property
    def text(self) -> str:
        return f"{self.expression} = {self.result}"


def signed(value: int) -> str:
    """As it stands behind another sign: -30 is written (-30)."""
    return str(value) if value >= 0 else f"({value})"


def fraction(value: float) -> str:
    return f"{value:.{DIGITS}f}".rstrip("0").rstrip(".") or "0"
