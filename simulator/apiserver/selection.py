r"""The query parameters ``labelSelector`` and ``fieldSelector`` as predicates over manifests.

A field selector is ``a=b,c!=d``. A backslash stands before a comma, an equals sign or a backslash in a value.
Upstream: ParseSelector in apimachinery/pkg/fields/selector.go, with its messages, and for the selectable
fields the conversion of each kind (pkg/apis/*/v1/conversion.go).
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.label_selectors import SHOWN_LENGTH, parse_label_selector
from simulator.apiserver.resource import Resource
from simulator.apiserver.shapes import value_at
from simulator.apiserver.status import BadRequest

_TERM: Final = re.compile(r"((?:\\.|[^\\,])*\\?)(?:,|\Z)", re.DOTALL)
_PARTS: Final = re.compile(r"(.*?)(!=|==|=)(.*)", re.DOTALL)
_ESCAPED: Final = ("\\", ",", "=")
Predicate = Callable[[Manifest], bool]


class FieldTerm(NamedTuple):
    field: str
    is_equal: bool
    """Whether the field must have the value, or must not."""
    value: str


def parse_field_selector(text: str) -> list[FieldTerm]:
    """Parse a field selector. Raises BadRequest."""
    terms = []
    for term in sorted(filter(None, _TERM.findall(text))):
        found = _PARTS.fullmatch(term)
        if not found:
            shown, wrong = text[:SHOWN_LENGTH], term[:SHOWN_LENGTH]
            raise BadRequest(f"invalid selector: '{shown}'; can't understand '{wrong}'")
        field, operator, value = found.groups()
        terms.append(FieldTerm(field, operator != "!=", _unescaped(value)))
    return terms


def _unescaped(value: str) -> str:
    """Remove the escapes of a value (UnescapeValue)."""
    kept = ""
    characters = iter(value)
    for character in characters:
        if character == "\\":
            escaped = next(characters, "")
            if escaped not in _ESCAPED:
                raise BadRequest(f"invalid field selector: invalid escape sequence: \\{escaped}")
            kept += escaped
        elif character in _ESCAPED:
            # Upstream writes the number of the character.
            raise BadRequest(f"invalid field selector: unescaped character in value: {ord(character)}")
        else:
            kept += character
    return kept


def selection_predicate(resource: Resource, label_selector: str, field_selector: str) -> Predicate | None:
    """Return a predicate for the objects that both selectors match; None if both are empty. Raises
    BadRequest."""
    checks: list[Predicate] = []
    if label_selector.strip():
        selector = parse_label_selector(label_selector)
        checks.append(lambda manifest: selector.matches(manifest["metadata"].get("labels", {})))
    if field_selector:
        checks += [_field_predicate(resource, term) for term in parse_field_selector(field_selector)]
    return (lambda manifest: all(check(manifest) for check in checks)) if checks else None


_ABSENT = {
    "spec.unschedulable": "false",
    "spec.hostNetwork": "false",
    "status.successful": "0",
    "status.replicas": "0",
}
"""The values of missing fields, where they are not ""."""
_NAMES_ONLY = '"{}" is not a known field selector: only "metadata.name", "metadata.namespace"'
"""What is said of a field of a kind without selectable fields."""


def _field_predicate(resource: Resource, term: FieldTerm) -> Predicate:
    strategy = strategy_of(resource)
    field = strategy.conversion.stored_field(term.field) if strategy.conversion else term.field
    names_only = strategy.fields is not None and not resource.namespaced
    common = ("metadata.name",) if names_only else ("metadata.name", "metadata.namespace")
    if field not in (*common, *(strategy.fields or ())):
        error = _NAMES_ONLY if strategy.fields is None else strategy.field_error
        raise BadRequest(error.format(term.field[:SHOWN_LENGTH]))
    value_of = strategy.field_values.get(field) or partial(value_at, path=field)
    absent = _ABSENT.get(field, "")

    def matches(manifest: Manifest) -> bool:
        found = value_of(manifest)
        shown = absent if found is None else str(found).lower() if isinstance(found, bool) else str(found)
        return (shown == term.value) == term.is_equal

    return matches
