"""``labelSelector`` and ``fieldSelector`` of a request, as predicates over manifests.

Upstream: apimachinery/pkg/labels/selector.go (Parse), apimachinery/pkg/fields/selector.go and each resource's
strategy (which fields it can be selected by), v1.34.
"""

import re
from collections.abc import Callable

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.event_versions import stored_field
from simulator.apiserver.resources import Resource
from simulator.apiserver.status import BadRequest
from simulator.objects.labels import Requirement, Selector, integer

Predicate = Callable[[Manifest], bool]

MAX_LENGTH = 10_000
"""Of a selector: longer URLs are refused by most servers anyway."""

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
        "status.nominatedNodeName",
    ),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "events": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "secrets": ("type",),
    "jobs.batch": ("status.successful",),
}


def predicate(resource: Resource, label_selector: str, field_selector: str) -> Predicate | None:
    """Whether an object is selected; None = all are. Raises BadRequest."""
    checks: list[Predicate] = []
    if label_selector.strip():
        selector = parse_labels(label_selector)
        checks.append(lambda manifest: selector.matches(manifest["metadata"].get("labels", {})))
    if field_selector.strip():
        checks += [_field(resource, term) for term in _terms(field_selector)]
    return (lambda manifest: all(check(manifest) for check in checks)) if checks else None


def parse_labels(text: str) -> Selector:
    """``a=b, c!=d, e in (x, y), f notin (z), g, !h, i>1``. Raises BadRequest."""
    if len(text) > MAX_LENGTH:
        raise BadRequest(f"a selector may have {MAX_LENGTH} characters")
    tokens = _Tokens(text)
    requirements = []
    while not tokens.done:
        requirements.append(_requirement(tokens))
        if not tokens.done:
            tokens.expect(",")
            if tokens.done:
                raise tokens.error("a requirement after ','")
    return Selector(tuple(sorted(requirements)))


class _Tokens:
    def __init__(self, text: str) -> None:
        self.text = text
        self.items = _TOKEN.findall(text)
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.items)

    def peek(self) -> str:
        return "" if self.done else self.items[self.at]

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise self.error(f"'{token}'")

    def error(self, wanted: str) -> BadRequest:
        found = self.items[self.at - 1] if 0 < self.at <= len(self.items) else "the end"
        return BadRequest(
            f"unable to parse requirement: found '{found}', expected {wanted} in {self.text[:100]!r}"
        )


def _requirement(tokens: _Tokens) -> Requirement:
    negated = tokens.peek() == "!"
    if negated:
        tokens.take()
    key = tokens.take()
    if problem := names.qualified_name(key):
        raise BadRequest(f"unable to parse requirement: key {key[:100]!r}: {problem}")
    if negated or tokens.peek() in ("", ","):
        return Requirement(key, "DoesNotExist" if negated else "Exists", ())
    operator = tokens.take()
    match operator:
        case "=" | "==" | "!=":
            value = "" if tokens.peek() in ("", ",") else tokens.take()
            return Requirement(key, "NotIn" if operator == "!=" else "In", (_value(key, value),))
        case "<" | ">":
            value = tokens.take()
            if integer(value) is None:
                raise BadRequest(
                    f"unable to parse requirement: {value!r} after '{operator}' must be an integer"
                )
            return Requirement(key, "Lt" if operator == "<" else "Gt", (value,))
        case "in" | "notin":
            return Requirement(key, "In" if operator == "in" else "NotIn", _values(key, tokens))
    raise tokens.error("one of =, ==, !=, in, notin, <, >")


def _values(key: str, tokens: _Tokens) -> tuple[str, ...]:
    tokens.expect("(")
    values = []
    while True:
        # An empty value is written as nothing: "x in (,a)".
        values.append(_value(key, "" if tokens.peek() in (",", ")") else tokens.take()))
        separator = tokens.take()
        if separator == ")":
            return tuple(sorted(set(values)))
        if separator != ",":
            raise tokens.error("',' or ')'")


def _value(key: str, value: str) -> str:
    if problem := names.label_value(value):
        raise BadRequest(f"unable to parse requirement: value of {key}: {problem}")
    return value


def _terms(text: str) -> list[tuple[str, bool, str]]:
    """``a=b,c!=d`` as (field, whether equal, value)."""
    terms = []
    for term in text.split(","):
        found = re.fullmatch(r"\s*([^=!]+?)\s*(!=|==|=)(.*)", term)
        if not found:
            raise BadRequest(f"invalid field selector: {term[:100]!r}; can't understand it")
        field, operator, value = found.groups()
        terms.append((field, operator != "!=", value.strip()))
    return terms


def _field(resource: Resource, term: tuple[str, bool, str]) -> Predicate:
    field, equal, value = stored_field(resource, term[0]), *term[1:]
    allowed = ["metadata.name", *(["metadata.namespace"] if resource.namespaced else [])]
    if field not in allowed and field not in _FIELDS.get(resource.id, ()):
        raise BadRequest(f"field label not supported: {field[:100]}")
    path = field.split(".")
    # An absent boolean is false, an absent text empty.
    absent = "false" if field in ("spec.unschedulable", "spec.hostNetwork") else ""

    def matches(manifest: Manifest) -> bool:
        found: object = manifest
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        shown = absent if found is None else str(found).lower() if isinstance(found, bool) else str(found)
        return (shown == value) == equal

    return matches
