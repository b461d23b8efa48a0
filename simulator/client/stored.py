"""Checks that a stored object fits its kind, as client-go does when it decodes what a watch delivers.

The API server stores no other objects, but the store may contain some that came another way, on which a
component would fail again and again. The msgspec types are made from the schemas that admission uses
(:mod:`simulator.apiserver.schema`); to check a pod takes some 10 µs."""

import datetime
from functools import cache
from typing import Annotated, Any

import msgspec

from simulator.api import Manifest
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.schema import Schema, definitions, type_name_of
from simulator.objects import quantity

_RESOURCES = {resource.id: resource for resource in BUILT_IN if not resource.stored_as}
_INTEGERS: dict[str, Any] = {
    "int32": Annotated[int, msgspec.Meta(ge=-(1 << 31), le=(1 << 31) - 1)],
    "int64": Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)],
}
FOUND_BY = ("name", "status", "type")
"""The fields by which a status or a condition is found, and what it is found for."""
NULL_LISTS = ("drivers", "endpoints", "limits", "rules")
"""Required lists that the API server stores as null where they are empty: of CSINodes, EndpointSlices,
LimitRanges, roles, and the failure policies of Jobs."""
_TIME = Annotated[datetime.datetime, msgspec.Meta(tz=True)]


class _Quantity:
    """The type of a quantity, which is checked and not converted."""


_QUANTITY = _Quantity()


class Misfit(ValueError):
    """The object does not fit its kind; the text names the field."""


def checked(resource: str, key: str, manifest: Manifest) -> Manifest:
    """Return the object, with an empty ``spec`` if its kind has one and the object has none, as Go's types
    do. Raises Misfit.

    If its kind has no schema, only the metadata is checked."""
    known = _RESOURCES.get(resource)
    try:
        msgspec.convert(manifest, _type(type_name_of(known) if known else "unknown"), dec_hook=_decode)
    except msgspec.ValidationError as error:
        raise Misfit(str(error)) from None
    metadata = manifest.get("metadata") or {}
    namespace, _, name = key.rpartition("/")
    if (metadata.get("namespace", ""), metadata.get("name")) != (namespace, name):
        raise Misfit(f"its name and namespace are not those of its key, {key!r}")
    if known is None:
        return manifest
    if (manifest.get("apiVersion"), manifest.get("kind")) != (known.api_version, known.kind):
        raise Misfit(f"its apiVersion and kind are not {known.api_version} and {known.kind}")
    if manifest.get("spec") is None and "spec" in definitions()[type_name_of(known)].get("properties", {}):
        return {**manifest, "spec": {}}
    return manifest


def _decode(kind: type, value: object) -> object:
    """Decode a type that msgspec does not support: a quantity. Raises ValueError."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError("a quantity is expected")
    quantity.canonical(value)
    return _QUANTITY


@cache
def _type(name: str) -> Any:
    return _of({"$ref": name}, ())


_made: dict[str, Any] = {}


def _of(schema: Schema, within: tuple[str, ...]) -> Any:
    """Return the msgspec type of a schema. ``within`` are the types that contain it: a type that contains
    itself (JSONSchemaProps) is checked no further."""
    if "$ref" in schema:
        name = schema["$ref"]
        if name in within:
            return Any
        if name not in _made:
            _made[name] = _of({"title": name, **definitions()[name]}, (*within, name))
        return _made[name]
    kind, form = schema.get("type"), schema.get("format", "")
    if form == "quantity":
        return _Quantity
    if isinstance(kind, list):
        return _INTEGERS["int32"] | str
    match kind:
        case "object" if "properties" in schema:
            return _struct(schema, within)
        case "object":
            values = schema.get("additionalProperties")
            if not isinstance(values, dict):
                return dict[str, Any]
            return dict[str, _of(values, within)]  # type: ignore[misc]  # made at run time
        case "array":
            return list[_of(schema.get("items", {}), within)]  # type: ignore[misc]  # made at run time
        case "string":
            return _TIME if form == "date-time" else str
        case "integer":
            return _INTEGERS[form]
        case "number":
            return float
        case "boolean":
            return bool
    return Any


def _struct(schema: Schema, within: tuple[str, ...]) -> Any:
    """Return the type of an object with fields. Of the required fields of a status and its conditions, only
    FOUND_BY are required here: components write these objects, and Go reads 0 or "" for a missing field. A
    field that is not required may be null, which means "not set": real API servers answer ``lastProbeTime:
    null`` in the conditions of each pod. So may one of NULL_LISTS."""
    title: str = schema.get("title", "")
    required = schema.get("required", ())
    if title.endswith(("Status", "Condition")):
        required = [name for name in required if name in FOUND_BY]
    names = {f"field_{number}": name for number, name in enumerate(schema["properties"])}
    fields: list[Any] = [
        (field, _of(schema["properties"][name], within))
        if name in required and name not in NULL_LISTS
        else (field, _of(schema["properties"][name], within) | None, msgspec.UNSET)
        for field, name in names.items()
    ]
    return msgspec.defstruct("Object", fields, rename=names, kw_only=True, gc=False)
