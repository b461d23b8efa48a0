"""Syntax of names, label keys and label values. Each check returns a problem, or None if there is none.

Upstream: apimachinery/pkg/util/validation/validation.go, v1.34.
"""

import re
from collections.abc import Sequence

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_SERVICE = "[a-z]([-a-z0-9]*[a-z0-9])?"

_LABEL_RE = re.compile(_LABEL)
_SUBDOMAIN_RE = re.compile(_SUBDOMAIN)
_QUALIFIED_RE = re.compile(_QUALIFIED)
_SERVICE_RE = re.compile(_SERVICE)

LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253


def _rule(text: str, examples: Sequence[str], pattern: str) -> str:
    """Return the message of a rule (RegexError). Upstream writes two spaces between the examples, too."""
    shown = ",  or ".join(f"'{example}'" for example in examples)
    return f"{text} (e.g. {shown}, regex used for validation is '{pattern}')"


_ENDS = "and must start and end with an alphanumeric character"
_CHARACTERS = f"consist of alphanumeric characters, '-', '_' or '.', {_ENDS}"
_LABEL_RULE = _rule(
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS}",
    ("my-name", "123-abc"),
    _LABEL,
)
_SUBDOMAIN_RULE = _rule(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " + _ENDS,
    ("example.com",),
    _SUBDOMAIN,
)
_SERVICE_RULE = _rule(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character",
    ("my-name", "abc-123"),
    _SERVICE,
)
_QUALIFIED_RULE = _rule(f"must {_CHARACTERS}", ("MyName", "my.name", "123-abc"), _QUALIFIED)
_VALUE_RULE = _rule(
    f"a valid label must be an empty string or {_CHARACTERS}",
    ("MyValue", "my_value", "12345"),
    f"({_QUALIFIED})?",
)


def dns_label(text: str) -> str | None:
    problem = _check(text, LABEL_LENGTH, _LABEL_RE, _LABEL_RULE)
    if problem == _LABEL_RULE and _SUBDOMAIN_RE.fullmatch(text):
        return "must not contain dots"
    return problem


def dns_subdomain(text: str) -> str | None:
    return _check(text, SUBDOMAIN_LENGTH, _SUBDOMAIN_RE, _SUBDOMAIN_RULE)


def service_name(text: str) -> str | None:
    return _check(text, LABEL_LENGTH, _SERVICE_RE, _SERVICE_RULE)


def path_segment(text: str) -> str | None:
    if text in (".", ".."):
        return f"may not be '{text}'"
    if len(text) > SUBDOMAIN_LENGTH:
        return f"must be no more than {SUBDOMAIN_LENGTH} characters"
    forbidden = next((character for character in "/%" if character in text), None)
    return f"may not contain '{forbidden}'" if forbidden else None


def qualified_name(text: str) -> str | None:
    """Check the key of a label or annotation: ``name`` or ``prefix.example/name``."""
    prefix, slash, name = text.rpartition("/")
    if slash and (problem := dns_subdomain(prefix) if prefix else "must be non-empty"):
        return f"prefix part {problem}"
    if not name:
        return "name part must be non-empty"
    problem = _check(name, LABEL_LENGTH, _QUALIFIED_RE, _QUALIFIED_RULE)
    return f"name part {problem}" if problem else None


def label_value(text: str) -> str | None:
    return _check(text, LABEL_LENGTH, _QUALIFIED_RE, _VALUE_RULE) if text else None


def _check(text: str, length: int, pattern: re.Pattern[str], problem: str) -> str | None:
    # The length is checked first, because the patterns backtrack and the text may be very long.
    if len(text) > length:
        return f"must be no more than {length} characters"
    return None if pattern.fullmatch(text) else problem
