"""Cron schedules: ``*/5 * * * *``, ``0 9-17 * * mon-fri``, ``@hourly``.

Upstream: github.com/robfig/cron/v3 (ParseStandard in parser.go, Next in spec.go), which the CronJob
controller uses."""

import datetime
import re
import zoneinfo
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from simulator.api import SECOND, Micros
from simulator.kernel.go_text import NANOSECONDS, parse_go_duration

DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
NAMES: tuple[tuple[str, ...], ...] = ((), (), (), MONTHS, DAYS)
_ZONE_PREFIXES = ("TZ=", "CRON_TZ=")
_EVERY = "@every "
_NUMBER = re.compile("[+-]?[0-9]+")
MAX_LENGTH = 200
"""Maximum length of a schedule. A list of all values of all fields is shorter."""
MAX_DAYS = 5 * 366
"""Maximum number of days that are searched for a matching time (five years, as upstream), because a schedule
may never match, for example on 30 February."""


class Schedule(NamedTuple):
    """The values of each field that match. If both day fields are restricted, a day matches if either
    does."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def after(self, time: Micros, zone: datetime.tzinfo = datetime.UTC, since: Micros = 0) -> Micros | None:
        """Return the first matching time after ``time``; None if there is none. ``since`` does not matter
        here."""
        return next((due for due in self._due(time, zone) if due > time), None)

    def before(self, time: Micros, zone: datetime.tzinfo = datetime.UTC, since: Micros = 0) -> Micros | None:
        """Return the last matching time up to ``time``; None if there is none."""
        return next((due for due in self._due(time, zone, backwards=True) if due <= time), None)

    def _due(self, time: Micros, zone: datetime.tzinfo, *, backwards: bool = False) -> Iterator[Micros]:
        """Yield the matching times from the day of ``time``, forwards or backwards, within the calendar's
        range."""
        hours, minutes = (sorted(values, reverse=backwards) for values in (self.hours, self.minutes))
        step = datetime.timedelta(days=-1 if backwards else 1)
        try:
            day = datetime.datetime.fromtimestamp(time // SECOND, zone).date()
            for _ in range(MAX_DAYS):
                for hour, minute in product(hours, minutes) if self._on(day) else ():
                    moment = datetime.datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
                    if _exists(moment):
                        yield int(moment.timestamp()) * SECOND
                day += step
        except (OverflowError, ValueError):  # both are raised for years before 1 and after 9999
            return

    def _on(self, day: datetime.date) -> bool:
        in_month = day.day in self.days
        in_week = day.isoweekday() % 7 in self.weekdays
        if day.month not in self.months:
            return False
        return in_month and in_week if self.any_day or self.any_weekday else in_month or in_week


class Interval(NamedTuple):
    """A schedule that repeats after a time (ConstantDelaySchedule in constantdelay.go)."""

    delay: Micros

    def after(self, time: Micros, zone: datetime.tzinfo = datetime.UTC, since: Micros = 0) -> Micros | None:
        """Return the first time after ``time``, counted from ``since``."""
        start = since // SECOND * SECOND
        return start + max(1, (time - start) // self.delay + 1) * self.delay

    def before(self, time: Micros, zone: datetime.tzinfo = datetime.UTC, since: Micros = 0) -> Micros | None:
        """Return the last time up to ``time``, counted from ``since``; None if there is none."""
        start = since // SECOND * SECOND
        count = (time - start) // self.delay
        return start + count * self.delay if count > 0 else None


def parse_schedule(text: str) -> Schedule | Interval:
    """Parse a schedule. Raises ValueError with upstream's message. A time zone at its beginning is checked
    and not used, because a CronJob has it in a field of its own."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a schedule may have {MAX_LENGTH} characters at most")
    if text.startswith(_ZONE_PREFIXES):
        zone, _, text = text.partition(" ")
        _check_zone(zone.partition("=")[2])
        text = text.strip()
    if text.startswith(_EVERY):
        return _parse_interval(text)
    if text.startswith("@") and text not in DESCRIPTORS:
        raise ValueError(f"unrecognized descriptor: {text}")
    fields = DESCRIPTORS.get(text, text).split()
    if len(fields) != len(RANGES):
        raise ValueError(f"expected exactly {len(RANGES)} fields, found {len(fields)}: [{' '.join(fields)}]")
    values = [_parse_field(index, field) for index, field in enumerate(fields)]
    minutes, hours, days, months, weekdays = (found for found, _ in values)
    return Schedule(minutes, hours, days, months, weekdays, values[2][1], values[4][1])


def _parse_interval(text: str) -> Interval:
    """Every: whole seconds, at least one."""
    try:
        seconds = parse_go_duration(text.removeprefix(_EVERY)) // NANOSECONDS["s"]
    except ValueError as error:
        raise ValueError(f"failed to parse duration {text}: {error}") from None
    return Interval(max(1, seconds) * SECOND)


def _check_zone(name: str) -> None:
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, zoneinfo.ZoneInfoNotFoundError, OSError):
        raise ValueError(f"provided bad location {name}: unknown time zone {name}") from None


def _parse_field(index: int, text: str) -> tuple[frozenset[int], bool]:
    """Return the values of a field, and whether it has a star, which restricts nothing (getField)."""
    found: set[int] = set()
    has_star = False
    for part in filter(None, text.split(",")):
        values, is_star = _parse_range(index, part)
        found.update(values)
        has_star |= is_star
    return frozenset(found), has_star


def _parse_range(index: int, text: str) -> tuple[range, bool]:
    """Parse a range (getRange)."""
    lowest, highest = RANGES[index]
    span, *steps = text.split("/")
    first, *last = span.split("-")
    is_star = first in ("*", "?")
    if is_star:
        low, high = lowest, highest
    else:
        low = _parse_value(index, first)
        if len(last) > 1:
            raise ValueError(f"too many hyphens: {text}")
        high = _parse_value(index, last[0]) if last else low
    if len(steps) > 1:
        raise ValueError(f"too many slashes: {text}")
    step = _parse_number(steps[0]) if steps else 1
    if steps and not last:
        # "5/15" means "5-59/15": up to the end of the field's range.
        high = highest
    if low < lowest:
        raise ValueError(f"beginning of range ({low}) below minimum ({lowest}): {text}")
    if high > highest:
        raise ValueError(f"end of range ({high}) above maximum ({highest}): {text}")
    if low > high:
        raise ValueError(f"beginning of range ({low}) beyond end of range ({high}): {text}")
    if step == 0:
        raise ValueError(f"step of range should be a positive number: {text}")
    return range(low, high + 1, step), is_star and step == 1


def _parse_value(index: int, text: str) -> int:
    """Parse a number or a name (parseIntOrName)."""
    name = text.lower()
    return NAMES[index].index(name) + RANGES[index][0] if name in NAMES[index] else _parse_number(text)


def _parse_number(text: str) -> int:
    """Parse a number (mustParseInt), with the messages of Go's strconv.Atoi."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    number = int(text)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(
            f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": value out of range'
        )
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number


def _exists(moment: datetime.datetime) -> bool:
    """Whether this local time exists: not within the hour that is skipped when daylight saving time
    begins."""
    return datetime.datetime.fromtimestamp(moment.timestamp(), moment.tzinfo).hour == moment.hour
