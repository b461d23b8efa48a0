"""Syntax of names, label keys and label values. Each check returns the list of problems, as upstream.

Upstream: apimachinery/pkg/util/validation/validation.go.
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
_UNDERSCORE_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORE_SUBDOMAIN = rf"{_UNDERSCORE_LABEL}(\.{_UNDERSCORE_LABEL})*"
_UNDERSCORE_SUBDOMAIN_RE = re.compile(_UNDERSCORE_SUBDOMAIN)
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_HTTP_PATH_RE = re.compile(_HTTP_PATH)

LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253
MAX_PORT = 65_535
PORT_RANGE = "must be between 1 and 65535, inclusive"


def _rule(text: str, examples: Sequence[str], pattern: str) -> str:
    """Return the message of a rule (RegexError). Upstream writes two spaces between the examples, too."""
    if not examples:
        return f"{text} (regex used for validation is '{pattern}')"
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
_UNDERSCORE_SUBDOMAIN_RULE = _rule(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    + _ENDS,
    ("example.com",),
    _UNDERSCORE_SUBDOMAIN,
)
HTTP_PATH_RULE = _rule("Invalid path", (), _HTTP_PATH)
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


def dns_label(text: str) -> list[str]:
    """Return the faults that IsDNS1123Label reports."""
    problems = _check(text, LABEL_LENGTH, _LABEL_RE, _LABEL_RULE)
    if problems and problems[-1] == _LABEL_RULE and _SUBDOMAIN_RE.fullmatch(text):
        problems[-1] = "must not contain dots"
    return problems


def dns_subdomain(text: str) -> list[str]:
    """Return the faults that IsDNS1123Subdomain reports."""
    return _check(text, SUBDOMAIN_LENGTH, _SUBDOMAIN_RE, _SUBDOMAIN_RULE)


def dns_subdomain_with_underscore(text: str) -> list[str]:
    """Return the faults that IsDNS1123SubdomainWithUnderscore reports."""
    return _check(text, SUBDOMAIN_LENGTH, _UNDERSCORE_SUBDOMAIN_RE, _UNDERSCORE_SUBDOMAIN_RULE)


def service_name(text: str) -> list[str]:
    """Return the faults that IsDNS1035Label reports."""
    return _check(text, LABEL_LENGTH, _SERVICE_RE, _SERVICE_RULE)


def path_segment(text: str) -> list[str]:
    """Return the faults that IsValidPathSegmentName reports. The length is ours: keys in the store are
    bounded."""
    if text in (".", ".."):
        return [f"may not be '{text}'"]
    problems = [f"may not contain '{character}'" for character in "/%" if character in text]
    return problems + ([_too_long(SUBDOMAIN_LENGTH)] if len(text) > SUBDOMAIN_LENGTH else [])


def with_masked_dash(prefix: str) -> str:
    """Return a generateName without the dash at its end, which a name may not have (maskTrailingDash)."""
    return prefix[:-2] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def qualified_name(text: str) -> list[str]:
    """Check the key of a label or annotation: ``name`` or ``prefix.example/name`` (IsQualifiedName)."""
    if len(text) <= LABEL_LENGTH and _QUALIFIED_RE.fullmatch(text):
        return []
    if text.count("/") > 1:
        suffix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a qualified name {_QUALIFIED_RULE} {suffix}"]
    prefix, slash, name = text.rpartition("/")
    problems = []
    if slash:
        problems += [f"prefix part {problem}" for problem in (dns_subdomain(prefix) if prefix else [_EMPTY])]
    if not name:
        problems.append(f"name part {_EMPTY}")
    elif len(name) > LABEL_LENGTH:
        problems.append(f"name part {_too_long(LABEL_LENGTH)}")
    if not _QUALIFIED_RE.fullmatch(name):
        problems.append(f"name part {_QUALIFIED_RULE}")
    return problems


def annotation_key(text: str) -> list[str]:
    """Check the key of an annotation, in which capital letters do not matter."""
    return qualified_name(text.lower())


def port_name(text: str) -> list[str]:
    """Check the name of a port (IsValidPortName)."""
    problems = []
    if len(text) > _PORT_NAME_LENGTH:
        problems.append(_too_long(_PORT_NAME_LENGTH))
    if not re.fullmatch("[-a-z0-9]+", text):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", text):
        problems.append("must contain at least one letter (a-z)")
    if "--" in text:
        problems.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def config_key(text: str) -> list[str]:
    """Check the key of a ConfigMap or a Secret (IsConfigMapKey)."""
    problems = _check(text, SUBDOMAIN_LENGTH, _CONFIG_KEY_RE, _CONFIG_KEY_RULE)
    if text in (".", ".."):
        problems.append(f"must not be '{text}'")
    elif text.startswith(".."):
        problems.append("must not start with '..'")
    return problems


def label_value(text: str) -> list[str]:
    """Return the faults that IsValidLabelValue reports."""
    return _check(text, LABEL_LENGTH, _QUALIFIED_RE, _VALUE_RULE) if text else []


def is_http_path(text: str) -> bool:
    return _HTTP_PATH_RE.fullmatch(text) is not None


def _check(text: str, length: int, pattern: re.Pattern[str], problem: str) -> list[str]:
    problems = [_too_long(length)] if len(text) > length else []
    return problems if pattern.fullmatch(text) else [*problems, problem]


def _too_long(length: int) -> str:
    return f"must be no more than {length} characters"
