"""The query parameters ``labelSelector`` and ``fieldSelector`` as predicates over manifests.

Upstream: for the selectable fields the conversion of each kind (pkg/apis/*/v1/conversion.go), v1.34.
"""

from collections.abc import Callable

from simulator.api import Manifest
from simulator.apiserver.field_selectors import FieldTerm, parse_field_selector
from simulator.apiserver.kinds.pods.strategy import PODS
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.label_selectors import SHOWN_LENGTH, parse_label_selector
from simulator.apiserver.resource import Resource
from simulator.apiserver.served_versions import stored_field
from simulator.apiserver.status import BadRequest

Predicate = Callable[[Manifest], bool]


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


def _not_selectable(resource: Resource, field: str) -> BadRequest:
    """Return the error for a field that cannot be selected. Its message depends on the resource, as
    upstream."""
    shown = field[:SHOWN_LENGTH]
    if resource.id == "jobs.batch":
        return BadRequest(f'field label "{shown}" not supported for {resource.kind}')
    if resource.id == "resourceslices.resource.k8s.io":
        kind = f"{resource.api_version}, Kind={resource.kind}"
        return BadRequest(f"field label not supported for {kind}: {shown}")
    if strategy_of(resource).fields is not None:
        return BadRequest(f"field label not supported: {shown}")
    return BadRequest(f'"{shown}" is not a known field selector: only "metadata.name", "metadata.namespace"')


_ABSENT = {
    "spec.unschedulable": "false",
    "spec.hostNetwork": "false",
    "status.successful": "0",
    "status.replicas": "0",
}
"""The values of missing fields, where they are not ""."""
_ACTUAL = {
    "status.successful": "status.succeeded",
    # The conversion of pods has it, and their strategy does not.
    "status.podIPs": "",
}
"""Selectable fields that have another name in the object (pkg/registry/batch/job/strategy.go)."""


def event_source(event: Manifest) -> str:
    """Return the component that reported an event, in its old or its new field (pkg/registry/core/event)."""
    component: str = (event.get("source") or {}).get("component", "")
    return component or event.get("reportingComponent", "")


def _field_predicate(resource: Resource, term: FieldTerm) -> Predicate:
    field = stored_field(resource, term.field)
    if resource == PODS and field == "spec.host":
        field = "spec.nodeName"
    fields = strategy_of(resource).fields
    names_only = fields is not None and not resource.namespaced
    common = ("metadata.name",) if names_only else ("metadata.name", "metadata.namespace")
    if field not in (*common, *(fields or ())):
        raise _not_selectable(resource, term.field)
    path = _ACTUAL.get(field, field).split(".")
    absent = _ABSENT.get(field, "")

    def matches(manifest: Manifest) -> bool:
        found: object = manifest
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        if field == "source":
            found = event_source(manifest)
        shown = absent if found is None else str(found).lower() if isinstance(found, bool) else str(found)
        return (shown == term.value) == term.is_equal

    return matches
