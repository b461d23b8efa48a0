"""Conversion of objects between the version in which they are stored and another one in which they are
served."""

from simulator.api import Manifest
from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.resource import Resource


def stored_resource(served: Resource) -> Resource:
    """Return the resource in the version in which its objects are stored."""
    conversion = strategy_of(served).conversion
    return conversion.stored if conversion else served


def to_served(resource: Resource, stored: Manifest) -> Manifest:
    """Return a stored object in the version of the requested resource."""
    of_version = {**stored, "apiVersion": resource.api_version, "kind": resource.kind}
    conversion = strategy_of(resource).conversion
    return conversion.to_served(of_version) if conversion else of_version


def to_stored(resource: Resource, given: Manifest) -> tuple[Resource, Manifest]:
    """Return the resource under which an object is stored, and the object in its stored form."""
    conversion = strategy_of(resource).conversion
    if conversion is None:
        return resource, given
    stored = conversion.stored
    return stored, {**conversion.to_stored(given), "apiVersion": stored.api_version, "kind": stored.kind}
