"""The fields of log lines beside their message: the sandbox, cycle, request or job that they are about."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

FIELDS: Final = ("sandbox", "cycle", "request", "job")

_known: ContextVar[Mapping[str, str]] = ContextVar("log_context")


@contextmanager
def log_context(**fields: str) -> Iterator[None]:
    """Add these fields to the lines of this thread or task within the block; "" removes one."""
    before = _known.set({**_known.get({}), **fields})
    try:
        yield
    finally:
        _known.reset(before)


def note(**fields: str) -> None:
    """Add fields to log lines until the end of the surrounding :func:`log_context`, or of this task."""
    _known.set({**_known.get({}), **fields})


def known() -> dict[str, str]:
    """Return the fields that are known, in the order of FIELDS."""
    fields = _known.get({})
    return {field: fields[field] for field in FIELDS if fields.get(field)}


class AddContext(logging.Filter):
    """Gives each record the fields as the attribute ``context``. A logging call may give others by
    ``extra={"context": {...}}``."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.context = known() | getattr(record, "context", {})
        return True
