"""Validation of Events, which are created in ``v1`` or in ``events.k8s.io/v1``.

Upstream: ValidateEventCreate and legacyValidateEvent in pkg/apis/core/validation/events.go, v1.34.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.status import Cause, invalid, required

_OTHER_NAMESPACE: Final = "does not match event.namespace"
_UNSET: Final = "needs to be unset"
_SHORT: Final = 128
_NOTE_LENGTH: Final = 1024


def validate_event(event: Manifest, given_version: str) -> list[Cause]:
    """Return the faults of a new Event, in its stored form. ``given_version``: the apiVersion in which it was
    sent."""
    faults = [*_in_any_version(event, given_version)]
    return faults if given_version == "v1" else [*faults, *_in_new_version(event)]


def _in_any_version(event: Manifest, given_version: str) -> Iterator[Cause]:
    namespace = event["metadata"].get("namespace", "")
    about = (event.get("involvedObject") or {}).get("namespace", "")
    if namespace not in ((about,) if about else ("", "default")):
        yield invalid("involvedObject.namespace", about, _OTHER_NAMESPACE)
    if not event.get("eventTime"):
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
    if not event.get("eventTime"):
        yield required("eventTime")
    kind = event.get("type", "")
    if kind not in ("Normal", "Warning"):
        yield invalid("type", "", f"has invalid value: {kind}")
    for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
        if event.get(field):
            yield invalid(field, "", _UNSET)
