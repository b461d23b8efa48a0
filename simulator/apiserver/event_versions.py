"""Events under two names: stored as those of v1, and served as events.k8s.io/v1 too
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
"""Fields of v1 by their names in events.k8s.io/v1; all others are called the same."""
_CORE_NAMES: Final = {new: old for old, new in _NAMES.items()}


def served(resource: Resource, stored: Manifest) -> Manifest:
    """A stored object as its resource shows it."""
    return _renamed(stored, _NAMES, resource) if resource == EVENTS_V1 else stored


def to_store(resource: Resource, given: Manifest) -> tuple[Resource, Manifest]:
    """An object as it is stored, and the resource that it is then."""
    return (EVENTS, _renamed(given, _CORE_NAMES, EVENTS)) if resource == EVENTS_V1 else (resource, given)


def stored_field(resource: Resource, field: str) -> str:
    """The stored name of a field that something is selected by: ``regarding.name``."""
    first, dot, rest = field.partition(".")
    return _CORE_NAMES.get(first, first) + dot + rest if resource == EVENTS_V1 else field


def _renamed(event: Manifest, names: dict[str, str], resource: Resource) -> Manifest:
    renamed = {names.get(field, field): value for field, value in event.items()}
    return {**renamed, "apiVersion": resource.api_version, "kind": resource.kind}
