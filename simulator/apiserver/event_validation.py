"""Validation of Events, which are created in ``v1`` or in ``events.k8s.io/v1``.

Upstream: ValidateEventCreate and legacyValidateEvent in pkg/apis/core/validation/events.go, v1.34.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import IMMUTABLE, check_name
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.object_meta_validation import validate_object_meta
from simulator.apiserver.status import NIL, Cause, invalid, required

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
_SHORT: Final = 128
_NOTE_LENGTH: Final = 1024


def validate_event(event: Manifest, given_version: str) -> Iterator[Cause]:
    """Yield the faults of a new Event, in its stored form. ``given_version``: the apiVersion in which it was
    sent."""
    yield from _in_any_version(event, given_version)
    if given_version != "v1":
        yield from _in_new_version(event)


def validate_event_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of an update in ``events.k8s.io/v1``: only the series may change."""
    yield from _in_any_version(new, "events.k8s.io/v1")
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
