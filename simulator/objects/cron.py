"""Cron schedules: ``*/5 * * * *``, ``0 9-17 * * mon-fri``, ``@hourly``.

Upstream: github.com/robfig/cron/v3 (ParseStandard in parser.go, Next in spec.go), which the CronJob
controller uses."""

import datetime
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from simulator.api import SECOND, Micros

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
FIELDS = ("minute", "hour", "day of month", "month", "day of week")
RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
NAMES: tuple[tuple[str, ...], ...] = ((), (), (), MONTHS, DAYS)
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

    def after(self, time: Micros, zone: datetime.tzinfo = datetime.UTC) -> Micros | None:
        """Return the first matching time after ``time``; None if there is none."""
        return next((due for due in self._due(time, zone) if due > time), None)

    def before(self, time: Micros, zone: datetime.tzinfo = datetime.UTC) -> Micros | None:
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


def parse_schedule(text: str) -> Schedule:
    """Parse a schedule. Raises ValueError with a message for users."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a schedule may have {MAX_LENGTH} characters at most")
    if text.startswith("@") and text not in DESCRIPTORS:
        known = ", ".join(DESCRIPTORS)
        raise ValueError(f"{text!r} is not known; there are {known}")
    fields = DESCRIPTORS.get(text, text).split()
    if len(fields) != len(FIELDS):
        wanted = ", ".join(FIELDS)
        raise ValueError(f"expected 5 fields ({wanted}), found {len(fields)}: {text!r}")
    minutes, hours, days, months, weekdays = (
        _parse_field(i, field.lower()) for i, field in enumerate(fields)
    )
    any_day, any_weekday = (fields[i][0] in "*?" for i in (2, 4))
    return Schedule(minutes, hours, days, months, weekdays, any_day, any_weekday)


def _parse_field(index: int, text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        low, high = RANGES[index]
        if span not in ("*", "?"):
            first, dash, last = span.partition("-")
            low = _parse_value(index, first)
            # "5/15" means "5-59/15": up to the end of the field's range.
            if dash or not slash:
                high = _parse_value(index, last) if dash else low
        if slash and not (step.isascii() and step.isdigit() and 0 < int(step[:9]) < 1000):
            raise ValueError(f"{FIELDS[index]}: {part!r} has no step that is a number above 0")
        if low > high:
            raise ValueError(f"{FIELDS[index]}: {part!r} ends before it begins")
        found.update(range(low, high + 1, int(step) if slash else 1))
    return frozenset(found)


def _parse_value(index: int, text: str) -> int:
    low, high = RANGES[index]
    if text in NAMES[index]:
        return NAMES[index].index(text) + low
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else -1
    if not low <= number <= high:
        raise ValueError(f"{FIELDS[index]}: {text!r} is not a number from {low} to {high}")
    return number


def _exists(moment: datetime.datetime) -> bool:
    """Whether this local time exists: not within the hour that is skipped when daylight saving time
    begins."""
    return datetime.datetime.fromtimestamp(moment.timestamp(), moment.tzinfo).hour == moment.hour
