"""The query parameters ``labelSelector`` and ``fieldSelector``, parsed to predicates over manifests.

Upstream: apimachinery/pkg/labels/selector.go (Parse), apimachinery/pkg/fields/selector.go, and for the
selectable fields the strategy of each resource, v1.34.
"""

import re
from collections.abc import Callable

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.event_versions import stored_field
from simulator.apiserver.resources import BUILT_IN_GROUPS, PODS, Resource
from simulator.apiserver.status import BadRequest, invalid
from simulator.objects.labels import Requirement, Selector, parse_int64

Predicate = Callable[[Manifest], bool]

MAX_LENGTH = 10_000
"""Maximum number of characters of a selector. Most servers refuse longer URLs anyway."""

_SHOWN_LENGTH = 100
"""Maximum number of characters of a wrong part in a message."""
_SYMBOLS = ("==", "!=", *"=!<>(),")
_TOKEN = re.compile(r"\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)")

_FIELDS: dict[str, tuple[str, ...]] = {
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "events": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "replicationcontrollers": ("status.replicas",),
    "resourceslices.resource.k8s.io": ("spec.nodeName", "spec.driver"),
    "secrets": ("type",),
    "services": ("spec.clusterIP", "spec.type"),
    "jobs.batch": ("status.successful",),
}


def selection_predicate(resource: Resource, label_selector: str, field_selector: str) -> Predicate | None:
    """Return a predicate for the objects that both selectors match; None if both are empty. Raises
    BadRequest."""
    checks: list[Predicate] = []
    if label_selector.strip():
        selector = parse_label_selector(label_selector)
        checks.append(lambda manifest: selector.matches(manifest["metadata"].get("labels", {})))
    if field_selector.strip():
        checks += [_field_predicate(resource, term) for term in _parse_field_selector(field_selector)]
    return (lambda manifest: all(check(manifest) for check in checks)) if checks else None


def parse_label_selector(text: str) -> Selector:
    """Parse a label selector: ``a=b, c!=d, e in (x, y), f notin (z), g, !h, i>1``. Raises BadRequest."""
    if len(text) > MAX_LENGTH:
        raise BadRequest(f"a selector may have at most {MAX_LENGTH} characters")
    tokens = _Tokens(text)
    requirements = []
    while not tokens.done:
        if tokens.is_word() or tokens.peek() == "!":
            requirements.append(_parse_requirement(tokens))
        else:
            raise BadRequest(f"found '{tokens.peek()}', expected: !, identifier, or 'end of string'")
        if not tokens.done:
            if tokens.take() != ",":
                raise BadRequest(f"found '{tokens.last}', expected: ',' or 'end of string'")
            if not tokens.is_word() and tokens.peek() != "!":
                raise BadRequest(f"found '{tokens.peek()}', expected: identifier after ','")
    return Selector(tuple(sorted(requirements)))


class _Tokens:
    """The tokens of a label selector, read one by one."""

    def __init__(self, text: str) -> None:
        self.items: list[str] = _TOKEN.findall(text)
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.items)

    @property
    def last(self) -> str:
        """The last token taken, shortened for messages; "" after the end."""
        return self.items[self.at - 1][:_SHOWN_LENGTH] if self.at <= len(self.items) else ""

    def peek(self) -> str:
        return "" if self.done else self.items[self.at][:_SHOWN_LENGTH]

    def is_word(self) -> bool:
        """Whether the next token is a key or a value."""
        return not self.done and self.items[self.at] not in _SYMBOLS

    def take(self) -> str:
        token = "" if self.done else self.items[self.at]
        self.at += 1
        return token

    def expect(self, token: str, detail: str) -> None:
        """Take the next token. Raises BadRequest with ``detail`` if it is not ``token``."""
        if self.take() != token:
            raise _parse_error(f"found '{self.last}'{detail}")

    def word(self) -> str:
        """Take the next token, a key or a value. Raises BadRequest for a symbol."""
        if not self.is_word():
            raise _parse_error(f"found '{self.peek()}', expected: identifier")
        return self.take()


def _parse_error(detail: str) -> BadRequest:
    return BadRequest(f"unable to parse requirement: {detail}")


def _parse_requirement(tokens: _Tokens) -> Requirement:
    negated = tokens.peek() == "!"
    if negated:
        tokens.take()
    key = tokens.word()
    if problems := names.qualified_name(key):
        raise _parse_error(str(invalid("key", key, "; ".join(problems))))
    if tokens.peek() in ("", ","):
        return Requirement(key, "DoesNotExist" if negated else "Exists", ())
    if negated:
        return Requirement(key, "DoesNotExist", ())
    operator = tokens.take()
    match operator:
        case "=" | "==" | "!=":
            return Requirement(key, "NotIn" if operator == "!=" else "In", (_parse_value(key, tokens),))
        case "<" | ">":
            value = "" if tokens.peek() in ("", ",") else tokens.word()
            if parse_int64(value) is None:
                detail = "for 'Gt', 'Lt' operators, the value must be an integer"
                raise _parse_error(str(invalid("values[0]", value, detail)))
            return Requirement(key, "Lt" if operator == "<" else "Gt", (value,))
        case "in" | "notin":
            return Requirement(key, "In" if operator == "in" else "NotIn", _parse_values(key, tokens))
    raise _parse_error(f"found '{tokens.last}', expected: in, notin, =, ==, !=, gt, lt")


def _parse_values(key: str, tokens: _Tokens) -> tuple[str, ...]:
    """Parse the values in parentheses. ``x in (,a)`` contains an empty value."""
    tokens.expect("(", " expected: '('")
    if not tokens.is_word() and tokens.peek() not in (",", ")"):
        raise _parse_error(f"found '{tokens.peek()}', expected: ',', ')' or identifier")
    values: list[str] = []
    while True:
        values.append(_parse_value(key, tokens, number=len(values)))
        if tokens.peek() not in (",", ")"):
            raise _parse_error(f"found '{tokens.peek()}', expected: ',' or ')'")
        if tokens.take() == ")":
            return tuple(sorted(set(values)))


def _parse_value(key: str, tokens: _Tokens, number: int = 0) -> str:
    value = "" if tokens.peek() in ("", ",", ")") else tokens.word()
    if problems := names.label_value(value):
        raise _parse_error(str(invalid(f"values[{number}][{key}]", value, "; ".join(problems))))
    return value


def _parse_field_selector(text: str) -> list[tuple[str, bool, str]]:
    """Parse ``a=b,c!=d`` to tuples (field, True for = and False for !=, value)."""
    terms = []
    for term in sorted(filter(None, text.split(","))):
        found = re.fullmatch(r"\s*([^=!]+?)\s*(!=|==|=)(.*)", term)
        if not found:
            raise BadRequest(
                f"invalid selector: '{text[:_SHOWN_LENGTH]}'; can't understand '{term[:_SHOWN_LENGTH]}'"
            )
        field, operator, value = found.groups()
        terms.append((field, operator != "!=", value.strip()))
    return terms


def _not_selectable(resource: Resource, field: str) -> BadRequest:
    """Return the error for a field that cannot be selected. Its message depends on the resource, as
    upstream."""
    shown = field[:_SHOWN_LENGTH]
    if resource.id == "jobs.batch":
        return BadRequest(f'field label "{shown}" not supported for {resource.kind}')
    if resource.id == "resourceslices.resource.k8s.io":
        kind = f"{resource.api_version}, Kind={resource.kind}"
        return BadRequest(f"field label not supported for {kind}: {shown}")
    if resource.id in _FIELDS or resource.group not in BUILT_IN_GROUPS:
        return BadRequest(f"field label not supported: {shown}")
    return BadRequest(f'"{shown}" is not a known field selector: only "metadata.name", "metadata.namespace"')


_ABSENT = {
    "spec.unschedulable": "false",
    "spec.hostNetwork": "false",
    "status.successful": "0",
    "status.replicas": "0",
}
"""What a missing field is, if not ""."""
_ACTUAL = {
    "status.successful": "status.succeeded",
    # The conversion of pods knows it, and their strategy does not.
    "status.podIPs": "",
}
"""Selectable fields that have another name in the object (pkg/registry/batch/job/strategy.go)."""


def event_source(event: Manifest) -> str:
    """The component that reported an event, in its old or its new field (pkg/registry/core/event)."""
    component: str = (event.get("source") or {}).get("component", "")
    return component or event.get("reportingComponent", "")


def _field_predicate(resource: Resource, term: tuple[str, bool, str]) -> Predicate:
    field, equal, value = stored_field(resource, term[0]), *term[1:]
    if resource == PODS and field == "spec.host":
        field = "spec.nodeName"
    names_only = (resource.id in _FIELDS or resource.group not in BUILT_IN_GROUPS) and not resource.namespaced
    common = ("metadata.name",) if names_only else ("metadata.name", "metadata.namespace")
    if field not in (*common, *_FIELDS.get(resource.id, ()), *resource.selectable_fields):
        raise _not_selectable(resource, term[0])
    path = _ACTUAL.get(field, field).split(".")
    absent = _ABSENT.get(field, "")

    def matches(manifest: Manifest) -> bool:
        found: object = manifest
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        if field == "source":
            found = event_source(manifest)
        shown = absent if found is None else str(found).lower() if isinstance(found, bool) else str(found)
        return (shown == value) == equal

    return matches
