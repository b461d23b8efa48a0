"""Durations and times: their texts, and the functions that read their parts (cel-go common/types)."""

import datetime
import re
import zoneinfo
from collections.abc import Callable
from typing import Final

from simulator.cel.errors import ExpressionError, no_such_overload
from simulator.cel.values import Duration, Timestamp, Value
from simulator.kernel.go_text import parse_go_duration
from simulator.kernel.work import spend_work

_SECOND: Final = 1_000_000_000
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII)
_OFFSET: Final = re.compile(r"([+-]?)(\d\d):(\d\d)", re.ASCII)
_ZONE_WORK: Final = 20
"""The units of work to look up a time zone."""
_EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def parse_duration(text: str) -> Duration | None:
    try:
        return Duration(parse_go_duration(text))
    except ValueError:
        return None


def parse_timestamp(text: str) -> Timestamp | None:
    """Return the time in a text (time.Parse with RFC3339)."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    date, hour, minute, second, fraction, zone = found.groups()
    try:
        moment = datetime.datetime.fromisoformat(f"{date}T{hour}:{minute}:{second}+00:00")
    except ValueError:
        return None
    seconds = int((moment - _EPOCH).total_seconds())
    if zone != "Z":
        offset = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
        seconds -= -offset if zone[0] == "-" else offset
    return Timestamp(seconds * _SECOND + int(f"{fraction or ''}000000000"[:9]))


def format_seconds(duration: Duration) -> str:
    whole, rest = divmod(abs(duration.nanos), _SECOND)
    digits = f"{whole}.{rest:09}".rstrip("0").rstrip(".")
    return f"{'-' if duration.nanos < 0 else ''}{digits}s"


def format_timestamp(time: Timestamp) -> str:
    """Return the time by RFC 3339, in UTC."""
    seconds, rest = divmod(time.nanos, _SECOND)
    moment = _EPOCH + datetime.timedelta(seconds=seconds)
    fraction = f".{rest:09}".rstrip("0") if rest else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z".rjust(20 + len(fraction), "0")


def _place(time: Timestamp, zone: str) -> datetime.datetime:
    moment = _EPOCH + datetime.timedelta(seconds=time.nanos // _SECOND)
    found = _OFFSET.fullmatch(zone)
    spend_work(_ZONE_WORK)
    try:
        if found:
            minutes = int(found[2]) * 60 + int(found[3])
            return moment + datetime.timedelta(minutes=-minutes if found[1] == "-" else minutes)
        return moment.astimezone(zoneinfo.ZoneInfo(zone)) if zone not in ("", "UTC") else moment
    except (KeyError, ValueError, OSError, OverflowError):
        raise ExpressionError(f"unknown time zone {zone}") from None


def _reader(
    of_time: Callable[[datetime.datetime, Timestamp], int], of_duration: Callable[[Duration], int] | None
) -> Callable[..., Value]:
    def run(value: Value, zone: Value = "UTC") -> Value:
        if type(value) is Timestamp and type(zone) is str:
            return of_time(_place(value, zone), value)
        if type(value) is Duration and of_duration:
            return of_duration(value)
        raise no_such_overload()

    return run


def _quotient(unit: int) -> Callable[[Duration], int]:
    return lambda duration: int(abs(duration.nanos) // unit * (-1 if duration.nanos < 0 else 1))


READERS: Final = {
    "getFullYear": _reader(lambda moment, _: moment.year, None),
    "getMonth": _reader(lambda moment, _: moment.month - 1, None),
    "getDate": _reader(lambda moment, _: moment.day, None),
    "getDayOfMonth": _reader(lambda moment, _: moment.day - 1, None),
    "getDayOfWeek": _reader(lambda moment, _: moment.isoweekday() % 7, None),
    "getDayOfYear": _reader(lambda moment, _: moment.timetuple().tm_yday - 1, None),
    "getHours": _reader(lambda moment, _: moment.hour, _quotient(3600 * _SECOND)),
    "getMinutes": _reader(lambda moment, _: moment.minute, _quotient(60 * _SECOND)),
    "getSeconds": _reader(lambda moment, _: moment.second, _quotient(_SECOND)),
    "getMilliseconds": _reader(
        lambda _, time: time.nanos % _SECOND // 1_000_000, lambda duration: duration.nanos // 1_000_000
    ),
}
"""Name of the function -> what it returns."""
