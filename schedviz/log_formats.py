"""The formats of the log: lines for people, and lines of JSON for programs (the setting LOG_FORMAT)."""

import logging
from datetime import UTC, datetime
from typing import Any

from pythonjsonlogger.msgspec import MsgspecFormatter


def time_of(record: logging.LogRecord) -> str:
    """Return the time of the record, in UTC as RFC 3339."""
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class TextFormatter(logging.Formatter):
    """Formats a record as text: ``TIME LEVEL LOGGER: MESSAGE [sandbox=demo cycle=12]``, and a traceback
    below."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's name)
        fields = " ".join(f"{name}={value}" for name, value in getattr(record, "context", {}).items())
        return f"{time_of(record)} {super().formatMessage(record)}{f' [{fields}]' if fields else ''}"


class JsonFormatter(MsgspecFormatter):
    """Formats a record as one line of JSON: time, level, logger, message, the fields of the context, and
    ``exception``."""

    def __init__(self) -> None:
        super().__init__(("message",), reserved_attrs=())

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        log_data |= {
            "time": time_of(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.message,
            **getattr(record, "context", {}),
        }
        exception = message_dict.get("exc_info") or record.exc_text
        if exception:
            log_data["exception"] = exception
