"""Cron schedules: ``*/5 * * * *``, ``0 9-17 * * mon-fri``, ``@hourly`` (github.com/robfig/cron/v3
parser.go, ParseStandard, which the CronJob controller uses)."""

import datetime
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
"""Of a schedule's text: one that lists everything is shorter."""
MAX_DAYS = 5 * 366
"""How far ahead a time is looked for, as upstream: 30 February never comes."""


class Schedule(NamedTuple):
    """The values at which it is due. Where both days are restricted, either of them will do."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    def after(self, time: Micros, zone: datetime.tzinfo = datetime.UTC) -> Micros | None:
        """The first time that it is due later than ``time``; None = it never is."""
        start = datetime.datetime.fromtimestamp(time // SECOND, zone).replace(second=0, microsecond=0)
        day = start.date()
        for _ in range(MAX_DAYS):
            if self._on(day):
                for hour in sorted(self.hours):
                    for minute in sorted(self.minutes):
                        moment = datetime.datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
                        found = int(moment.timestamp()) * SECOND
                        if found > time and _exists(moment):
                            return found
            day += datetime.timedelta(days=1)
        return None

    def _on(self, day: datetime.date) -> bool:
        in_month = day.day in self.days
        in_week = day.isoweekday() % 7 in self.weekdays
        if day.month not in self.months:
            return False
        return in_month and in_week if self.any_day or self.any_weekday else in_month or in_week


def parse(text: str) -> Schedule:
    """Raises ValueError, in words for people."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a schedule may have {MAX_LENGTH} characters at most")
    if text.startswith("@") and text not in DESCRIPTORS:
        known = ", ".join(DESCRIPTORS)
        raise ValueError(f"{text!r} is not known; there are {known}")
    fields = DESCRIPTORS.get(text, text).split()
    if len(fields) != len(FIELDS):
        wanted = ", ".join(FIELDS)
        raise ValueError(f"expected 5 fields ({wanted}), found {len(fields)}: {text!r}")
    minutes, hours, days, months, weekdays = (_field(i, field.lower()) for i, field in enumerate(fields))
    any_day, any_weekday = (fields[i][0] in "*?" for i in (2, 4))
    return Schedule(minutes, hours, days, months, weekdays, any_day, any_weekday)


def _field(index: int, text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        low, high = RANGES[index]
        if span not in ("*", "?"):
            first, dash, last = span.partition("-")
            low = _value(index, first)
            # "5/15" goes on to the end, as "5-59/15" does.
            if dash or not slash:
                high = _value(index, last) if dash else low
        if slash and not (step.isascii() and step.isdigit() and 0 < int(step[:9]) < 1000):
            raise ValueError(f"{FIELDS[index]}: {part!r} has no step that is a number above 0")
        if low > high:
            raise ValueError(f"{FIELDS[index]}: {part!r} ends before it begins")
        found.update(range(low, high + 1, int(step) if slash else 1))
    return frozenset(found)


def _value(index: int, text: str) -> int:
    low, high = RANGES[index]
    if text in NAMES[index]:
        return NAMES[index].index(text) + low
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else -1
    if not low <= number <= high:
        raise ValueError(f"{FIELDS[index]}: {text!r} is not a number from {low} to {high}")
    return number


def _exists(moment: datetime.datetime) -> bool:
    """Not within the hour that is left out when clocks are put forward."""
    return datetime.datetime.fromtimestamp(moment.timestamp(), moment.tzinfo).hour == moment.hour
