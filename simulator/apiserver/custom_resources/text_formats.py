"""The formats of texts in the schemas of custom resources; a text of an unknown format may be anything.

Upstream: supportedVersionedFormats in apiextensions-apiserver/pkg/apiserver/validation/formats.go and
kube-openapi/pkg/validation/strfmt/default.go. Numbers of cards and books (creditcard, isbn) are not
validated. jsonschema's format checkers follow the JSON schema, which is stricter for times and hosts.
"""

import base64
import binascii
import datetime
import ipaddress
import re
from collections.abc import Callable
from email.utils import parseaddr
from typing import Final

from simulator.cel.durations import parse_duration
from simulator.cel.urls import parse_request_uri


def has_format(form: str, text: str) -> bool:
    """Whether a text has the format of this name."""
    check = _CHECKS.get(form.replace("-", ""))
    return check is None or check(text)


def _pattern(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII | re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except (ValueError, binascii.Error):
            return False
        return True

    return check


def _date(text: str) -> None:
    if len(text) != 10:
        raise ValueError(text)
    datetime.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=datetime.UTC)


_TIME: Final = _pattern(r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})")


def _date_time(text: str) -> bool:
    date, letter, time = text.upper().partition("T")
    return bool(letter) and _CHECKS["date"](date) and _TIME(time)


def _cidr(text: str) -> None:
    if "/" not in text:
        raise ValueError(text)
    ipaddress.ip_network(text, strict=False)


def _email(text: str) -> bool:
    try:
        address = parseaddr(text)[1]
    except RecursionError:  # it calls itself for each colon and each parenthesis
        return False
    return "@" in address and all(address.rpartition("@")[::2])


def _uuid(version: str) -> Callable[[str], bool]:
    variant = "[89ab]" if version in "45" else "[0-9a-f]"
    return _pattern(
        rf"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{version}[0-9a-f]{{3}}-?{variant}[0-9a-f]{{3}}-?[0-9a-f]{{12}}"
    )


_LABEL: Final = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    "bsonobjectid": _pattern("[0-9a-f]{24}"),
    "byte": lambda text: _parses(lambda each: base64.b64decode(each, validate=True))(text) and bool(text),
    "cidr": _parses(_cidr),
    "date": _parses(_date),
    "datetime": _date_time,
    "duration": lambda text: parse_duration(text) is not None,
    "email": _email,
    "hexcolor": _pattern("#?([0-9a-f]{3}|[0-9a-f]{6})"),
    "hostname": _pattern(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*\.?"),
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "k8sshortname": _pattern(_LABEL),
    "k8slongname": _pattern(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*"),
    "mac": _pattern(
        "[0-9a-f]{2}(:[0-9a-f]{2}){5}|[0-9a-f]{2}(-[0-9a-f]{2}){5}|[0-9a-f]{4}(\\.[0-9a-f]{4}){2}"
    ),
    "rgbcolor": _pattern(r"rgb\(\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\)"),
    "ssn": _pattern(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "uri": _parses(parse_request_uri),
    "uuid": _pattern("[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4"),
    "uuid5": _uuid("5"),
}
"""Name without hyphens -> whether a text has the format."""
