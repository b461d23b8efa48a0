"""Times in manifests (metav1.Time): RFC 3339 in whole seconds."""

import datetime
import re
from functools import lru_cache

from simulator.kernel.clock import END, SECOND, Micros

LAST_SECOND = END // SECOND
"""The last second of the year 9999, the last year of RFC 3339."""
NO_TIMESTAMP = "must be a time as RFC 3339 has it: 2006-01-02T15:04:05Z"
_TIMESTAMP = re.compile(
    r"\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)",
    re.ASCII,
)


def is_timestamp(text: str) -> bool:
    """Whether the text is a time that :func:`micros` can parse."""
    if not _TIMESTAMP.fullmatch(text):
        return False
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:  # a day that does not exist, such as 30 February
        return False
    return True


def timestamp(now: Micros) -> str:
    """Format a time: ``2006-01-02T15:04:05Z``. Later times than LAST_SECOND are set to it."""
    return _format(min(now // SECOND, LAST_SECOND))


@lru_cache(maxsize=64)
def _format(second: int) -> str:
    moment = datetime.datetime.fromtimestamp(second, datetime.UTC)
    return moment.replace(tzinfo=None).isoformat() + "Z"


def micros(stamp: str) -> Micros:
    """Parse a time in RFC 3339 to microseconds, cut off to whole seconds. Raises ValueError."""
    return int(datetime.datetime.fromisoformat(stamp).timestamp()) * SECOND
