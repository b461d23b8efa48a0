"""Simulated time: whole microseconds since the Unix epoch."""

from typing import Final

Micros = int
"""A simulated time, or a duration, in microseconds."""

SECOND: Final[Micros] = 1_000_000

END: Final[Micros] = 253_402_300_799 * SECOND
"""The end of the year 9999. RFC 3339 has no later time, so no object can have one, and clocks are kept in 64
bits. Durations in objects (tolerationSeconds, activeDeadlineSeconds) may reach further; what they ask for is
then never done."""
