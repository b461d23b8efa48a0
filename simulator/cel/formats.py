"""Kubernetes' CEL library of named formats (apiserver/pkg/cel/library/format.go), with the errors of
apimachinery/pkg/util/validation."""

import base64
import binascii
import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from simulator.cel.durations import parse_timestamp
from simulator.cel.functions import Function
from simulator.cel.urls import parse_request_uri
from simulator.cel.values import NONE, Opaque, Optional, Value


@dataclass(frozen=True, slots=True)
class Format(Opaque):
    type_name = "kubernetes.NamedFormat"
    go_name = "*cel.Format"
    name: str
    validate: Callable[[str], list[str]]

    def equals(self, other: Value) -> bool | None:
        return self.name == other.name if isinstance(other, Format) else None


_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_DNS1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_WORD: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE: Final = f"({_WORD})?"
_ENDS: Final = "and must start and end with an alphanumeric character"
_LABEL_TEXT: Final = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS}"
)
_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " + _ENDS
)
_DNS1035_TEXT: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic"
    " character, and end with an alphanumeric character"
)
_UUID: Final = re.compile(r"[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " + _ENDS
)


def _match(pattern: str, limit: int, text: str, examples: tuple[str, ...]) -> Callable[[str], list[str]]:
    compiled = re.compile(pattern, re.ASCII)
    shown = " or ".join(f"'{each}', " for each in examples)
    message = f"{text} (e.g. {shown}regex used for validation is '{pattern}')"

    def validate(value: str) -> list[str]:
        found = [f"must be no more than {limit} characters"] if len(value.encode()) > limit else []
        return found if compiled.fullmatch(value) else [*found, message]

    return validate


_WORD_TEXT: Final = f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS}"
_QUALIFIED_TEXT: Final = (
    f"a qualified name {_WORD_TEXT} (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation"
    f" is '{_WORD}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
_label = _match(_LABEL, 63, _LABEL_TEXT, ("my-name", "123-abc"))
_subdomain = _match(_SUBDOMAIN, 253, _SUBDOMAIN_TEXT, ("example.com",))
_dns1035 = _match(_DNS1035, 63, _DNS1035_TEXT, ("my-name", "abc-123"))
_name = _match(_WORD, 63, f"name part {_WORD_TEXT}", ("MyName", "my.name", "123-abc"))
_value = _match(_VALUE, 63, _VALUE_TEXT, ("MyValue", "my_value", "12345"))


def _of_prefix(validate: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """Validates a prefix, which may end with a dash (maskTrailingDash)."""
    return lambda text: validate(text[:-2] + "a" if len(text) > 1 and text[-1] == "-" else text)


def _qualified_name(text: str) -> list[str]:
    parts = text.split("/")
    found: list[str] = []
    if len(parts) > 2:
        return [_QUALIFIED_TEXT]
    if len(parts) == 2:
        if not parts[0]:
            found.append("prefix part must be non-empty")
        else:
            found += [f"prefix part {each}" for each in _subdomain(parts[0])]
    if not parts[-1]:
        found.append("name part must be non-empty")
    elif len(parts[-1]) > 63:
        found.append("name part must be no more than 63 characters")
    return found + [each for each in _name(parts[-1]) if "regex" in each]


def _uri(text: str) -> list[str]:
    try:
        parse_request_uri(text)
    except ValueError as error:
        return [str(error)]
    return []


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return [] if text else ["invalid base64"]


def _date(text: str) -> list[str]:
    try:
        datetime.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=datetime.UTC)
    except ValueError:
        return ["invalid date"]
    return [] if len(text) == 10 else ["invalid date"]


_FORMATS: Final = {
    "dns1123Label": Format("DNS1123Label", _label),
    "dns1123Subdomain": Format("DNS1123Subdomain", _subdomain),
    "dns1035Label": Format("DNS1035Label", _dns1035),
    "qualifiedName": Format("QualifiedName", _qualified_name),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _of_prefix(_label)),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _of_prefix(_subdomain)),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _of_prefix(_dns1035)),
    "labelValue": Format("LabelValue", _value),
    "uri": Format("URI", _uri),
    "uuid": Format("uuid", lambda text: [] if _UUID.fullmatch(text) else ["does not match the UUID format"]),
    "byte": Format("byte", _byte),
    "date": Format("date", _date),
    "datetime": Format("datetime", lambda text: [] if parse_timestamp(text) else ["invalid datetime"]),
}


def _named(name: str) -> Optional:
    return Optional((_FORMATS[name],)) if name in _FORMATS else NONE


def _validate(named: Format, text: str) -> Optional:
    found = named.validate(text)
    return Optional((found,)) if found else NONE


def _make_constant(named: Format) -> Callable[[], Format]:
    return lambda: named


FUNCTIONS: Final = (
    *(Function(f"format.{name}", f"() -> {Format.type_name}", _make_constant(named))
      for name, named in _FORMATS.items()),
    Function("format.named", f"(string) -> optional_type({Format.type_name})", _named),
    Function("validate", f"{Format.type_name}.(string) -> optional_type(list(string))", _validate),
)  # fmt: skip
