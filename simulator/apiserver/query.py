"""Parsing of query parameters.

Upstream: apimachinery/pkg/runtime/conversion.go and apiserver/pkg/storage/versioner.
"""

import re
from collections.abc import Mapping

from simulator.apiserver.status import BadRequest, PlainError
from simulator.kernel.go_text import parse_go_duration

Query = Mapping[str, str]
"""Parameters by name. If one occurs several times, its first value is used."""

_SHOWN_LENGTH = 100
"""Maximum number of characters of a wrong value in a message."""


def integer_parameter(query: Query, parameter: str) -> int | None:
    """Parse an int64 parameter; None if it is missing. Raises BadRequest, also for an empty one."""
    if parameter not in query:
        return None
    text = query[parameter]
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise BadRequest(f'strconv.ParseInt: parsing "{text[:_SHOWN_LENGTH]}": invalid syntax')
    if len(text) > 20 or not -(1 << 63) <= int(text) < 1 << 63:
        raise BadRequest(f'strconv.ParseInt: parsing "{text[:_SHOWN_LENGTH]}": value out of range')
    return int(text)


def boolean_parameter(query: Query, parameter: str) -> bool:
    """Parse a boolean parameter: False if it is missing, ``0`` or ``false``, otherwise True, also if
    empty."""
    return parameter in query and query[parameter].lower() not in ("0", "false")


def check_timeout(query: Query) -> None:
    """Check the duration after which a client gives up, to which nothing else is done here (parseTimeout in
    apiserver/pkg/endpoints/filters/request_deadline.go). Raises BadRequest."""
    try:
        parse_go_duration(query.get("timeout") or "0")
    except ValueError as error:
        raise BadRequest(f"invalid timeout specified in the request URL - {error}") from None


def parse_resource_version(text: str, prefix: str = "") -> int:
    """Parse a resourceVersion; an empty one is 0. Raises PlainError, and with a prefix, as for lists,
    BadRequest."""
    fault = version_fault(text)
    if not fault:
        return int(text or "0")
    refusal = BadRequest if prefix else PlainError
    raise refusal(f'{prefix}resourceVersion: Invalid value: "{text[:_SHOWN_LENGTH]}": {fault}')


def version_fault(text: str) -> str:
    """Return the reason for which a text is no resourceVersion, in Go's words; "" if it is one, or empty."""
    if text and not re.fullmatch(r"[0-9]+", text):
        reason = "invalid syntax"
    elif len(text) > 20 or int(text or "0") >= 1 << 64:
        reason = "value out of range"
    else:
        return ""
    return f'strconv.ParseUint: parsing "{text[:_SHOWN_LENGTH]}": {reason}'
