"""Conversion of Events between v1, in which they are stored, and events.k8s.io/v1
(pkg/apis/events/v1/conversion.go and staging/src/k8s.io/api/events/v1/types.go, v1.34)."""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver.resources import EVENTS, EVENTS_V1, Resource

_NAMES: Final = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
"""Field names of v1, and their names in events.k8s.io/v1. All other fields have the same name in both."""
_OMITTED: Final = ("reportingController", "reportingInstance")
"""Fields that events.k8s.io/v1 leaves out if they are empty, and v1 does not."""
_CORE_NAMES: Final = {new: old for old, new in _NAMES.items()}


def to_served(resource: Resource, stored: Manifest) -> Manifest:
    """Return a stored object with the apiVersion, kind and field names of the requested resource."""
    if resource == EVENTS_V1:
        shown = _rename_fields(stored, _NAMES, resource)
        return {field: value for field, value in shown.items() if value or field not in _OMITTED}
    return {**stored, "apiVersion": resource.api_version, "kind": resource.kind}


def to_stored(resource: Resource, given: Manifest) -> tuple[Resource, Manifest]:
    """Return the resource under which an object is stored, and the object in its stored form."""
    return (
        (EVENTS, _rename_fields(given, _CORE_NAMES, EVENTS)) if resource == EVENTS_V1 else (resource, given)
    )


def stored_field(resource: Resource, field: str) -> str:
    """Return the stored name of a field in a field selector: ``involvedObject.name`` for
    ``regarding.name``; "" for one that only the other version has."""
    if resource != EVENTS_V1:
        return field
    first, dot, rest = field.partition(".")
    if first in _NAMES or first == _NAMES["source"]:
        return ""
    return _CORE_NAMES.get(first, first) + dot + rest


def _rename_fields(event: Manifest, names: dict[str, str], resource: Resource) -> Manifest:
    renamed = {names.get(field, field): value for field, value in event.items()}
    return {**renamed, "apiVersion": resource.api_version, "kind": resource.kind}
