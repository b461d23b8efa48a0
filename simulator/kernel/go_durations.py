"""Durations in Go's notation: ``1h30m``, ``-1.5s`` (time.ParseDuration in time/format.go of Go)."""

import re
from typing import Final

from simulator.kernel.go_text import quote

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
