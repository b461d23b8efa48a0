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
MAX_PORT = 65_535
PORT_RANGE = "must be between 1 and 65535, inclusive"


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
_EMPTY = "must be non-empty"
_CONFIG_KEY_RE = re.compile("[-._a-zA-Z0-9]+")
_CONFIG_KEY_RULE = _rule(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    ("key.name", "KEY_NAME", "key-name"),
    "[-._a-zA-Z0-9]+",
)
_PORT_NAME_LENGTH = 15
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
    """The first problem of :func:`qualified_name_problems`."""
    return next(iter(qualified_name_problems(text)), None)


def qualified_name_problems(text: str) -> list[str]:
    """Check the key of a label or annotation: ``name`` or ``prefix.example/name``."""
    if text.count("/") > 1:
        suffix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a qualified name {_QUALIFIED_RULE} {suffix}"]
    problems = []
    prefix, slash, name = text.rpartition("/")
    if slash and (problem := dns_subdomain(prefix) if prefix else _EMPTY):
        problems.append(f"prefix part {problem}")
    if not name:
        problems.append(f"name part {_EMPTY}")
    elif len(name) > LABEL_LENGTH:
        problems.append(f"name part must be no more than {LABEL_LENGTH} characters")
    if not _QUALIFIED_RE.fullmatch(name[: LABEL_LENGTH + 1]):
        problems.append(f"name part {_QUALIFIED_RULE}")
    return problems


def port_name_problems(text: str) -> list[str]:
    """Check the name of a port (IsValidPortName)."""
    problems = []
    if len(text) > _PORT_NAME_LENGTH:
        problems.append(f"must be no more than {_PORT_NAME_LENGTH} characters")
    if not re.fullmatch("[-a-z0-9]+", text):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        problems.append("must contain at least one letter (a-z)")
    if "--" in text:
        problems.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def config_key(text: str) -> str | None:
    """Check the key of a ConfigMap or a Secret (IsConfigMapKey)."""
    if len(text) > SUBDOMAIN_LENGTH:
        return f"must be no more than {SUBDOMAIN_LENGTH} characters"
    if not _CONFIG_KEY_RE.fullmatch(text):
        return _CONFIG_KEY_RULE
    if text in (".", ".."):
        return f"must not be '{text}'"
    return "must not start with '..'" if text.startswith("..") else None


def label_value(text: str) -> str | None:
    return _check(text, LABEL_LENGTH, _QUALIFIED_RE, _VALUE_RULE) if text else None


def _check(text: str, length: int, pattern: re.Pattern[str], problem: str) -> str | None:
    # The length is checked first, because the patterns backtrack and the text may be very long.
    if len(text) > length:
        return f"must be no more than {length} characters"
    return None if pattern.fullmatch(text) else problem
