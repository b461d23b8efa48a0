"""Times in objects: RFC 3339 in whole seconds."""

import datetime

from simulator.api import SECOND, Micros


def timestamp(now: Micros) -> str:
    """As the API server writes it: ``2006-01-02T15:04:05Z``."""
    moment = datetime.datetime.fromtimestamp(now // SECOND, datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def micros(stamp: str) -> Micros:
    return int(datetime.datetime.fromisoformat(stamp).timestamp()) * SECOND
