"""Conversion of objects between the version in which they are stored and the other one in which they are
served: Events of events.k8s.io/v1."""

from simulator.api import Manifest
from simulator.apiserver.event_versions import stored_event_field, to_core_event, to_event_v1
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import EVENTS, EVENTS_V1, find_built_in


def stored_resource(served: Resource) -> Resource:
    """Return the resource in the version in which its objects are stored."""
    if not served.stored_as:
        return served
    plural, _, group = served.id.partition(".")
    found = find_built_in(group, plural)
    assert found is not None
    return found


def to_served(resource: Resource, stored: Manifest) -> Manifest:
    """Return a stored object in the version of the requested resource."""
    of_version = {**stored, "apiVersion": resource.api_version, "kind": resource.kind}
    return to_event_v1(of_version) if resource == EVENTS_V1 else of_version


def to_stored(resource: Resource, given: Manifest) -> tuple[Resource, Manifest]:
    """Return the resource under which an object is stored, and the object in its stored form."""
    if resource == EVENTS_V1:
        return EVENTS, {**to_core_event(given), "apiVersion": EVENTS.api_version}
    return resource, given


def stored_field(resource: Resource, field: str) -> str:
    """Return the stored name of a field in a field selector: ``involvedObject.name`` for
    ``regarding.name``; "" for one that only the other version has."""
    return stored_event_field(field) if resource == EVENTS_V1 else field
