"""From what a request says to what is stored: the API server's decoding, strict about every field."""

from typing import Any

from simulator.api import Manifest
from simulator.apiserver.faults import faults
from simulator.apiserver.resources import Resource
from simulator.apiserver.schema import META, Schema, definitions, referenced, type_of
from simulator.apiserver.status import Cause
from simulator.objects import quantity


def decode(resource: Resource, manifest: Manifest) -> tuple[Manifest, list[Cause]]:
    """The manifest as the API server reads it, and the faults found.

    The result is a copy: nulls left out (they mean "not set"), quantities in their canonical text. An
    object of a kind without a schema has its ``metadata`` checked and is kept as it is otherwise.
    """
    return _decoded(type_of(resource), manifest)


def decode_as(type_name: str, value: Any) -> tuple[Any, list[Cause]]:
    """As :func:`decode`, for a type of meta/v1 that is no resource: ``DeleteOptions``."""
    return _decoded(META + type_name, value)


def _decoded(type_name: str, value: Any) -> tuple[Any, list[Cause]]:
    normal = _normal(definitions()[type_name], value)
    return normal, faults(type_name, normal)


def _normal(of: Schema, value: Any) -> Any:
    """A copy in the form that is stored; what does not fit its schema is left for :func:`faults`.

    Recursion is bounded by :data:`simulator.apiserver.bounds.MAX_DEPTH`."""
    of = referenced(of)
    match value:
        case dict():
            fields, others = of.get("properties", {}), of.get("additionalProperties")
            types = {key: fields.get(key, others) for key in value}
            # What has no type, as the content of a custom resource, is kept with its nulls.
            return {
                key: _normal(types[key], item) if types[key] else item
                for key, item in value.items()
                if item is not None or not types[key]
            }
        case list():
            return [_normal(of.get("items", {}), item) for item in value]
        case str() | int() | float() if of.get("format") == "quantity":
            return _canonical(value)
        case float() if value.is_integer() and "integer" in of.get("type", ()):
            return int(value)
    return value


def _canonical(value: Any) -> Any:
    try:
        return value if isinstance(value, bool) else quantity.canonical(value)
    except quantity.QuantityError:
        return value
