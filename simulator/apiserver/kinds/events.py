"""Events, which are created in ``v1`` or in ``events.k8s.io/v1``, and are stored in the former.

Upstream: pkg/registry/core/event/strategy.go, and ValidateEventCreate, ValidateEventUpdate and
legacyValidateEvent in pkg/apis/core/validation/events.go.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver import names
from simulator.apiserver.field_checks import IMMUTABLE, check_name
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.object_meta_validation import validate_object_meta
from simulator.apiserver.printers.column import Column, human_duration, printer_of
from simulator.apiserver.resource import Resource, built_in
from simulator.apiserver.status import NIL, Cause, invalid, required
from simulator.apiserver.strategy import Conversion, Strategy, UpdateFaults
from simulator.objects.events import event_count, event_first_seen, event_last_seen

EVENTS: Final = built_in("v1", "Event", "ev")
EVENTS_V1: Final = built_in("events.k8s.io/v1", "Event", "ev", stored_as=EVENTS.id)
_OTHER_NAMESPACE: Final = "does not match event.namespace"
_OF_CLUSTER: Final = ("default", "kube-system")
"""The namespaces of Events about objects without one."""
_UNSET: Final = "needs to be unset"
_IMMUTABLE: Final = (
    *("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "reason"),
    *("type", "eventTime", "action", "related", "reportingComponent", "reportingInstance"),
)
"""The fields in the order in which they are compared; the reason is compared twice."""
_PATHS: Final = {"reportingComponent": "reportingController"}
_STRUCTS: Final = {"involvedObject": "ObjectReference", "source": "EventSource", "related": "ObjectReference"}
_EMPTY: Final[dict[str, object]] = {
    **dict.fromkeys(("reason", "message", "type", "action", "reportingComponent", "reportingInstance"), ""),
    "count": 0,
    "related": NIL,
}
"""The values that errors show for missing fields, where that is not null."""
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
_SHORT: Final = 128
_NOTE_LENGTH: Final = 1024


def _validate(event: Manifest, given_version: str) -> Iterator[Cause]:
    """Yield the faults of a new Event, in its stored form. ``given_version``: the apiVersion in which it was
    sent."""
    yield from _in_any_version(event, given_version)
    if given_version != "v1":
        yield from _in_new_version(event)


def _validate_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of an update in ``events.k8s.io/v1``: only the series may change."""
    yield from _in_any_version(new, EVENTS_V1.api_version)
    if new.get("series") != old.get("series"):
        yield from _series(new)
    for field in _IMMUTABLE:
        if new.get(field) != old.get(field):
            yield invalid(_PATHS.get(field, field), _shown(field, new.get(field)), IMMUTABLE, whole=True)


def _shown(field: str, value: Any) -> Any:
    if value is None:
        return _EMPTY.get(field)
    return core_struct(_STRUCTS[field], value) if field in _STRUCTS else value


def _in_any_version(event: Manifest, given_version: str) -> Iterator[Cause]:
    namespace = event["metadata"].get("namespace", "")
    about = (event.get("involvedObject") or {}).get("namespace", "")
    is_new = bool(event.get("eventTime"))
    if about:
        # New Events may be about objects of other namespaces.
        is_elsewhere = not is_new and namespace != about
    else:
        is_elsewhere = namespace not in (_OF_CLUSTER if is_new else ("", "default"))
    if is_elsewhere:
        yield invalid("involvedObject.namespace", about, _OTHER_NAMESPACE)
    if not is_new:
        return
    controller = event.get("reportingComponent", "")
    field = "reportingComponent" if given_version == "v1" else "reportingController"
    if not controller:
        yield required(field)
    yield from check_name(names.qualified_name, controller, field)
    for name in ("reportingInstance", "action", "reason"):
        text = event.get(name, "")
        if not text:
            yield required(name)
        elif len(text) > _SHORT:
            yield invalid(name, "", f"can have at most {_SHORT} characters")
    if len(event.get("message", "")) > _NOTE_LENGTH:
        yield invalid("message", "", f"can have at most {_NOTE_LENGTH} characters")


def _in_new_version(event: Manifest) -> Iterator[Cause]:
    yield from validate_object_meta(event["metadata"], names.dns_subdomain)
    yield from _series(event)
    if not event.get("eventTime"):
        yield required("eventTime")
    kind = event.get("type", "")
    if kind not in ("Normal", "Warning"):
        yield invalid("type", "", f"has invalid value: {kind}")
    for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
        if event.get(field):
            yield invalid(field, "", _UNSET)


def _series(event: Manifest) -> Iterator[Cause]:
    series = event.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        yield invalid("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        yield required("series.lastObservedTime")


def _set_defaults(manifest: Manifest) -> None:
    for field in ("firstTimestamp", "lastTimestamp", "eventTime"):
        manifest.setdefault(field, None)
    manifest.setdefault("source", {})
    manifest.setdefault("reportingComponent", "")
    manifest.setdefault("reportingInstance", "")


def _target(item: Manifest, _: Micros) -> str:
    about = item.get("involvedObject") or {}
    kind: str = about.get("kind", "").lower()
    return f"{kind}/{about['name']}" if about.get("name") else kind


def _reporter(item: Manifest, _: Micros) -> str:
    source = item.get("source") or {}
    component: str = source.get("component") or item.get("reportingComponent", "")
    host = source.get("host") or item.get("reportingInstance", "")
    return f"{component}, {host}" if host else component


def _since(seen: Micros, now: Micros) -> str:
    return human_duration((now - seen) // SECOND) if seen else "<unknown>"


_PRINTER: Final = printer_of(
    Column("Last Seen", "Event.lastTimestamp", cell=lambda item, now: _since(event_last_seen(item), now)),
    Column("Type", "Event.type"),
    Column("Reason", "Event.reason"),
    Column("Object", "Event.involvedObject", cell=_target),
    Column("Subobject", "ObjectReference.fieldPath", wide=1, cell="involvedObject.fieldPath"),
    Column("Source", "Event.source", wide=1, cell=_reporter),
    Column("Message", "Event.message", cell=lambda item, _: item.get("message", "").strip()),
    Column(
        "First Seen",
        "Event.firstTimestamp",
        wide=1,
        cell=lambda item, now: _since(event_first_seen(item), now),
    ),
    Column("Count", "Event.count", wide=1, cell=lambda item, _: event_count(item)),
    Column("Name", "ObjectMeta.name", wide=1, format="name", cell="metadata.name"),
)
"""The columns do not begin with Name, and there is no Age (printEvent)."""


def _to_event_v1(event: Manifest) -> Manifest:
    """Return a stored event with the field names of events.k8s.io/v1 (pkg/apis/events/v1/conversion.go)."""
    shown = _rename_fields(event, _NAMES)
    return {field: value for field, value in shown.items() if value or field not in _OMITTED}


def _to_core_event(event: Manifest) -> Manifest:
    """Return an event of events.k8s.io/v1 with the field names of v1."""
    return _rename_fields(event, _CORE_NAMES)


def _stored_event_field(field: str) -> str:
    """Return the name in v1 of a field of events.k8s.io/v1; "" for one that only v1 has."""
    first, dot, rest = field.partition(".")
    if first in _NAMES or first == _NAMES["source"]:
        return ""
    return _CORE_NAMES.get(first, first) + dot + rest


def _rename_fields(event: Manifest, names: dict[str, str]) -> Manifest:
    return {names.get(field, field): value for field, value in event.items()}


def _component(event: Manifest) -> str:
    """Return the component that reported an event, in its old or its new field."""
    component: str = (event.get("source") or {}).get("component", "")
    return component or event.get("reportingComponent", "")


def _strategy(
    resource: Resource, validate_update: UpdateFaults, conversion: Conversion | None = None
) -> Strategy:
    return Strategy(
        resource=resource,
        conversion=conversion,
        set_defaults=_set_defaults,
        name_rule=names.path_segment,
        validates_metadata=False,
        validate_new=lambda event: _validate(event, resource.api_version),
        is_created_by_update=True,
        validate_update=validate_update,
        update_order="C",
        printer=_PRINTER,
        fields=(
            *(f"involvedObject.{field}" for field in ("kind", "namespace", "name", "uid", "apiVersion")),
            *("involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent"),
            *("source", "type"),
        ),
        field_values={"source": _component},
        garbage_collection="Unsupported",
    )


EVENT_STRATEGY: Final = _strategy(EVENTS, lambda new, _: _validate(new, EVENTS.api_version))
EVENT_V1_STRATEGY: Final = _strategy(
    EVENTS_V1,
    _validate_update,
    Conversion(
        stored=EVENTS,
        to_stored=_to_core_event,
        to_served=_to_event_v1,
        stored_field=_stored_event_field,
    ),
)
