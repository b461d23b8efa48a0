"""Filters for the log handlers and loggers in the settings."""

import logging
import time
from typing import Final

QUIET_SECONDS: Final = 30.0


class Repeated(logging.Filter):
    """Drops a record whose message was logged within the last QUIET_SECONDS: a Celery worker that cannot
    reach Redis logs the same message several times a second. Messages are kept without their arguments, so
    the memory is bounded by the number of log calls in the code."""

    def __init__(self) -> None:
        super().__init__()
        self._written: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now - self._written.get(str(record.msg), -QUIET_SECONDS) < QUIET_SECONDS:
            return False
        self._written[str(record.msg)] = now
        return True


def is_fault(record: logging.LogRecord) -> bool:
    """Logging filter for ``django.request``: passes exceptions in views. A body that cannot be parsed (400),
    a page that does not exist (404) and a Redis that does not answer (503) are not logged."""
    return bool(record.exc_info) and getattr(record, "status_code", 500) >= 500


def without_traceback(record: logging.LogRecord) -> bool:
    """Logging filter: removes the traceback of a refused request (a wrong Host header, too many fields),
    which Django logs under ``django.security``."""
    if record.name.startswith("django.security."):
        record.exc_info = None
    return True
