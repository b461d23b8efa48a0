"""Conversion of Events between v1, in which they are stored, and events.k8s.io/v1
(pkg/apis/events/v1/conversion.go and staging/src/k8s.io/api/events/v1/types.go, v1.34)."""

from typing import Final

from simulator.api import Manifest

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


def to_event_v1(event: Manifest) -> Manifest:
    """Return a stored event with the field names of events.k8s.io/v1."""
    shown = _rename_fields(event, _NAMES)
    return {field: value for field, value in shown.items() if value or field not in _OMITTED}


def to_core_event(event: Manifest) -> Manifest:
    """Return an event of events.k8s.io/v1 with the field names of v1."""
    return _rename_fields(event, _CORE_NAMES)


def stored_event_field(field: str) -> str:
    """Return the name in v1 of a field of events.k8s.io/v1; "" for one that only v1 has."""
    first, dot, rest = field.partition(".")
    if first in _NAMES or first == _NAMES["source"]:
        return ""
    return _CORE_NAMES.get(first, first) + dot + rest


def _rename_fields(event: Manifest, names: dict[str, str]) -> Manifest:
    return {names.get(field, field): value for field, value in event.items()}
